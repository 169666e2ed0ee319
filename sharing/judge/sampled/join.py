"""Findings from code and findings from samples, made one list.

Owns which of them speak of the same thing, and what samples do to a finding that they support or contradict.  A run
that never came to some code says nothing about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from sharing.basics import numbers as shared
from sharing.judge import numbers
from sharing.judge.sampled.verdict import Judged, Outcome, Verdicts
from sharing.model.finding import (
    NOT_EXERCISED,
    OF_MEETING,
    OF_SHARING,
    Confidence,
    Evidence,
    Finding,
    Participant,
    Severity,
    Verdict,
)
from sharing.rules.sampled.base import severity_of
from sharing.sampled.interval import Share, wilson
from sharing.sampled.lineuse.use import Concurrency, SampledRun, Totals

CLEARED = "not in this run"  # what the message of a finding says that a profile speaks against
_JOINED = OF_MEETING | {Verdict.SPLIT_ACCESS}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the run saw of a finding's functions: their samples, and how many of these could not be placed.

    ``by_function`` are those of which the function is all that is known; they are among ``unplaced``.
    """

    samples: int
    unplaced: int
    by_function: int = 0


InFunctions = Callable[[frozenset[str]], Coverage]


def join(
    static: Iterable[Finding],
    sampled: Iterable[Finding],
    verdicts: Verdicts,
    run: SampledRun,
    in_functions: InFunctions,
) -> tuple[list[Finding], dict[str, int]]:
    """All findings, and how many were joined, cleared and added: those count as cleared that say so of themselves."""
    by_line: dict[int, list[Finding]] = {}
    others: list[Finding] = []
    for finding in sampled:
        by_line.setdefault(int(finding.line.address, 16), []).append(finding)
    used: set[str] = set()
    lines = {j.line.use.link: j for j in verdicts.judged if j.line.use.target and j.line.use.link >= 0}
    counts = {"sampled_joined": 0, "sampled_cleared": 0}
    for finding in static:
        match = next((s for s in _at(finding, by_line) if s.id not in used and _same(finding, s)), None)
        if match is not None:
            used.add(match.id)
            counts["sampled_joined"] += 1
            both = _joined(finding, match)
            # What a fix gains was measured: with what the samples without a place have to do with it.
            known = any(j.line.gain is not None and j.line.gain.measured for j in _seen(finding, lines))
            others.append(both if known else _held(finding, both, run.totals, in_functions))
            counts["sampled_cleared"] += _is_cleared(finding, others[-1])
            continue
        others.append(_checked(finding, lines, run, in_functions))
        counts["sampled_cleared"] += _is_cleared(finding, others[-1])
    added = [f for f in sampled if f.id not in used]
    counts["sampled_added"] = len(added)
    return order([*others, *added]), counts


def _is_cleared(before: Finding, after: Finding) -> bool:
    """Whether the profile made a note of it, or says of a note that it is none in this run."""
    return after.severity is Severity.NOTE and (before.severity is not Severity.NOTE or CLEARED in after.message)


def order(findings: Iterable[Finding]) -> list[Finding]:
    """Severity, then what was sampled before what was not, then cost."""
    return sorted(
        findings,
        key=lambda f: (
            -f.severity.rank,
            f.confidence.rank < Confidence.DERIVED.rank,
            -f.score,
            f.line.address,
            f.rule,
            f.id,
        ),
    )


def _seen(finding: Finding, lines: dict[int, Judged]) -> list[Judged]:
    """What was sampled where the finding is."""
    start = int(finding.line.address, 16)
    return [j for link, j in lines.items() if start <= link < start + finding.line.size]


def _at(finding: Finding, by_line: dict[int, list[Finding]]) -> list[Finding]:
    start = int(finding.line.address, 16)
    return [f for line, found in by_line.items() if start <= line < start + finding.line.size for f in found]


