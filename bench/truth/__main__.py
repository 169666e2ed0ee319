"""``python -m bench.truth``: count programs anew, score what was counted, list what is wrong."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.truth.corpus import KEPT, compared, held_against, kept, name_of
from bench.truth.drive import NotRun, count
from bench.truth.misses import misses
from bench.truth.page import page
from bench.truth.programs import PROGRAMS
from bench.truth.programs.program import Program
from bench.truth.score import score
from bench.truth.store import Made, save
from bench.truth.subject import ROOT
from elfscan.elf import ElfFile, map_file
from pmu.executions import read_executions
from sharing.model.errors import LinemateError

PAGE = ROOT / "docs" / "accuracy.md"


def main() -> int:
    """``count NAME…``, ``score [NAME…]``, ``misses NAME…`` or ``packages``."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.truth", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    parser.add_argument("action", choices=("count", "keep", "score", "misses", "packages"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(p.name for p in PROGRAMS)}")
    parser.add_argument("--in", dest="folder", type=Path, help="keep: the folder of a run that is already there")
    options = parser.parse_args()
    if options.action == "score":
        return _score(options.names)
    if options.action == "misses":
        return _misses(options.names)
    chosen = [p for p in PROGRAMS if not options.names or p.name in options.names]
    if options.action == "packages":
        print(*sorted({"valgrind"}.union(*({p.package, *p.needs} for p in chosen))))
        return 0
    failed = 0
    for program in chosen:
        try:
            if options.action == "keep":
                _keep(program, sorted((options.folder / program.name).glob("counts*-*")))
            else:
                with tempfile.TemporaryDirectory(prefix=f"truth-{program.name}-") as where:
                    _keep(program, count(program, Path(where)))
        except (NotRun, LinemateError) as error:
            print(f"{program.name}: {error}", file=sys.stderr)
            failed = 1
    return failed


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


def _score(names: list[str]) -> int:
    """All programs as the page, or some of them as the same tables here."""
    since = time.monotonic()
    found = []
    for one in compared(kept(names)):
        found.append(one)
        print(f"{one.why_not or one.made.program}", file=sys.stderr, flush=True)
    text = page(found)
    if names:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    left_out = sum(not one.scores for one in found)
    print(f"{len(found) - left_out} scored, {left_out} left out, in {time.monotonic() - since:.0f} s", file=sys.stderr)
    return 0


def _misses(names: list[str]) -> int:
    for path in kept(names):
        try:
            for one, truth in held_against(path):
                print(f"\n{name_of(path)}", *misses(one, truth, score(one, truth)), sep="\n")
        except LinemateError as error:
            print(f"{name_of(path)}: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
