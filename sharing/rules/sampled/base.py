"""What rules that speak from samples are made of: the line as it was used, and how cost becomes severity.

Owns no pattern of its own.  Such a rule is a pure function from a sampled line to drafts;
``sharing.judge.sampled.verdict`` runs them and ``sharing.judge.sampled.findings`` words them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from sharing.basics import numbers as shared
from sharing.basics.naming import with_kind
from sharing.model.finding import Severity, Verdict
from sharing.model.plural import named
from sharing.model.profile import Actor
from sharing.rules import numbers
from sharing.rules.row import Rule
from sharing.sampled.heap import Allocation
from sharing.sampled.interval import Share
from sharing.sampled.lineuse.blame import Blame, Item
from sharing.sampled.lineuse.use import Concurrency, LineUse, Totals, Touch
from sharing.sampled.objects import SeenObject
from sharing.sampled.speedup.gain import Gain

_Key = TypeVar("_Key", int, str)
_OF_TIME = ("CPU time", "sampled latency")


@dataclass(frozen=True, slots=True)
class SampledContext:
    """What rules may know besides the line; ``line_size`` in bytes."""

    line_size: int
    totals: Totals


@dataclass(frozen=True, slots=True, eq=False)
class SampledLine:
    """A line with its items named: ``actors`` are those of ``blame.items``, in the same order.

    ``under_lock`` is the share of an item's cost in functions that take the lock: (lock, item) by index.
    """

    use: LineUse
    blame: Blame
    actors: tuple[Actor, ...]
    under_lock: Mapping[tuple[int, int], float] = field(default_factory=dict)
    gain: Gain | None = None
    blocks: tuple[Allocation | None, ...] = ()  # of the items, in the same order; empty where none is known
    objects: tuple[SeenObject | None, ...] = ()  # likewise: the objects around items without a declaration
    dealt: bool = False  # of lines that are judged together: each thread keeps to elements of its own

    @property
    def items(self) -> tuple[Item, ...]:
        return self.blame.items

    @property
    def label(self) -> str:
        """The line in a sentence."""
        return f"line {self.use.link if self.use.link >= 0 else self.use.address:#x}"


@dataclass(frozen=True, slots=True)
class SampledDraft:
    """A finding before it is worded for a report: ``items`` are in order of blame, ``separate`` need an edit.

    ``cost`` in timed samples is what the finding is about; ``advice`` says what helps where no edit of the layout does.
    ``together`` are groups of items that one thread has for itself: they need no lines of their own.
    """

    rule: str
    severity: Severity
    verdict: Verdict
    items: tuple[int, ...]
    separate: tuple[int, ...]
    message: str
    evidence: tuple[str, ...]
    cost: float
    advice: str = ""
    together: tuple[tuple[int, ...], ...] = ()
    alike: int = 0  # other lines of the same array or of the same kind of object, whose cost is in ``cost``


Check = Callable[[SampledLine, SampledContext], Iterator[SampledDraft]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledRule(Rule):
    """A rule on a line as a profile saw it.  Of ``exclusive`` rules only the first that has something to say does."""

    check: Check
    exclusive: bool = True


def disturbed(line: SampledLine, ctx: SampledContext) -> bool:
    """Do other bytes' writes explain enough of the line's time to speak of false sharing?"""
    b = line.blame
    false = b.false + late(line)
    much = false >= numbers.FALSE_SHARE * (false + b.true)
    return false > 0 and (much or ctx.totals.share(false).low >= numbers.MEDIUM_FROM)


def late(line: SampledLine) -> float:
    """What the line may cost at other memory; a measured gain knows better."""
    return 0.0 if line.gain is not None and line.gain.measured else line.blame.late


def awaited(line: SampledLine) -> float:
    """What of the false sharing was sampled at instructions that need a value from the line: these may have waited for
    something else, which a measured gain knows better.
    """
    return 0.0 if line.gain is not None and line.gain.measured else min(line.blame.awaited, line.blame.false)


def grade_cost(cost: float, line: SampledLine, ctx: SampledContext, more: float = 0.0) -> Severity:
    """By the share of the program's time, less where the threads' overlap is not known or padding would cost more.

    ``more`` is what it may cost besides, which counts a step less.  A measured gain decides both ways.
    """
    sure = line.blame.concurrency is Concurrency.CONCURRENT
    severity = severity_of(ctx.totals.share(cost).low)
    expected = severity_of(ctx.totals.share(cost + more).low).lowered(numbers.LESS)
    severity = max(severity, expected, key=_rank).lowered(0 if sure else numbers.LESS)
    if line.blame.picked and (line.gain is None or not line.gain.measured):
        severity = min(severity, Severity.MEDIUM, key=_rank)  # it is the most that room between locks may save
    return measured(severity, line.gain).lowered(numbers.MUCH_LESS if walks(line) else 0)


def measured(severity: Severity, gain: Gain | None) -> Severity:
    """``severity`` within what a gain allows: a bound only lowers it, an interval is its least and its most.

    Time at the accesses of a line is no measure of what a fix saves: other work overlaps with a wait, and the wait for
    a plain store shows elsewhere.
    """
    if gain is None:
        return severity
    if not gain.worth_fixing:
        return Severity.NOTE
    if not gain.measured:
        return severity
    low, expected, high = (severity_of(share) for share in gain.saved)
    most = high
    if low is Severity.NOTE:  # perhaps nothing is gained: proof is missing
        most = min(most, Severity.LOW if gain.saved[1] < numbers.MEDIUM_SAVED else Severity.MEDIUM, key=_rank)
    least = max(low, expected.lowered(numbers.LESS), key=_rank)
    return min(max(severity, least, key=_rank), most, key=_rank)


def _rank(severity: Severity) -> int:
    return severity.rank


@dataclass(frozen=True, slots=True)
class Wording:
    """What a draft says besides the cost: ``text``, which the cost follows, then ``more``."""

    text: str
    more: str = ""
    evidence: tuple[str, ...] = ()

    def message(self, cost: float, severity: Severity, line: SampledLine, ctx: SampledContext) -> str:
        return f"{self.text}{tail(cost, severity, line, ctx)}{self.more}"


def between_bytes(
    rule: str,
    verdict: Verdict,
    line: SampledLine,
    ctx: SampledContext,
    wording: Wording,
    *,
    items: tuple[int, ...],
    separate: tuple[int, ...],
) -> SampledDraft:
    """A draft about what different bytes of a line cost each other."""
    more, later = late(line), awaited(line)
    severity = grade_cost(line.blame.false - later, line, ctx, more + later)
    cost = line.blame.false + more
    message = wording.message(cost, severity, line, ctx)
    evidence, advice = (*wording.evidence, split_text(line), *_late_text(line, ctx), *_awaited_text(line, ctx)), ""
    if is_large(line) and line.dealt:
        advice = (
            f"give each thread elements that lie side by side, a range or an allocation of its own; padding would "
            f"multiply the {line.use.footprint} lines that the same instructions traverse"
        )
    return SampledDraft(rule, severity, verdict, items, separate, message, evidence, cost, advice)


def same_bytes(
    rule: str,
    verdict: Verdict,
    line: SampledLine,
    ctx: SampledContext,
    wording: Wording,
    *,
    items: tuple[int, ...],
    advice: str,
) -> SampledDraft:
    """A draft about what the same bytes cost their users: two steps lower, since no layout helps.

    Unless the run on one processor shows that keeping the line's items apart helps: then that is what counts.  Where
    that is expected and may be nothing, it is no note at least, and medium where much is expected.
    """
    cost, gain = line.blame.true, line.gain
    severity = min(grade_cost(cost, line, ctx), Severity.HIGH, key=_rank).lowered(numbers.MUCH_LESS)
    separate: tuple[int, ...] = ()
    if gain is not None and gain.ratio is not None and len(line.items) > 1 and not walks(line):
        if gain.surely_worth_fixing:
            # What is apart by the samples is not where threads meet at these bytes and use the others beside them.
            items = items if len(items) > 1 else (*items, *_company(items[0], line))
            severity, separate = measured(severity, gain), items[:1]
        elif severity_of(gain.saved[1]) is not Severity.NOTE:
            much = gain.saved[1] >= numbers.HIGH_FROM
            severity = max(severity, Severity.MEDIUM if much else Severity.LOW, key=_rank)
    message = wording.message(cost, severity, line, ctx)
    evidence = (split_text(line), *wording.evidence)
    return SampledDraft(rule, severity, verdict, items, separate, message, evidence, cost, advice)


def _company(first: int, line: SampledLine) -> tuple[int, ...]:
    """The other items of a line, those that most was seen of first."""
    others = [i for i in range(len(line.items)) if i != first]
    seen = {i: sum(t.samples for t in line.items[i].touches) for i in others}
    return tuple(sorted(others, key=lambda i: (-line.items[i].cost, -seen[i], i)))


def padding_text(line: SampledLine) -> str:
    """What room around bytes that several threads write is worth: no more than what was seen, or measured."""
    gain, b = line.gain, line.blame
    if gain is not None and gain.measured:
        if not gain.worth_fixing:
            return "padding does not help"
        if gain.surely_worth_fixing and len(line.items) > 1:
            return "padding does not cure that, but keeping the line's other bytes apart helps"
        return "padding does not cure that; keeping the line's other bytes apart may help or not"
    beside = b.false / max(b.false + b.true, 1e-9)
    if beside >= numbers.WORTH_SAYING:
        return (
            f"padding does not cure that: it spares at most the {100 * beside:.0f} % that other bytes of the line cause"
        )
    return "padding does not help"


def severity_of(share: float) -> Severity:
    """By a share of the program's time, a lower bound."""
    steps = {Severity.HIGH: numbers.HIGH_FROM, Severity.MEDIUM: numbers.MEDIUM_FROM, Severity.LOW: shared.LOW_FROM}
    return next((severity for severity, least in steps.items() if share >= least), Severity.NOTE)