def _same(static: Finding, sampled: Finding) -> bool:
    """The same line and the same objects: the pair that was seen is among those that the code names, or the only one.

    One object in common is not enough: who accepts the code's finding about it with somebody else accepts that one.
    """
    if Verdict.SPLIT_ACCESS in (static.verdict, sampled.verdict) and static.verdict is not sampled.verdict:
        return False  # where an access lies and who disturbs it are two things
    if static.verdict not in _JOINED:
        return False
    if static.verdict is sampled.verdict is Verdict.TRUE_SHARING:  # of one variable; the others are its line mates
        return _names(static, full=True, most=1) == _names(sampled, full=True, most=1)
    # Of an array inside a record one side may name the variable, the other the member.
    for full in (False, True):
        known, seen = _names(static, full=full), _names(sampled, full=full, most=2)
        if seen <= known and (len(seen) == len(known) or len(seen) > 1):
            return True
    return False


def _names(finding: Finding, *, full: bool, most: int | None = None) -> set[str]:
    """Code seldom knows which element of an array it touches: samples do, and which member of it."""
    return {re.sub(r"\[\d+\].*", "", p.full_name if full else p.name) for p in finding.participants[:most]}


def _joined(static: Finding, sampled: Finding) -> Finding:
    """Identity and rule of the static finding, so that baselines hold; what was seen decides the rest."""
    return msgspec.structs.replace(
        sampled,
        id=static.id,
        rule=static.rule,
        participants=tuple(_richer(p, static) for p in sampled.participants),
        evidence=(*sampled.evidence, *static.evidence),
        remedies=sampled.remedies or (static.remedies if sampled.verdict in _JOINED else ()),
        picture=static.picture or sampled.picture,
        related=(*static.related, *(one for one in sampled.related if one not in static.related)),
    )


def _held(static: Finding, both: Finding, totals: Totals, in_functions: InFunctions) -> Finding:
    """Not lower than what the samples without a place could make of it, if all of them were on the line."""
    if both.severity.rank >= static.severity.rank or static.verdict not in OF_SHARING:
        return both
    cost = totals.cost(both.score)
    coverage = in_functions(_functions(static) | _functions(both))
    most = totals.share(cost + coverage.unplaced)
    seen, hidden = severity_of(totals.share(cost).low), severity_of(most.high)
    # What else took steps off still does.
    highest = hidden.lowered(max(seen.rank - both.severity.rank, 0))
    some = f"{coverage.unplaced} samples in the functions that access it"
    why = f"{some} have no known address and may belong to this line"
    if coverage.unplaced <= cost:
        why = f"{totals.timed:.0f} samples leave up to {100 * most.high:.1f} % of {totals.measure} open"
    severity = min(static.severity, highest, key=lambda s: s.rank)
    if severity.rank <= both.severity.rank:
        return both
    lost = f"{totals.share(cost).text} of {totals.measure}"
    message = f"{static.message} (samples with a place show {lost} lost there; {why})"
    # Where samples alone make it a note, it is the code that makes it more: what it says, and how surely.
    told = both if both.severity is not Severity.NOTE else msgspec.structs.replace(static, evidence=both.evidence)
    return msgspec.structs.replace(_noted(told, f"not cleared: {why}"), severity=severity, message=message)


def _functions(finding: Finding) -> frozenset[str]:
    return frozenset(f for p in finding.participants for f in (*p.readers, *p.writers, *p.lockers))


def _richer(participant: Participant, static: Finding) -> Participant:
    """With what the static finding knows of its declaration."""
    known = {(p.name, p.member): p for p in static.participants}
    match = known.get((participant.name, participant.member))
    if match is None:
        return participant
    return msgspec.structs.replace(participant, source=match.source, identity=match.identity, type=match.type)


