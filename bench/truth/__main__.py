"""``python -m bench.truth``: count programs anew, score what was counted, list what is wrong."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.truth import accessfile, decay, fit, tried
from bench.truth.build import BUILDS, SUFFIX, build, built_programs, program_of
from bench.truth.corpus import KEPT, compared, held_against, kept, name_of
from bench.truth.costs import costs
from bench.truth.drive import NotRun, count
from bench.truth.instrument import RECORDER, build_counted, count_accesses, counting
from bench.truth.misses import misses
from bench.truth.page import page
from bench.truth.programs import PROGRAMS
from bench.truth.programs.program import BUILT, Program
from bench.truth.score import score
from bench.truth.store import Made, load, save
from bench.truth.subject import ROOT
from bench.truth.ways import ways_score
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_images
from pmu.counts import read_executions
from sharing.model.errors import LinemateError

PAGE = ROOT / "docs" / "accuracy.md"
LEAST_MOVED = 4  # times that a line moved because of two places, for which these are kept


def main() -> int:
    """``count NAME…``, ``score [NAME…]``, ``misses NAME…``, ``ways``, ``decay``, ``tried``, ``fit`` or ``packages``."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.truth", description=__doc__.split("\n")[0] if __doc__ else ""
    )
    actions = ("accesses", "build", "costs", "count", "keep", "score", "misses", "ways", "decay", "fit", "tried")
    parser.add_argument("action", choices=(*actions, "packages"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="a program; all without one")
    parser.add_argument("--in", dest="folder", type=Path, help="keep: the folder of a run that is already there")
    options = parser.parse_args()
    if options.action == "score":
        return _score(options.names)
    if options.action == "misses":
        return _misses(options.names)
    if options.action == "ways":
        return _ways(options.names)
    if options.action == "decay":
        return _decay(options.names)
    if options.action == "fit":
        (ROOT / "docs" / "estimate.md").write_text(fit.page(list(fit.cases())), encoding="utf-8")
        return 0
    if options.action == "tried":
        return _tried(options.names)
    known = {p.name: p for p in (*PROGRAMS, *built_programs())}
    unknown = sorted(set(options.names) - known.keys())
    if unknown:
        parser.error(f"{', '.join(unknown)}: not of the corpus, which has {', '.join(known)}")
    chosen = [known[name] for name in options.names or [p.name for p in PROGRAMS]]
    if options.action == "packages":
        built = [one for one in BUILDS if not options.names or f"{one.name}{SUFFIX}" in options.names]
        needed = [{p.package, *p.needs} for p in chosen] + [{"dpkg-dev", *one.needs} for one in built]
        print(*sorted({"valgrind"}.union(*needed)))
        return 0
    if options.action == "costs":
        for line in costs():
            print(line, flush=True)
        return 0
    if options.action == "build":
        return _build(options.names)
    if options.action == "accesses":
        return _accesses(options.names)
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
        path = os.path.realpath(binary.format(built=BUILT))
        modules = [i for i, module in enumerate(executions.modules) if os.path.realpath(module) == path]
        if not modules:
            raise NotRun(f"nothing of {path} was executed")
        build_id = ElfFile(path, map_file(path)).build_id or ""
        command = " ".join(program.command)
        into = KEPT / f"{name}.json.xz"
        kept_path = path.removeprefix(f"{ROOT}/")
        made = Made(name, kept_path, program.package, _version(program), build_id, command, executions.recorder)
        save(into, made, executions, modules)
        print(f"{name}: {into.stat().st_size:,} bytes")


def _version(program: Program) -> str:
    """Of the Debian package, of PyPI's, or of the source that was built."""
    if program.version:
        return program.version
    for one in BUILDS:
        if f"{one.name}{SUFFIX}" == program.name:
            return next(p.stem.rpartition("_")[2] for p in program_of(one).parent.glob("*.dsc"))
    query = ["dpkg-query", "-W", "-f=${Version}", program.package]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout


def _build(names: list[str]) -> int:
    failed = 0
    for one in BUILDS:
        if names and one.name not in names:
            continue
        try:
            build(one)
            print(program_of(one))
        except LinemateError as error:
            print(f"{one.name}: {error}", file=sys.stderr)
            failed = 1
    return failed


def _accesses(names: list[str]) -> int:
    """Of the programs that are built here: build each once more, run it, keep what was seen."""
    failed = 0
    rows = {program.name: program for program in built_programs()}
    for one in BUILDS:
        program = rows[f"{one.name}{SUFFIX}"]
        if names and one.name not in names and program.name not in names:
            continue
        try:
            built = build_counted(one)
            with tempfile.TemporaryDirectory(prefix=f"truth-{one.name}-") as where:
                _keep_accesses(program, counting(program, one), built, Path(where))
        except (NotRun, LinemateError) as error:
            print(f"{program.name}: {error}", file=sys.stderr)
            failed = 1
    return failed


def _keep_accesses(row: Program, program: Program, built: Path, where: Path) -> None:
    out = count_accesses(program, where)
    (image,) = read_images(str(built))
    path, command = str(built).removeprefix(f"{ROOT}/"), " ".join(program.command)
    made = Made(row.name, path, row.package, _version(row), "", command, RECORDER)
    accesses = accessfile.read(out, image, made)
    into = KEPT / f"{row.name}{accessfile.SUFFIX}"
    accessfile.save(into, accesses, LEAST_MOVED)
    print(f"{row.name}: {into.stat().st_size:,} bytes, {accesses.transfers:,} transfers")


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


def _ways(names: list[str]) -> int:
    """A line a program; its source has other addresses."""
    for path in kept(names):
        try:
            one, _ = next(iter(held_against(path)))
        except LinemateError as error:
            print(f"{name_of(path)}: {error}", file=sys.stderr)
            continue
        print(f"{name_of(path)}: {ways_score(one.passes.image, load(path)[1]) or 'too few functions ran'}", flush=True)
    return 0


def _decay(names: list[str]) -> int:
    """All programs as the page, or some of them as the same tables here."""
    found = []
    for name, one in decay.decays(kept(names)):
        if one is None:
            print(f"{name}: not the file that was counted, or not here", file=sys.stderr)
        else:
            found.append(one)
    if names:
        print(*decay.tables(found), sep="\n")
    else:
        (ROOT / "docs" / "decay.md").write_text(decay.page(found), encoding="utf-8")
    return 0


def _tried(names: list[str]) -> int:
    """All programs as the page, or some of them as the same table here."""
    text = tried.page(combinations := tried.combinations(), tried.outcomes(combinations, names))
    if names:
        print(text)
    else:
        (ROOT / "docs" / "numbers.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