def is_large(line: SampledLine) -> bool:
    """Is the line one of very many that the same instructions touch: nodes of a list, elements of a big array?"""
    return line.use.footprint >= numbers.LARGE_FOOTPRINT


def walks(line: SampledLine) -> bool:
    """Is it one of very many on which threads follow each other?  To keep its data apart would be of no use.

    Where each keeps to elements of its own, another order of the elements is.
    """
    return is_large(line) and not line.dealt


def tail(cost: float, severity: Severity, line: SampledLine, ctx: SampledContext) -> str:
    """The end of a message: what it costs, and the doubts."""
    share: Share = ctx.totals.share(cost)
    # Time at the accesses is not all wait: what overlaps with a wait is sampled there as well.
    measure = ctx.totals.measure
    bound = "at most " if measure in _OF_TIME and not (line.gain is not None and line.gain.measured) else ""
    text = f": {bound}{share.text} of {measure}"
    if walks(line):
        return (
            f"{text}; padding is not recommended: the same instructions traverse {line.use.footprint} lines, and "
            f"padding would multiply their number"
        )
    gain = line.gain
    if gain is not None and not gain.worth_fixing:
        return f"{text}, not worth fixing: the estimated speed-up is {gain.text}"
    if gain is not None and gain.measured:
        return f"{text}, estimated speed-up {gain.text}"
    if severity is Severity.NOTE and share.low < shared.LOW_FROM:
        return f"{text}, not worth fixing"
    return text


