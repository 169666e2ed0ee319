"""Two saved reports against each other.  Owns which findings of the two are the same one, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest

from reports.fingerprint import PAIR, fingerprint
from sharing.model.finding import Finding, LineRef, Report
from sharing.model.reportdiff import DIFF_SCHEMA, Difference, FindingDifference, Judged, ReportDiff

_ORDER = {kind: number for number, kind in enumerate(Difference)}


def difference(old: Report, new: Report) -> ReportDiff:
    """What became of each finding.  Equal rule, names and files, which make the id, make it the same.

    Where several are equal in that (one pair on several lines), those on the same line are paired first, the others in
    the reports' order.
    """
    found: list[FindingDifference] = []
    same = 0
    befores, afters = _by_fingerprint(old), _by_fingerprint(new)
    for key in dict.fromkeys([*afters, *befores]):
        for before, after in _paired(befores.get(key, []), afters.get(key, [])):
            kind = _kind(before, after)
            if kind is None:
                same += 1
                continue
            either = after or before
            assert either is not None
            names = tuple(who.full_name for who in either.participants[:PAIR])
            found.append(FindingDifference(kind, either.rule, names, _judged(before), _judged(after)))
    found.sort(key=lambda row: (_ORDER[row.kind], -_severity(row), row.rule, row.names))
    return ReportDiff(
        schema=DIFF_SCHEMA,
        command="diff",
        old=old.targets,
        new=new.targets,
        differences=tuple(found),
        same=same,
        incomplete=old.incomplete or new.incomplete,
        notes=tuple(_notes(old, new)),
    )


def _by_fingerprint(report: Report) -> dict[str, list[Finding]]:
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        found[fingerprint(finding)].append(finding)
    return found


def _paired(befores: list[Finding], afters: list[Finding]) -> list[tuple[Finding | None, Finding | None]]:
    pairs: list[tuple[Finding | None, Finding | None]] = []
    on_line: defaultdict[LineRef, list[Finding]] = defaultdict(list)
    for before in reversed(befores):
        on_line[before.line].append(before)
    moved: list[Finding] = []
    for after in afters:
        if on_line[after.line]:
            pairs.append((on_line[after.line].pop(), after))
        else:
            moved.append(after)
    left = {id(before) for rest in on_line.values() for before in rest}
    return [*pairs, *zip_longest((before for before in befores if id(before) in left), moved)]


def _kind(before: Finding | None, after: Finding | None) -> Difference | None:
    if before is None:
        return Difference.NEW
    if after is None:
        return Difference.GONE
    if (before.severity, before.confidence, before.verdict) != (after.severity, after.confidence, after.verdict):
        return Difference.CHANGED
    return None if before.line == after.line else Difference.MOVED


def _judged(finding: Finding | None) -> Judged | None:
    if finding is None:
        return None
    line = finding.line
    return Judged(finding.id, finding.severity, finding.confidence, finding.verdict, line.address, line.place)


def _severity(row: FindingDifference) -> int:
    return max(side.severity.rank for side in (row.old, row.new) if side is not None)


def _notes(old: Report, new: Report) -> list[str]:
    notes = []
    for name, report in (("old", old), ("new", new)):
        if report.incomplete:
            notes.append(f"the {name} report is of an incomplete analysis: findings may be missing from it")
        if report.baseline:
            notes.append(f"the {name} report lists only what a baseline lacked ({report.baseline})")
    if old.command != new.command:
        notes.append(f"the old report is of {old.command}, the new one of {new.command}: they see different things")
    if old.hidden != new.hidden:
        notes.append(
            f"{old.hidden:,} findings were hidden in the old report and {new.hidden:,} in the new one: a finding that "
            "crossed --min-severity or --min-confidence is new or gone here"
        )
    return notes
