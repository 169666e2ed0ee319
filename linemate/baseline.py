"""Findings that were there before: recognising one, and the file that keeps them between runs.

Owns the baseline file (schema ``linemate-baseline-2``) and what counts as new.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from linemate.alongside import telling
from linemate.output import write_text
from reports.fingerprint import PAIR, fingerprint
from sharing.model.errors import Malformed
from sharing.model.finding import OF_MEETING, Finding, LineRef, Report, Severity, Verdict
from sharing.model.inputs import read_input
from sharing.rules import LINE_RULES

SCHEMA = "linemate-baseline-2"
MAX_BYTES = 64 << 20


class KnownFinding(msgspec.Struct, frozen=True):
    """One accepted finding.  ``id`` is that of every report; ``names`` are for people."""

    id: str
    rule: str
    severity: Severity
    names: tuple[str, ...]


class Baseline(msgspec.Struct, frozen=True):
    """The file: findings sorted by rule, names and id."""

    schema: str
    findings: tuple[KnownFinding, ...]


def known_findings(report: Report) -> dict[str, Severity]:
    """Fingerprints of a report's findings, each with its worst severity."""
    known: dict[str, Severity] = {}
    for finding in report.findings:
        key = fingerprint(finding)
        known[key] = max(known.get(key, finding.severity), finding.severity, key=lambda severity: severity.rank)
    return known


def only_new(
    report: Report, known: Mapping[str, Severity], what: str, least: Severity, *, every_pair: bool = False
) -> Report:
    """The findings that ``known`` lacks or has at a lower severity; the others are counted.

    ``what`` says in words what the report was compared with.  What is milder than ``least`` was not asked for: new
    ones count as hidden, known ones not at all.  ``every_pair``: the report has also pairs that the edit of a worse one
    would part; compared they are, and shown of those that are new the worst.
    """
    fresh = [finding for finding in report.findings if _is_new(finding, known)]
    before = [finding for finding in report.findings if not _is_new(finding, known)]
    if every_pair:
        fresh, before = _one_per_object(fresh, least), _one_per_object(before, least)
    shown = [finding for finding in fresh if finding.severity.rank >= least.rank]
    return msgspec.structs.replace(
        report,
        findings=tuple(shown),
        hidden=report.hidden + len(fresh) - len(shown),
        known=sum(finding.severity.rank >= least.rank for finding in before),
        baseline=what,
    )


def _one_per_object(findings: list[Finding], least: Severity) -> list[Finding]:
    """Of pairs that one edit parts, and of those of one line, the worst, of equally bad ones who names most of it.

    It tells of the others of its line.
    """
    rules = {rule.id for rule in LINE_RULES}
    one_a_line = {rule.id for rule in LINE_RULES if rule.exclusive}
    taken: set[tuple[str, str]] = set()
    on_line: dict[tuple[str, LineRef], set[tuple[str, str]]] = {}
    worst: dict[tuple[str, LineRef], int] = {}
    beside: dict[int, list[Finding]] = {}  # by the place of a finding that is kept
    for at in sorted(range(len(findings)), key=lambda at: _precedence(findings[at])):
        finding = findings[at]
        first = finding.participants[0]
        moved = (first.identity or first.name, first.member)
        here: set[tuple[str, str]] = set()
        line = (finding.target, finding.line)
        if finding.rule in one_a_line and finding.verdict in OF_MEETING:
            # Lines of two programs may have one address: pairs of one line have one of it in common.
            here = on_line.setdefault(line, set())
        same_line = not here.isdisjoint(_pair(finding))
        here.update(_pair(finding))
        if finding.rule not in rules or not (same_line or moved in taken):
            beside[at] = []
            worst.setdefault(line, at)
        elif same_line and line in worst:
            beside[worst[line]].append(finding)
        if finding.rule in rules:
            taken.add(moved)
    return [telling(finding, beside[at], least) for at, finding in enumerate(findings) if at in beside]


def _precedence(finding: Finding) -> tuple[int, int]:
    return -finding.severity.rank, -len(finding.participants)


def without_new(report: Report, known: Mapping[str, Severity], least: Severity) -> Report:
    """The report without what ``only_new`` shows of it, or what goes with that."""
    kept = (f for f in report.findings if f.severity.rank < least.rank or not _is_new(f, known))
    return msgspec.structs.replace(report, findings=tuple(kept))


