"""``python -m bench.samples [SOURCE…]``: build, record and judge the small programs of ``testdata/samples``.

With ``--gain``, what is predicted for those that have a mended twin against what that gains.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import gain, gaintable
from bench.measure import Unavailable, raise_priority
from bench.samples.programs import Program, build, programs
from bench.samples.score import Scored, judge, profile_of, record


def main() -> int:
    """A row for each build, and the sums."""
    parser = argparse.ArgumentParser(prog="python -m bench.samples", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="files of testdata/samples; all without one")
    parser.add_argument("--gain", action="store_true", help="measure what mended twins gain, and what is predicted")
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="of --gain: both builds in turns (default: 5); 0: the table of those that are kept",
    )
    parser.add_argument(
        "--keep", metavar="DIR", help="builds and recordings stay there; one that is there is judged anew, not recorded"
    )
    options = parser.parse_args()
    table = programs()
    if unknown := sorted(set(options.sources) - {one.source for one in table}):
        parser.error(f"{', '.join(unknown)}: not in the table")
    chosen = [one for one in table if not options.sources or one.source in options.sources]
    raise_priority()
    load, day = os.getloadavg()[0], datetime.datetime.now(tz=datetime.UTC).date()
    with tempfile.TemporaryDirectory(prefix="samples-") as name:
        folder = Path(options.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lines = _gains(chosen, folder, options.rounds) if options.gain else [_scores(chosen, folder)]
        except Unavailable as error:
            parser.exit(1, f"{error}\n")
    print(f"{day}, load {load:.1f}:", *lines, sep=" " if len(lines) == 1 else "\n")
    return 0


def _scores(chosen: Sequence[Program], folder: Path) -> str:
    """Prints a row for each build; the sums."""
    scored: list[Scored] = []
    for program in chosen:
        for options in program.builds:
            binary = folder / re.sub(r"[^\w.]+", "-", f"{Path(program.source).stem} {options}")
            try:
                if not profile_of(binary).exists():
                    build(program, options, binary)
                    record(binary)
                scored.append(judge(program, binary))
            except Unavailable as error:
                print(f"{program.source}, {options}: {error}", file=sys.stderr)
                continue
            print(f"{program.source:12} {options:28} {scored[-1].words}", flush=True)
    shared = [one for one in scored if one.found is not None]
    found = [one for one in shared if one.found]
    made = [one for one in found if one.allocation is not None]
    return (
        f"{len(found)} of {len(shared)} found, {sum(one.named for one in found)} named, "
        f"{sum(bool(one.allocation) for one in made)} of {len(made)} with their allocation; "
        f"{sum(bool(one.others) for one in scored)} of {len(scored)} with something accused that is innocent"
    )


def _gains(chosen: Sequence[Program], folder: Path, rounds: int) -> list[str]:
    """The table of bench.gain, of the first build of each program that has a twin."""
    folder = gain.kept_folder(folder)
    if not rounds:
        return gaintable.table(gaintable.rows_of(gain.kept(folder, [Path(one.source).stem for one in chosen])))
    names = []
    for program in chosen:
        if not program.mended:
            continue
        first, name = program.builds[0], Path(program.source).stem
        try:
            build(program, first, folder / name)
            build(program, f"{first} {program.mended}", folder / f"{name}.padded")
        except Unavailable as error:
            print(f"{program.source}: {error}", file=sys.stderr)
            continue
        names.append(name)
    return gaintable.table(gaintable.rows_of(gain.rounds_of(names, rounds, folder)))


if __name__ == "__main__":
    sys.exit(main())