def _checked(finding: Finding, lines: dict[int, Judged], run: SampledRun, in_functions: InFunctions) -> Finding:
    """A finding that no sampled one supports: kept, or lowered with the reason."""
    totals = run.totals
    if finding.verdict not in _JOINED:
        return finding
    seen = _seen(finding, lines)
    coverage = in_functions(_functions(finding))
    cost = sum(j.line.use.cost for j in seen)
    share = totals.share(cost)
    most = max(totals.share(coverage.samples), share, key=lambda one: one.high)
    if coverage.samples < numbers.MIN_IN_FUNCTIONS or most.high < shared.LOW_FROM:
        return _unseen(finding, coverage, most, totals)
    if finding.verdict not in OF_MEETING:
        return finding  # where an access lies costs its functions time, whoever else is there
    if totals.timed < numbers.MIN_TIMED:
        return finding
    if coverage.by_function > numbers.BY_FUNCTION * coverage.samples:
        time = totals.share(coverage.samples)
        where = "is in the functions that access it; the samples do not say on which data"
        return _noted(finding, f"by function: {time.text} of {totals.measure} {where}")
    outcomes = {j.outcome for j in seen}
    if Outcome.ONE_PROCESSOR in outcomes:
        return _noted(finding, "this run shows nothing about it: its threads had to take turns on a processor")
    # What was not placed may have been on this line.
    unplaced = wilson(coverage.unplaced, totals.timed)
    if coverage.unplaced > numbers.WEAK_FROM * coverage.samples and unplaced.value >= numbers.CLEARED_BELOW:
        part = f"{coverage.unplaced} of {coverage.samples} samples in the functions that access it"
        return _noted(finding, f"not cleared: {part} have no known address and may belong to this line")
    if outcomes == {Outcome.PHASED}:
        tested = [o for j in seen for o in j.line.use.overlaps.values() if o.concurrency is Concurrency.PHASED]
        count = sum(sum(o.samples) for o in tested)
        many = f" ({count} samples)" if count else ""
        return _lowered(finding, f"the samples contradict it: its threads use it one after the other{many}")
    if outcomes == {Outcome.ONE_THREAD} and share.low >= numbers.CLEARED_BELOW:
        return _lowered(finding, f"the samples contradict it: one thread alone used the line ({share.text} of time)")
    others = sum(j.line.blame.false + j.line.blame.late for j in seen)
    if seen and finding.verdict in OF_SHARING and totals.share(others).high + unplaced.value < numbers.CLEARED_BELOW:
        same = sum(j.line.blame.true for j in seen)
        if same > 0:
            return _lowered(
                finding,
                f"the samples contradict it: {totals.share(same).text} of {totals.measure} is lost there to threads at "
                f"the same bytes, {totals.share(others).text} to those at other bytes",
            )
    disturbed = sum(j.line.blame.true + j.line.blame.false + j.line.blame.late for j in seen)
    if totals.share(disturbed).high + unplaced.value < numbers.CLEARED_BELOW:
        return _lowered(
            finding,
            f"the samples contradict it: {coverage.samples} samples in the functions that access it, "
            f"{totals.share(disturbed).text} of {totals.measure} lost to other threads on the line",
        )
    return finding


def _unseen(finding: Finding, coverage: Coverage, most: Share, totals: Totals) -> Finding:
    """A finding whose code hardly ran: all its time, wherever in its functions it fell, bounds what it costs."""
    where = f"of {totals.timed:,.0f} samples {coverage.samples} are in the functions that access it"
    if most.high >= shared.LOW_FROM or not _functions(finding):
        few = f"{where}, too few to say anything about this" if coverage.samples else f"{where}: it may cost anything"
        return _noted(finding, few)
    bound = f"at most {100 * most.high:.1g} % of {totals.measure}"
    if coverage.samples:
        return _lowered(finding, f"{where}, {bound}")
    # Another load may come there, so that it is not cleared; and this one says nothing for it.
    severity = min(finding.severity, Severity.LOW, key=lambda one: one.rank)
    apart = _noted(finding, f"{NOT_EXERCISED}: {where}, {bound}; another load may show it")
    return msgspec.structs.replace(apart, severity=severity)


def _noted(finding: Finding, text: str) -> Finding:
    return msgspec.structs.replace(finding, evidence=(*finding.evidence, Evidence(Confidence.DERIVED, text)))


def _lowered(finding: Finding, text: str) -> Finding:
    return msgspec.structs.replace(
        _noted(finding, text), severity=Severity.NOTE, message=f"{finding.message} ({CLEARED}: {text})"
    )