def without_improved(report: Report, before: Report) -> Report:
    """The report without findings about a pair of which a worse one was said before: it got better.

    What may come to share a line is better than what does, never worse.
    """
    worst: dict[frozenset[tuple[str, str]], Severity] = {}
    for finding in before.findings:
        if finding.verdict is not Verdict.FRAGILE:
            pair = _pair(finding)
            worst[pair] = max(worst.get(pair, finding.severity), finding.severity, key=lambda severity: severity.rank)
    same = {fingerprint(finding) for finding in before.findings}

    def improved(finding: Finding) -> bool:
        was = worst.get(_pair(finding))
        return was is not None and finding.severity.rank < was.rank and fingerprint(finding) not in same

    return msgspec.structs.replace(report, findings=tuple(f for f in report.findings if not improved(f)))


def renamed_findings(report: Report, before: Report) -> dict[str, Severity]:
    """Fingerprints of what was said before of the same bytes under another name, each with the severity that it had.

    The name may have been a member's, or that of a variable that became a part of a record.  The old name is gone, and
    both sides of the pair have their roles and lie as far from each other as before.
    """
    said = {fingerprint(finding) for finding in report.findings}
    gone = [finding for finding in before.findings if fingerprint(finding) not in said]
    known: dict[str, Severity] = {}
    for finding in report.findings if gone else ():
        same = [was.severity for was in gone if was.rule == finding.rule and _same_storage(was, finding)]
        if same:
            known[fingerprint(finding)] = max(same, key=lambda severity: severity.rank)
    return known


def _same_storage(a: Finding, b: Finding) -> bool:
    """Both pairs lie alike, and each side is of the same variable or used by the same functions."""
    sides = [sorted(finding.participants[:PAIR], key=lambda who: who.hot or who.bytes) for finding in (a, b)]
    if len(sides[0]) != len(sides[1]) or len(sides[0]) < PAIR:
        return False
    first = [min(start for who in side for start, _ in who.hot or who.bytes) for side in sides]
    variables = 0
    for one, other in zip(*sides, strict=True):
        lie = [
            tuple((start - begin, end - begin) for start, end in who.hot or who.bytes)
            for who, begin in zip((one, other), first, strict=True)
        ]
        same = bool(one.identity) and one.identity == other.identity
        users = [{*who.lockers, *who.writers, *who.readers} for who in (one, other)]
        if one.role != other.role or lie[0] != lie[1] or not (same or (users[0] and users[0] == users[1])):
            return False
        variables += same
    return variables > 0


def _pair(finding: Finding) -> frozenset[tuple[str, str]]:
    return frozenset((who.identity or who.name, who.member) for who in finding.participants[:PAIR])


def _is_new(finding: Finding, known: Mapping[str, Severity]) -> bool:
    before = known.get(fingerprint(finding))
    return before is None or finding.severity.rank > before.rank


def read_baseline(path: str) -> dict[str, Severity]:
    """The accepted findings of a file.  Raises LinemateError where it cannot be read or is not a baseline."""
    try:
        found = msgspec.json.decode(read_input(path, MAX_BYTES, "a baseline"), type=Baseline)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(path, None, f"not a baseline: {error}") from error
    if found.schema != SCHEMA:
        raise Malformed(path, None, f"schema {found.schema!r}, this version reads {SCHEMA!r}")
    known: dict[str, Severity] = {}
    for row in found.findings:
        if row.id in known:
            raise Malformed(path, None, f"{row.id!r} is there twice")
        known[row.id] = row.severity
    return known


def write_baseline(path: str, report: Report) -> None:
    """Accept every finding of ``report``.  The file appears whole or not at all; equal findings give equal bytes."""
    rows: dict[str, KnownFinding] = {}
    for finding in report.findings:
        key = fingerprint(finding)
        names = tuple(sorted(who.full_name for who in finding.participants[:PAIR]))
        if key not in rows or rows[key].severity.rank < finding.severity.rank:
            rows[key] = KnownFinding(key, finding.rule, finding.severity, names)
    ordered = tuple(sorted(rows.values(), key=lambda row: (row.rule, row.names, row.id)))
    from reports.jsontext import encode

    write_text(encode(Baseline(SCHEMA, ordered)), path, ())
