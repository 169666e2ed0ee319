"""Two threads on one line, as counted: who writes which bytes, who uses others, how often at most the line moves.

Owns the measure of a pair and the severity that follows from it.  Callgrind runs one thread at a time: counts say who
uses what how often, and not whether two do so at one time.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from sharing.basics.costs import PER_MILLION, busy_rate, share_of_time
from sharing.counted import numbers
from sharing.counted.weigh import Counted, Floats, Weighed
from sharing.model.finding import LESS, OF_SHARING, Severity, Verdict
from sharing.model.plural import count
from sharing.model.profile import Actor, Heat, LineProfile, Range
from sharing.rules.line.base import Draft
from sharing.rules.sampled.base import severity_of

SERIAL = "counts show how often each thread uses what, not whether two threads do so at the same time"
WHOLE = "counts name the array as a whole: that these threads use elements of one line is likely and not counted"
TOGETHER = "all threads were counted together: which thread uses what, and when, is known from the code alone"


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """Some bytes and how they are called."""

    name: str
    span: Range


@dataclass(frozen=True, slots=True)
class SharedUse:
    """The busiest pair of threads: ``writer`` writes the one span, ``user`` uses the other; indexes of threads.

    ``write_rate`` and ``use_rate`` are per million instructions of their threads.  ``transfers`` is how often the line
    can have moved because of them: not more often than the rarer of the two happened.
    """

    written: NamedSpan
    used: NamedSpan
    writer: int
    user: int
    write_rate: float
    use_rate: float
    use_writes: float  # of the uses those that write, of which the second span's user may have none
    transfers: float
    share: float  # of the busiest thread's time, at most

    @property
    def inside(self) -> bool:
        """Of one thing, an array as a rule: whether both used the same element is not counted."""
        return self.written == self.used

    @property
    def rate(self) -> float:
        """The lower of the two, from which it is busy."""
        return min(self.write_rate, self.use_rate)


class Uses(Protocol):
    """What was counted, by thread and by the bytes that were used."""

    @property
    def counted(self) -> Counted: ...

    def uses(self, span: Range) -> tuple[Floats, Floats]: ...


def shared_use(
    weighed: Uses, spans: Sequence[NamedSpan], meet: Callable[[int, int], bool] = lambda a, b: True
) -> SharedUse | None:
    """The pair of spans and threads where both sides are busiest; one span alone is paired with itself.

    ``meet``: of which two spans, by number, it is asked.
    """
    instructions = np.maximum(weighed.counted.instructions, 1.0)
    process = np.array([t.process for t in weighed.counted.threads])
    uses = [weighed.uses(one.span) for one in spans]
    alone = np.eye(len(process), dtype=bool) & (not weighed.counted.together)
    apart = (process[:, None] != process[None, :]) | alone
    best: SharedUse | None = None
    pairs = [(a, b) for a in range(len(spans)) for b in range(len(spans)) if a != b and meet(a, b)]
    pairs = [(0, 0)] if len(spans) == 1 else pairs
    for a, b in pairs:
        writes, touches = uses[a][0] * PER_MILLION / instructions, uses[b][1] * PER_MILLION / instructions
        both = np.minimum(writes[:, None], touches[None, :])
        both[apart] = 0.0
        at = int(np.argmax(both)) if both.size else 0
        if not both.size or not both.flat[at]:
            continue
        t, u = divmod(at, len(process))
        if best is not None and best.rate >= both.flat[at]:
            continue
        transfers = float(min(uses[a][0][t], uses[b][1][u]))
        best = SharedUse(
            spans[a],
            spans[b],
            t,
            u,
            float(writes[t]),
            float(touches[u]),
            float(uses[b][0][u] * PER_MILLION / instructions[u]),
            transfers,
            share_of_time(transfers, float(instructions.max())),
        )
    return best


def busy(found: SharedUse | None) -> TypeGuard[SharedUse]:
    """Are both sides so often at it that it matters where they run at the same time?"""
    return found is not None and found.rate >= busy_rate() and found.transfers >= numbers.MIN_TRANSFERS


def severity(found: SharedUse) -> Severity:
    """By the share of the busiest thread's time; one step less where only the whole of an array was counted."""
    most = _by_share(found)
    return max(most.lowered(found.inside), min(most, Severity.LOW, key=_rank), key=_rank)


def _by_share(found: SharedUse) -> Severity:
    """What the share alone allows; low also where threads that run less lose more of theirs."""
    if found.share < numbers.NEGLIGIBLE:
        return Severity.NOTE
    return max(severity_of(found.share), Severity.LOW, key=_rank)


def _rank(severity: Severity) -> int:
    return severity.rank


