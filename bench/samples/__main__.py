"""``python -m bench.samples [SOURCE…]``: build, record and judge the small programs of ``testdata/samples``."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path

from bench.measure import Unavailable
from bench.samples.programs import build, programs
from bench.samples.score import Scored, record_and_score


def main() -> int:
    """A row for each build, and the sums."""
    parser = argparse.ArgumentParser(prog="python -m bench.samples", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="files of testdata/samples; all without one")
    chosen = parser.parse_args().sources
    table = programs()
    if unknown := sorted(set(chosen) - {one.source for one in table}):
        parser.error(f"{', '.join(unknown)}: not in the table")
    load, day = os.getloadavg()[0], datetime.datetime.now(tz=datetime.UTC).date()
    scored: list[Scored] = []
    with tempfile.TemporaryDirectory(prefix="samples-") as folder:
        for program in table:
            for options in program.builds if not chosen or program.source in chosen else ():
                try:
                    scored.append(record_and_score(program, build(program, options, Path(folder))))
                except Unavailable as error:
                    print(f"{program.source}, {options}: {error}", file=sys.stderr)
                    continue
                print(f"{program.source:12} {options:28} {scored[-1].words}", flush=True)
    shared = [one for one in scored if one.found is not None]
    found = [one for one in shared if one.found]
    made = [one for one in found if one.allocation is not None]
    print(
        f"{day}, load {load:.1f}: {len(found)} of {len(shared)} found, {sum(one.named for one in found)} named, "
        f"{sum(bool(one.allocation) for one in made)} of {len(made)} with their allocation; "
        f"{sum(bool(one.others) for one in scored)} of {len(scored)} with something accused that is innocent"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
