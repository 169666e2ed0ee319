"""Findings of the code and findings of the counts, made one list.

Owns which of them speak of the same thing, and what counts do to a finding that they do not support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from sharing.basics.costs import busy_rate
from sharing.counted import numbers
from sharing.counted.shareduse import NamedSpan, SharedUse, busy, evidence, limit_of, shared_use
from sharing.counted.shareduse import severity as severity_by_use
from sharing.counted.weigh import Weighed
from sharing.model.finding import OF_MEETING, OF_SHARING, Confidence, Evidence, Finding, Participant, Severity
from sharing.model.plural import count
from sharing.rules.line.table import OF_WHOLE_ARRAYS

NOT_JOINED = "not counted: which instructions use these is not known, so that counts say nothing for or against this"
_NONE: Mapping[str, Weighed] = MappingProxyType({})
EVERY_OBJECT = "an instruction behind a pointer counts for every object that it may reach"


def join(
    static: Sequence[Finding], counted: Sequence[Finding], weighed: Weighed, behind: Mapping[str, Weighed] = _NONE
) -> tuple[list[Finding], dict[str, int]]:
    """All findings, each under the id that the code gives it, and how many were joined, lowered and added.

    ``behind``: by id of a finding on objects behind pointers, what was counted of the instructions that reach these.
    """
    by_id = {f.id: f for f in counted}
    used = {f.id for f in static} & by_id.keys()  # what has the very id is never taken for another one
    out: list[Finding] = []
    counts = {"counted_joined": 0, "counted_lowered": 0}
    for finding in static:
        match = by_id.get(finding.id)
        if match is None:
            match = next((c for c in counted if c.id not in used and _same(finding, c)), None)
        if match is not None:
            used.add(match.id)
            counts["counted_joined"] += 1
            remedies = match.remedies or finding.remedies
            out.append(msgspec.structs.replace(match, id=finding.id, rule=finding.rule, remedies=remedies))
            continue
        checked = _checked(finding, behind.get(finding.id, weighed))
        counts["counted_lowered"] += checked.severity is not finding.severity
        out.append(checked)
    added = [c for c in counted if c.id not in used]
    counts["counted_added"] = len(added)
    return [*out, *added], counts


def _same(static: Finding, counted: Finding) -> bool:
    """The same line, two of the same objects (or the only one), and the same kind of trouble.

    Of a rule that speaks of an array as a whole, the same array: which member of its elements is named is the one that
    is used most, which counts know better than code.
    """
    if static.line.address != counted.line.address or static.line.size != counted.line.size:
        return False
    if (static.verdict in OF_SHARING) != (counted.verdict in OF_SHARING):
        return False
    if static.rule == counted.rule and static.rule in OF_WHOLE_ARRAYS:
        return static.participants[0].array == counted.participants[0].array
    mine, theirs = _names(static), _names(counted)
    return len(mine & theirs) >= min(2, len(mine), len(theirs))


def _names(finding: Finding) -> set[str]:
    return {p.full_name for p in finding.participants}


def _checked(finding: Finding, weighed: Weighed) -> Finding:
    """A finding that the counts do not support, lowered with the reason."""
    if finding.verdict not in OF_MEETING:
        return finding
    places = [NamedSpan(p.full_name, _span(finding, p)) for p in finding.participants]
    if any(weighed.uncounted(place.span) for place in places):
        return finding
    uses = [weighed.uses(place.span) for place in places]
    idle = [place.name for place, (_, used) in zip(places, uses, strict=True) if not used.any()]
    behind = any(weighed.behind_pointers(place.span) for place in places)
    # Of an array behind a pointer instructions name the first element, or none.
    elements = behind and any("[" in name for name in idle)
    if elements or not all(weighed.holds(place.span) for place in places):
        # No instruction names these, whether they ran or not: nothing is known for or against.
        told = Evidence(Confidence.COUNTED, NOT_JOINED)
        return msgspec.structs.replace(finding, evidence=(*finding.evidence, told))
    if len(idle) == len(places) or (len(places) > 1 and len(places) - len(idle) < 2):
        how = "is known to reach" if behind else "names"
        text = f"no instruction that {how} {_list(idle)} was executed while threads ran"
        # Another run may come there.
        lowered = min(finding.severity, Severity.LOW, key=lambda s: s.rank)
        return _noted(finding, text, lowered, weighed)
    # What the sentence is about comes first: of its neighbours some are used under the lock that it may name.
    found = shared_use(weighed, places[:2])
    if not busy(found):
        found = shared_use(weighed, places)
    if weighed.counted.estimated:
        return finding  # a function that was entered once can use something for hours
    if found is None and weighed.counted.together:
        return _noted(finding, "no write to what was used", Severity.NOTE, weighed)
    if found is None:
        threads = sorted({t for _, used in uses for t in used.nonzero()[0].tolist()})
        names = _list([weighed.counted.label(t) for t in threads])
        if not weighed.counted.reused.isdisjoint(threads):
            text = f"{names} alone used the line, but several threads had that number, one after the other"
            return _noted(finding, text, finding.severity, weighed)
        text = f"{names} alone used the line" if len(threads) == 1 else f"of {names} none wrote what another one used"
        return _noted(finding, text, Severity.NOTE, weighed)
    if busy(found) and finding.verdict not in OF_SHARING:
        t, u = weighed.counted.label(found.writer), weighed.counted.label(found.user)
        text = f"{t} wrote {found.written.name} {found.write_rate:,.0f} times per million instructions, {u} used it"
        return _noted(finding, f"{text} {found.use_rate:,.0f} times", finding.severity, weighed)
    if busy(found) and behind:
        return _supported(finding, found, weighed)
    if busy(found):
        # The rules saw more: used together, under one lock, or one object.
        what = "both" if len(places) > 1 else "it"
        text = f"its threads use {what} often, but in the same functions, under one lock, or as one object"
        return _noted(finding, text, min(finding.severity, Severity.LOW, key=lambda s: s.rank), weighed)
    if weighed.counted.together:
        names = f"{found.written.name} was written and {found.used.name} used"
        text = f"too rare: {names}, at most {count(round(found.transfers), 'time')}"
        return _noted(finding, text, Severity.NOTE, weighed)
    return _noted(finding, _too_rare(found, weighed), Severity.NOTE, weighed)


def _too_rare(found: SharedUse, weighed: Weighed) -> str:
    """Why what two threads did does not matter."""
    t, u = weighed.counted.label(found.writer), weighed.counted.label(found.user)
    if found.rate >= busy_rate():
        moved = count(round(found.transfers), "line transfer")
        return f"too rare: at most {moved} between {t} and {u}, {numbers.MIN_TRANSFERS} are required"
    return (
        f"too rare: {t} wrote {found.written.name} {found.write_rate:.3g} times per million instructions, {u} used "
        f"{found.used.name} {found.use_rate:.3g} times; the threshold is {busy_rate():.0f} for both"
    )


def _supported(finding: Finding, found: SharedUse, weighed: Weighed) -> Finding:
    """A finding on objects behind pointers that are used as often as it says, no more severe than that can cost."""
    told = [Evidence(Confidence.COUNTED, text) for text in (*evidence(found, weighed), EVERY_OBJECT)]
    severity = min(finding.severity, severity_by_use(found), key=lambda s: s.rank)
    return msgspec.structs.replace(
        finding,
        severity=severity,
        confidence=Confidence.COUNTED,
        evidence=(*finding.evidence, *told),
    )


def _span(finding: Finding, who: Participant) -> tuple[int, int]:
    """The bytes of a participant that take part, by address; what lies on another line as a whole.

    What begins on the line before, where an object may start so, is named by its first byte.
    """
    line, start = int(finding.line.address, 16), int(who.address, 16)
    parts = [(line + a, line + b) for a, b in who.hot or who.bytes if b > a]
    if not parts:
        return start, start + max(who.size, 1)
    low, high = min(a for a, _ in parts), max(b for _, b in parts)
    return (min(low, start) if who.size <= finding.line.size else low), high


def _list(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    if len(shown) > 3:
        return f"{', '.join(shown[:3])} and {len(shown) - 3} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _noted(finding: Finding, text: str, severity: Severity, weighed: Weighed) -> Finding:
    evidence = (*finding.evidence, Evidence(Confidence.COUNTED, f"{text}; {limit_of(weighed.counted)}"))
    message = f"{finding.message} (not in this run: {text})" if severity is not finding.severity else finding.message
    return msgspec.structs.replace(finding, severity=severity, message=message, evidence=evidence)
