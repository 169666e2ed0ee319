"""What joined a line that was reported before.

Owns when a new finding is about a newcomer on such a line, and the words for it: whoever reviews a change has to see
that the line is known and what of it is not.  And which of a new pair the change brought, so that it is what moves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from linemate.checking.metbefore import ON_LINE_RULES, thing
from reports.fingerprint import PAIR
from sharing.model.finding import OF_MEETING, Finding, Participant, Report, Severity
from sharing.model.types import RECORD_KINDS, TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Program


def newcomers(findings: Sequence[Finding], before: Report, old: Program) -> frozenset[tuple[str, str]]:
    """Of new findings on lines what the older program did not declare, or what came to a line that was reported."""
    known = _of_lines(before)
    found: set[tuple[str, str]] = set()
    for finding in findings:
        added = [who for who in finding.participants if not declares(old, who)] if is_of_line(finding) else []
        joined = _joining(finding, known, Severity.NOTE)
        found.update(thing(who) for who in added or ([joined[0]] if joined is not None else []))
    return frozenset(found)


def declares(program: Program, who: Participant) -> bool:
    """Whether the program has the variable or record, and its member by that name."""
    variable, record = program.variables.get(who.identity), program.records.get(who.identity)
    if not who.identity:
        return True  # nothing is known of it
    if variable is not None:
        tree = stripped(variable.facts.type)
        while tree.kind == TypeKind.ARRAY and tree.inner is not None:
            tree = stripped(tree.inner)
        record = program.record(variable.unit, tree.count) if tree.kind in RECORD_KINDS else None
        owner = variable.facts.name
    elif record is None:
        return False
    else:
        owner = record.facts.name
    inner = re.match(rf"(?:(?:struct|union|class) )?{re.escape(owner)}(?:\[\d*\])?\.(\w+)", who.full_name)
    names = {member.name for member in record.facts.members} if record is not None else set()
    return inner is None or inner[1] in names or "" in names


def with_newcomers(findings: Sequence[Finding], before: Report, least: Severity) -> tuple[Finding, ...]:
    """The findings, the message of those with a newcomer beginning with it; ``least`` is what was reported at all."""
    old = _of_lines(before)
    return tuple(_told(finding, old, least) for finding in findings)


def _of_lines(report: Report) -> list[Finding]:
    return sorted((one for one in report.findings if is_of_line(one)), key=lambda one: -one.severity.rank)


def is_of_line(finding: Finding) -> bool:
    """Whether it says that a pair meets on a line."""
    return finding.rule in ON_LINE_RULES and finding.verdict in OF_MEETING


def _told(finding: Finding, old: Sequence[Finding], least: Severity) -> Finding:
    joining = _joining(finding, old, least)
    if joining is None:
        return finding
    newcomer, one = joining
    there = [who.full_name for who in one.participants[:PAIR] if _names(finding, who) or holds(finding, who)]
    line = " and ".join(there)  # what was beside it in the older layout may be elsewhere now
    text = f"{newcomer.full_name} joins the line of {line}, which was reported before: {finding.message}"
    return msgspec.structs.replace(finding, message=text)


def _joining(finding: Finding, old: Sequence[Finding], least: Severity) -> tuple[Participant, Finding] | None:
    """Which of the pair came to a line of which the other was reported, and that finding."""
    pair = finding.participants[:PAIR]
    if not is_of_line(finding) or len(pair) < PAIR:
        return None
    first, second = pair
    around = [one for one in old if _names(one, first) or _names(one, second)]
    if any(holds(one, first) and holds(one, second) for one in around):
        return None  # what they do there changed, not that they are
    one = next((one for one in around if one.severity.rank >= least.rank), None)
    return None if one is None else (second if _names(one, first) else first, one)


def _names(finding: Finding, who: Participant) -> bool:
    return thing(who) in {thing(one) for one in finding.participants[:PAIR]}


def holds(finding: Finding, who: Participant) -> bool:
    """Whether it is on the line, named or not."""
    if thing(who) in {thing(one) for one in finding.participants}:
        return True
    return any(part.owner == who.full_name for picture in finding.picture for part in picture.slices)
