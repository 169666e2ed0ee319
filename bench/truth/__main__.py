"""``python -m bench.truth``: count programs anew, or score what was counted and write docs/accuracy.md."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.truth.drive import NotRun, count
from bench.truth.page import page
from bench.truth.programs import PROGRAMS, Program
from bench.truth.score import Score, score
from bench.truth.store import Made, load, save
from elfscan.elf import ElfFile, map_file
from pmu.executions import read_executions
from sharing.model.errors import LinemateError

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "testdata" / "truth"
PAGE = ROOT / "docs" / "accuracy.md"


def main() -> int:
    """``count NAME…`` or ``score``."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.truth", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("action", choices=("count", "keep", "score"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(p.name for p in PROGRAMS)}")
    parser.add_argument("--in", dest="folder", type=Path, help="keep: the folder of a run that is already there")
    options = parser.parse_args()
    chosen = [p for p in PROGRAMS if not options.names or p.name in options.names]
    if options.action == "score":
        return _score()
    for program in chosen:
        try:
            if options.action == "keep":
                _keep(program, sorted((options.folder / program.name).glob("counts*-*")))
            else:
                with tempfile.TemporaryDirectory(prefix=f"truth-{program.name}-") as where:
                    _keep(program, count(program, Path(where)))
        except (NotRun, LinemateError) as error:
            print(f"{program.name}: {error}", file=sys.stderr)
            return 1
    return 0


def _keep(program: Program, files: list[Path]) -> None:
    executions = read_executions(files)
    KEPT.mkdir(parents=True, exist_ok=True)
    for name, binary in program.kept().items():
        path = os.path.realpath(binary)
        modules = [i for i, module in enumerate(executions.modules) if os.path.realpath(module) == path]
        if not modules:
            raise NotRun(f"nothing of {path} was executed")
        query = ["dpkg-query", "-W", "-f=${Version}", program.package]
        version = subprocess.run(query, capture_output=True, text=True, check=True).stdout
        build_id = ElfFile(path, map_file(path)).build_id or ""
        command = " ".join(program.command)
        into = KEPT / f"{name}.json.xz"
        made = Made(name, path, program.package, version, build_id, command, executions.recorder)
        save(into, made, executions, modules)
        print(f"{name}: {into.stat().st_size:,} bytes")


def _score() -> int:
    scores: list[tuple[Made, Score]] = []
    left_out: list[str] = []
    for path in sorted(KEPT.glob("*.json.xz")):
        made, executions = load(path)
        try:
            build_id = ElfFile(made.path, map_file(made.path)).build_id
        except LinemateError as error:
            left_out.append(f"{made.program}: {error}")
            continue
        if build_id != made.build_id:
            left_out.append(f"{made.program}: {made.path} is another build here")
            continue
        scores.append((made, score(made.path, executions)))
        print(f"{made.program}: scored", flush=True)
    PAGE.write_text(page(scores, left_out), encoding="utf-8")
    print(f"{PAGE}: {len(scores)} programs, {len(left_out)} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
