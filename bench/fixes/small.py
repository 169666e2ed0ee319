"""``python -m bench.fixes.small``: small programs in the style of real projects, before a repair and after it.

Each is one file with two switches: ``FIXED`` is the repair, ``EDIT`` an edit beside it that changes nothing of who uses
what.  Its first line says what it is, its second names the data.  They were written before linemate judged them: those
of each part were judged once as they are; what had been missed in one part mended the model for the next.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.fixes.outcome import Side, side_of
from bench.places import REPOSITORY
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.finding import Report, Severity

PROGRAMS = Path(__file__).with_name("programs")
PAGE = REPOSITORY / "docs" / "accuracy-small.md"
FIXED, EDIT = "-DFIXED", "-DEDIT"
HEAD = """# Small programs before and after a repair

Programs of one file, written in the style of servers, drivers, allocators and data bases, each with false sharing, its
repair, and an edit beside it that changes nothing of who uses what. *Before* and *after* as in
[accuracy-fixes.md](accuracy-fixes.md); *new* are findings, from low on, that the edit brings. What is right was written
down before linemate judged them. What a part missed mended the model for the next one, so that only the first judgement
of each says how it does on programs that it was not mended by: 4 of 10 of the first part were flagged and clean after
(a fifth had been written wrongly: its two counters were in different sections), 4 of 10 of the second (and one flagged
both times), 6 of 10 of the third, 5 of 10 of the fourth, 8 of 10 of the fifth. With
glibc the objects of `worker_contexts.c` and `worker_objects.cc` share no line, which was found out later: what a
thread's start allocates lies between them. The tables below are of today. By `python -m bench.fixes.small --page`, of
`bench/fixes/programs`.
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, judged before and after its repair, and how many findings an edit beside either brings."""

    path: Path
    what: str
    before: Side
    after: Side
    new: int

    @property
    def flagged(self) -> bool:
        worst = self.before.worst
        return worst is not None and worst.rank >= Severity.MEDIUM.rank


def judge(path: Path) -> Program:
    """Check the four states of a program."""
    what, about = path.read_text(encoding="utf-8").splitlines()[:2]
    names = set(about.removeprefix("// about:").split())
    started = time.monotonic()
    before, after, edited, both = (_check(path, *flags) for flags in ((), (FIXED,), (EDIT,), (FIXED, EDIT)))
    wall_s = round(time.monotonic() - started, 1)
    sides = side_of(before, names, wall_s), side_of(after, names, wall_s)
    return Program(path, what.removeprefix("// "), *sides, new=_new(before, edited) + _new(after, both))


def _check(path: Path, *flags: str) -> Report:
    request = FactsRequest(sources=(str(path),), flags=("-O2", "-fopenmp", *flags))
    options = CheckOptions(facts=request, min_severity=Severity.LOW, edits=False)
    return check_program(read_program(options), options)


def _new(old: Report, now: Report) -> int:
    known = {finding.id: finding.severity.rank for finding in old.findings}
    return sum(finding.severity.rank > known.get(finding.id, -1) for finding in now.findings)


def page(parts: dict[str, list[Program]]) -> str:
    """The page of the documentation."""
    lines = [HEAD]
    for part, programs in parts.items():
        flagged = [one for one in programs if one.flagged]
        clean = sum(not one.after.shares for one in flagged)
        lines += [
            f"## {part.capitalize()} part",
            "",
            f"Of {len(programs)} programs {len(flagged)} are flagged before, {clean} of those clean after; "
            f"{sum(one.new for one in programs)} new by edits.",
            "",
            "| program | what it is | before | after | new |",
            "|---|---|---|---|---|",
            *(f"| {p.path.name} | {p.what} | {_cell(p.before)} | {_cell(p.after)} | {p.new} |" for p in programs),
            "",
        ]
    return "\n".join(lines)


def _cell(side: Side) -> str:
    return f"{side.worst} `{side.about[0][1]}`" if side.about else "nothing"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fixes.small", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(REPOSITORY)}")
    options = parser.parse_args()
    parts: dict[str, list[Program]] = {}
    for folder in sorted(one for one in PROGRAMS.iterdir() if one.is_dir()):
        parts[folder.name] = [judge(path) for path in sorted(folder.iterdir())]
    text = page(parts)
    print(text)
    if options.page:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
