"""What ``check`` says of a repair: its findings before and after, and which are about what was repaired."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.clones import clone_of
from bench.fixes.fixes import Fix, Recipe
from bench.fixes.trees import extract, flags, units_of
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Report, Severity, Verdict

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Side:
    """One revision: do all units parse, and the findings about what was repaired, worst first."""

    parses: bool
    about: tuple[tuple[Severity, str, str], ...]  # severity, rule, verdict
    others: int  # findings at low or above about something else
    wall_s: float
    why: str = ""  # the first unit that does not parse whole
    why_not: str = ""  # why nothing was judged

    @property
    def worst(self) -> Severity | None:
        return self.about[0][0] if self.about else None

    @property
    def shares(self) -> bool:
        """Is anything said to share a line, from low on?  What is only fragile shares none today."""
        return any(severity.rank >= Severity.LOW.rank and verdict != "fragile" for severity, _, verdict in self.about)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A repair, judged before and after."""

    fix: Fix
    before: Side
    after: Side

    @property
    def flagged(self) -> bool:
        """Said to be worth a repair before it."""
        worst = self.before.worst
        return worst is not None and worst.rank >= Severity.MEDIUM.rank

    @property
    def told(self) -> bool:
        """Of true sharing: is it said before, and of none of the repaired data after?"""
        before, after = ({v for *_, v in side.about} for side in (self.before, self.after))
        return self.fix.true_sharing and str(Verdict.TRUE_SHARING) in before and str(Verdict.TRUE_SHARING) not in after

    @property
    def clean(self) -> bool:
        """Nothing of it is said to share a line after the repair."""
        return not self.after.why_not and not self.after.shares


def judge(fix: Fix, recipes: Mapping[str, Recipe], clones: Path, work: Path) -> Outcome:
    """Take both revisions out of the clone and check their units."""
    sides = [
        _side(
            fix, f"{fix.commit}{at}", fix.units_before if at and fix.units_before else fix.units, recipes, clones, work
        )
        for at in ("^", "")
    ]
    return Outcome(fix, *sides)


def _side(
    fix: Fix, revision: str, units: tuple[str, ...], recipes: Mapping[str, Recipe], clones: Path, work: Path
) -> Side:
    tree = work / fix.name
    shutil.rmtree(tree, ignore_errors=True)
    recipe = recipes[fix.recipe]
    named = (str(Path(unit).parent) for unit in units if not unit.startswith("!"))
    folders = dict.fromkeys((*recipe.paths, *named))
    extract(clone_of(clones, fix.project), revision, tuple(folders), tree)
    words = [*(word.replace("@", str(tree)) for word in fix.flags), *flags(recipe, tree)]
    for other, at in recipe.needs.items():
        project, _, commit = at.partition("@")
        beside = work / f"{other}-{commit[:10]}"
        if not beside.exists():
            extract(clone_of(clones, project), commit, recipes[other].paths, beside)
        words += flags(recipes[other], beside)
    started = time.monotonic()
    request = FactsRequest(sources=tuple(str(tree / unit) for unit in units_of(tree, units)), flags=tuple(words))
    least = Severity.NOTE if fix.true_sharing else Severity.LOW
    options = CheckOptions(facts=request, line_size=fix.line_size or None, min_severity=least, edits=False)
    try:
        report = check_program(read_program(options), options)
    except LinemateError as error:
        return Side(False, (), 0, time.monotonic() - started, why_not=str(error))
    failed = [note.replace(f"{tree}/", "") for note in report.coverage.notes if "analysed" in note]
    wall_s = round(time.monotonic() - started, 1)
    return side_of(report, set(fix.names), wall_s, " ".join(failed), fix.together, fix.rules, frozenset(fix.others))


def side_of(
    report: Report,
    names: set[str],
    wall_s: float,
    failed: str = "",
    together: bool = False,
    rules: tuple[str, ...] = (),
    without: frozenset[str] = frozenset(),
) -> Side:
    """What a report says about the data of these names, about one of them or (``together``) about all.

    ``rules``: only what these say, where any are named; ``without``: not of findings that name one of these.
    """
    about, others = [], 0
    for finding in report.findings:
        words = _named(finding)
        named = names & words
        spoken = not words & without and (not rules or finding.rule in rules)
        if spoken and (named == names if together else named):
            about.append((finding.severity, finding.rule, str(finding.verdict)))
        else:
            others += 1
    about.sort(key=lambda one: -one[0].rank)
    counts = report.coverage.counts
    parses = not counts.get("units_failed") and not counts.get("units_in_part")
    return Side(parses, tuple(about), others, wall_s, "" if parses else failed[:200])


def _named(finding: Finding) -> set[str]:
    """All words of the names, types and members of a finding; a pointer to a type is nothing of that type."""
    words: set[str] = set()
    for one in finding.participants:
        own_type = "" if "*" in (one.type or "") else one.type
        for text in (one.name, own_type, one.member, one.identity.partition("@")[0]):  # without the file
            words.update(_WORD.findall(text or ""))
    return words