def evidence(found: SharedUse, weighed: Weighed, less: str = "") -> tuple[str, ...]:
    """Who did what how often, what that can cost, and why it is said at ``less`` than that, where it is."""
    t, u = weighed.counted.label(found.writer), weighed.counted.label(found.user)
    use = "wrote" if found.use_writes >= found.use_rate else "used" if found.use_writes else "read"
    of_them = f", {_number(found.use_writes)} of them writes" if use == "used" else ""
    element = "; which elements each of them used is not counted" if found.inside and not less else ""
    text = (
        f"{t} wrote {found.written.name} {_times(found.write_rate)} per million instructions, {u} {use} "
        f"{found.used.name} {_times(found.use_rate)}{of_them}{element}"
    )
    whose = "all threads" if weighed.counted.together else "the busiest thread"
    most = f"at most {100 * found.share:.2g} % of the time of {whose} if each use misses"
    near = "" if less else _near(found.share)  # another run changes nothing there
    return (text, f"{most}{near}; {limit_of(weighed.counted)}", *([less] if less else ()))


def _said_at_less(draft: Draft, found: SharedUse) -> str:
    """Why a finding that threads meet is milder than what they can cost, "" where it is not."""
    allowed, by_share = severity(found), _by_share(found)
    said = min(draft.severity, allowed, key=_rank)
    if said.rank >= by_share.rank or draft.verdict not in OF_SHARING:
        return ""
    reasons = [WHOLE] if allowed.rank < by_share.rank else []
    reasons += [_why_less(draft)] if draft.severity.rank < allowed.rank else []
    return f"{said} {LESS}{by_share}, as that share allows: {'; '.join(reasons)}"


def _why_less(draft: Draft) -> str:
    """What the rules take off for, of what can be said of the two in a few words."""
    a, b = draft.actors[0], draft.actors[min(1, len(draft.actors) - 1)]
    reasons = []
    if a is b:
        reasons.append("that threads use different parts of it is not certain")
    if a is not b and (locks := sorted(a.guards & b.guards)):
        reasons.append(f"both are used under {locks[0]}, which one thread holds at a time")
    if a is not b and (both := sorted(a.functions & b.functions)):
        more = f" and {count(len(both) - 1, 'other function')}" if len(both) > 1 else ""
        reasons.append(f"{both[0]}{more} {'use' if more else 'uses'} both, for which the line is fetched once")
    plain = [actor.name for actor in dict.fromkeys((a, b)) if actor.writers and not actor.synchronised]
    if plain:
        reasons.append(f"{plain[0]} is plain data, which programs leave to one thread or to a lock")
    cooler = [actor.name for actor in dict.fromkeys((a, b)) if actor.heat is not Heat.HOT]
    if cooler and not reasons:
        reasons.append(f"{cooler[0]} is not among what the program uses most")
    return "; ".join(reasons) or "the two belong together by how code uses them"


def _near(share: float) -> str:
    """Whether the counts of another run may give another severity, in words; "" they hardly can."""
    less, more = severity_of(share * (1.0 - numbers.RUN_TO_RUN)), severity_of(share * (1.0 + numbers.RUN_TO_RUN))
    if less is more:
        return ""
    return (
        f", near the step from {less} to {more} (counts differ by up to {100 * numbers.RUN_TO_RUN:.0f} % between runs)"
    )


def limit_of(counted: Counted) -> str:
    """What these counts cannot say."""
    return TOGETHER if counted.together else SERIAL


def _times(rate: float) -> str:
    return "once" if round(rate) == 1 else f"{_number(rate)} times"


def _number(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 1 else f"{rate:.2g}"


def graded(drafts: Iterable[Draft], weighed: Weighed) -> list[Draft]:
    """Drafts of the rules that the counts support, none more severe than they allow."""
    out = []
    for draft in drafts:
        if draft.verdict is Verdict.FRAGILE:
            continue  # a warning of what may come, which the code alone gives
        actors = draft.actors
        spans = [_named_span(actor, draft.line) for actor in actors]
        found = shared_use(weighed, spans, functools.partial(_may_meet, actors))
        if not busy(found):
            found = shared_use(weighed, spans)
        if found is None or not busy(found):
            continue
        allowed = min(draft.severity, severity(found), key=_rank)
        out.append(
            dataclasses.replace(
                draft, severity=allowed, counted=evidence(found, weighed, _said_at_less(draft, found)), score=found.rate
            )
        )
    return out


def _may_meet(actors: Sequence[Actor], first: int, second: int) -> bool:
    """Not where one is the lock that the other is used under, or both are under one: who holds it needs both."""
    a, b = actors[first], actors[second]
    return not (a.guards & b.guards or a.name in b.guards or b.name in a.guards)


def _named_span(actor: Actor, line: LineProfile) -> NamedSpan:
    """An actor by the bytes that count on this line; of one that lies elsewhere, all of it."""
    touched = actor.touched_on(line.address, line.end)
    if not touched:
        return NamedSpan(actor.name, actor.span)
    return NamedSpan(actor.name, (max(actor.span[0], line.address), min(actor.span[1], line.end)))