def threads_of(touches: tuple[Touch, ...], line: SampledLine, limit: int = 3) -> str:
    """The threads by name: ``worker/12, worker/13 and 4 more``."""
    return named([line.use.threads[t].text for t in _named(touches, lambda t: t.thread)], limit)


def functions_of(touches: tuple[Touch, ...], limit: int = 3) -> tuple[str, ...]:
    """Functions, most time first."""
    return tuple(_named(touches, lambda t: t.function)[:limit])


def _named(touches: tuple[Touch, ...], key: Callable[[Touch], _Key]) -> list[_Key]:
    """What is worth naming, most time first.

    A stray sample is not: bytes of a stack or of a freed object were others' before, and skid misses now and then.
    What only code says has no samples to count and stays.
    """
    weight: dict[_Key, float] = {}
    for t in touches:
        weight[key(t)] = weight.get(key(t), 0.0) + t.cost + t.samples
    least = numbers.WORTH_NAMING * max(weight.values(), default=0.0)
    return sorted((k for k, w in weight.items() if w == 0 or w >= least), key=lambda k: (-weight[k], k))


def bytes_text(item: Item) -> str:
    return f"bytes {item.start}–{item.end - 1}" if item.end - item.start > 1 else f"byte {item.start}"


def subject(number: int, line: SampledLine) -> str:
    """Who it is, where, and who does what to it: ``LOCK_open (mutex), bytes 0–15, written by f on worker/2``."""
    item, actor = line.items[number], line.actors[number]
    name = with_kind(actor.name, actor.kind or "lock") if actor.is_lock else actor.name
    where = "" if actor.name.endswith(bytes_text(item)) else f", {bytes_text(item)}"
    return f"{name}{where}, {use_text(item, line)}"


