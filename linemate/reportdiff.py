"""Two saved reports against each other.  Owns which findings of the two are the same one, and what became of it."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import zip_longest

from linemate.byname import is_by_address
from reports.fingerprint import PAIR, fingerprint
from sharing.model.finding import Finding, LineRef, Report
from sharing.model.plural import count
from sharing.model.reportdiff import DIFF_SCHEMA, Difference, FindingDifference, Judged, ReportDiff

_BY_PLACE = re.compile(r"fn_[0-9a-f]+")  # a function without a name

_ORDER = {kind: number for number, kind in enumerate(Difference)}


def difference(old: Report, new: Report) -> ReportDiff:
    """What became of each finding.  Equal rule, names and files, which make the id, make it the same.

    Where several are equal in that (one pair on several lines), those on the same line are paired first, the others in
    the reports' order.
    """
    found: list[FindingDifference] = []
    same = 0
    befores, afters = _by_fingerprint(old), _by_fingerprint(new)
    paired = [
        pair
        for key in dict.fromkeys([*afters, *befores])
        for pair in _paired(befores.get(key, []), afters.get(key, []))
    ]
    paired, recognised, unknown = _without_names(paired)
    for before, after in paired:
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
        notes=(*_notes(old, new), *_about_names(recognised, unknown)),
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


Paired = tuple[Finding | None, Finding | None]


def _without_names(paired: list[Paired]) -> tuple[list[Paired], int, int]:
    """The pairs with those joined that are about variables without a name; how many were, and how many are left.

    Only where one finding of either report looks so: of several nobody knows which is which.
    """
    alone: tuple[defaultdict[object, list[Finding]], ...] = (defaultdict(list), defaultdict(list))
    kept: list[Paired] = []
    for before, after in paired:
        one = before if after is None else after if before is None else None
        if one is not None and any(is_by_address(who.name) for who in one.participants[:PAIR]):
            alone[0 if after is None else 1][_looks(one)].append(one)
        else:
            kept.append((before, after))
    recognised = unknown = 0
    for looks in dict.fromkeys([*alone[1], *alone[0]]):
        before_side, after_side = alone[0].get(looks, []), alone[1].get(looks, [])
        if len(before_side) == len(after_side) == 1:
            kept.append((before_side[0], after_side[0]))
            recognised += 1
        else:
            kept += [(one, None) for one in before_side] + [(None, one) for one in after_side]
            unknown += len(before_side) + len(after_side)
    return kept, recognised, unknown


def _looks(finding: Finding) -> object:
    """What an edit elsewhere leaves of a finding: roles, sizes, bytes to each other, and who accesses them by name."""
    first = min(start for who in finding.participants[:PAIR] for start, _ in who.bytes or ((0, 0),))
    return finding.rule, tuple(
        (
            "" if is_by_address(who.name) else who.full_name,
            who.role,
            who.size,
            who.type,
            tuple((start - first, end - first) for start, end in who.bytes),
            tuple((len(users), _named(users)) for users in (who.readers, who.writers, who.lockers)),
        )
        for who in finding.participants[:PAIR]
    )


def _named(functions: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for name in functions if not _BY_PLACE.fullmatch(name))


def _about_names(recognised: int, unknown: int) -> list[str]:
    notes = []
    if recognised:
        notes.append(f"{_without_name(recognised)}: paired by size, bytes and who accesses them")
    if unknown:
        notes.append(
            f"{_without_name(unknown)}, called by their address, which another build moves: new and gone may be one; "
            "linemate explain OLD NEW of the two files recognises them by code"
        )
    return notes


def _without_name(number: int) -> str:
    return f"{count(number, 'finding is', 'findings are')} about variables without a name"


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
            f"hidden were {count(old.hidden, 'finding')} of the old report and {new.hidden:,} of the new one: one that "
            "crossed --min-severity or --min-confidence is new or gone here"
        )
    return notes