def use_text(item: Item, line: SampledLine) -> str:
    """``written by f on a/1, read by g on b/2``."""
    writes = tuple(t for t in item.touches if t.writes)
    reads = tuple(t for t in item.touches if t.reads and not t.writes)
    parts = []
    if writes:
        parts.append(f"written by {', '.join(functions_of(writes))} on {threads_of(writes, line)}")
    known = {(t.thread, t.function) for t in writes}
    others = tuple(t for t in reads if (t.thread, t.function) not in known and not t.lock_call)
    if others:
        parts.append(f"read by {', '.join(functions_of(others))} on {threads_of(others, line)}")
    return ", ".join(parts) or "touched"


def split_text(line: SampledLine) -> str:
    """How the line's time is explained."""
    b = line.blame
    whole = max(b.own + b.true + b.false, 1e-9)
    return (
        f"of the line's time, {100 * b.false / whole:.0f} % is false sharing (other threads at other bytes), "
        f"{100 * b.true / whole:.0f} % true sharing (other threads at the same bytes), "
        f"{100 * b.own / whole:.0f} % neither"
    )


def _awaited_text(line: SampledLine, ctx: SampledContext) -> tuple[str, ...]:
    """What counts a step less, and why."""
    if (cost := awaited(line)) <= 0:
        return ()
    share = ctx.totals.share(cost).text
    return (
        f"of it, {share} was at instructions that need what was loaded here; they may have waited for something else, "
        "so that this counts a step less",
    )


def _late_text(line: SampledLine, ctx: SampledContext) -> tuple[str, ...]:
    """What of the cost was not seen at the line."""
    if not (cost := late(line)):
        return ()
    return (
        f"a plain store does not wait itself, later ones of its thread do: {ctx.totals.share(cost).text} of "
        f"{ctx.totals.measure}, at stores of these threads to memory of their own, may be the wait for this line, to "
        f"which they store more often than it can travel; `record --solo` tells how much is",
    )


def when(line: SampledLine) -> str:
    """How sure it is that threads met there."""
    sure = line.blame.concurrency is Concurrency.CONCURRENT
    return "at the same time" if sure else "possibly at the same time"


def victims(line: SampledLine, first: int) -> tuple[int, ...]:
    """The other items that exchange cost with one, most first; those that hardly do left out."""
    worth = {
        i: line.blame.between(first, i)
        for i in range(len(line.items))
        if i != first and line.blame.between(first, i) >= numbers.WORTH_LISTING * line.blame.false
    }
    return tuple(sorted(worth, key=lambda i: (-worth[i], i)))
