"""Of the time on a line: how much do others cause by writing the same bytes, and how much by writing its other bytes?

Owns the split of a line into items and the sharing out of cost.  Judges nothing: ``sharing.rules`` does.

An *item* is a run of bytes that is one thing: bytes that accesses have in common, or that the caller says belong
together (a lock by its ABI).  Time of a thread on an item is blamed on concurrent other threads, in proportion to how
often each was seen: reads on their writes, writes on all their accesses (a line that others read must be taken from
them), never more than so few uses can cause, and next to nothing on reads that would have waited, too, and were never
seen to.  Accesses to the same item are true sharing.  Accesses to other items are false sharing as far as they
outnumber those that the same function makes to the victim's: a function that updates two members together would take
the line just as well if they were apart, and wait as long where it writes both and another is at one of them, or reads
both and another writes one.  Time that nobody explains is the thread's own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sharing.basics import numbers as shared
from sharing.model.image import AccessKind
from sharing.sampled import numbers
from sharing.sampled.lineuse.use import Concurrency, LineUse, Provenance, Touch

MAX_ITEMS = 64
Range = tuple[int, int]
NOBODY: frozenset[tuple[int, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Item:
    """Bytes [start, end) of the line that are one thing, and who does what to them."""

    start: int
    end: int
    touches: tuple[Touch, ...]

    @property
    def threads(self) -> frozenset[int]:
        return frozenset(t.thread for t in self.touches)

    @property
    def writers(self) -> frozenset[int]:
        return frozenset(t.thread for t in self.touches if t.writes)

    @property
    def cost(self) -> float:
        return sum(t.cost for t in self.touches)

    @property
    def samples(self) -> int:
        return sum(t.samples for t in self.touches if t.provenance is Provenance.SAMPLE)

    @property
    def write_weight(self) -> float:
        return sum(max(t.samples, numbers.CODE_WEIGHT) for t in self.touches if t.writes)

    @property
    def read_weight(self) -> float:
        return sum(max(t.samples, numbers.CODE_WEIGHT) for t in self.touches if t.reads and not t.writes)

    @property
    def waiting(self) -> frozenset[tuple[int, str]]:
        """(thread, function) that wait for what another thread writes here."""
        found = {(t.thread, t.function) for t in self.touches if t.spin_waits and t.reads}
        return (
            frozenset((thread, function) for thread, function in found if self.writers - {thread}) if found else NOBODY
        )

    @property
    def is_lock(self) -> bool:
        """Touched by lock functions alone."""
        return any(t.lock_call for t in self.touches) and all(t.lock_call for t in self.touches if t.writes)


@dataclass(frozen=True, slots=True)
class Blame:
    """How the cost of a line came about.  ``own`` + ``true`` + ``false`` is the cost of all its items.

    ``pairs``: cost that writes to the first item put on the second, by index of ``items``.  ``concurrency``
    is that of the threads that matter; ``phased`` the cost that other threads' writes would explain if they were
    concurrent.
    """

    items: tuple[Item, ...]
    own: float
    true: float
    false: float
    pairs: dict[tuple[int, int], float]
    concurrency: Concurrency
    phased: float = 0.0
    late: float = 0.0  # false sharing, perhaps: at other memory, where waits for plain stores show
    awaited: float = 0.0  # of ``false``, what was sampled at instructions that need a value from the line
    picked: frozenset[int] = frozenset()  # items: locks in a row, of which any thread takes any; see _between_locks

    @property
    def cost(self) -> float:
        return self.own + self.true + self.false

    def scaled(self, factor: float) -> Blame:
        """The same with all costs larger."""
        pairs = {pair: cost * factor for pair, cost in self.pairs.items()}
        return replace(
            self,
            own=self.own * factor,
            true=self.true * factor,
            false=self.false * factor,
            pairs=pairs,
            phased=self.phased * factor,
            late=self.late * factor,
            awaited=self.awaited * factor,
        )

    def true_of(self, item: int) -> float:
        return self.pairs.get((item, item), 0.0)

    def worst(self) -> tuple[int, int]:
        """The two items that cost each other the most, the more written one first; (-1, -1) without any."""
        both: dict[tuple[int, int], float] = defaultdict(float)
        for (a, b), cost in self.pairs.items():
            if a != b:
                both[(min(a, b), max(a, b))] += cost
        if not both:
            return (-1, -1)
        a, b = max(both, key=lambda pair: (both[pair], -pair[0], -pair[1]))
        return (a, b) if self.items[a].write_weight >= self.items[b].write_weight else (b, a)

    def between(self, a: int, b: int) -> float:
        return self.pairs.get((a, b), 0.0) + self.pairs.get((b, a), 0.0)


def items_of(line: LineUse, together: Iterable[Range] = ()) -> tuple[Item, ...]:
    """The items of a line by their first bytes.  ``together`` are runs of bytes (offsets) that are one thing each."""
    fixed = sorted({(max(a, 0), min(b, line.size)) for a, b in together if a < line.size and b > 0})
    short = sorted({(t.start, t.end) for t in line.touches if t.end - t.start <= shared.SCALAR_BYTES})
    spans: list[Range] = []
    for start, end in sorted(fixed + [s for s in short if not any(a <= s[0] < b for a, b in fixed)]):
        if spans and start < spans[-1][1] and spans[-1] not in fixed and (start, end) not in fixed:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        elif spans and start < spans[-1][1]:
            if end > spans[-1][1]:
                spans.append((spans[-1][1], end))
        else:
            spans.append((start, end))
    if not spans:
        spans = sorted({(t.start, t.end) for t in line.touches})[:1]
    spans = spans[:MAX_ITEMS]
    own: dict[Range, list[Touch]] = {span: [] for span in spans}
    for touch in line.touches:
        # A long access counts for the first item that it covers, so that its cost counts once.
        span = next((s for s in spans if s[0] < touch.end and touch.start < s[1]), None)
        if span is not None:
            own[span].append(touch)
    return tuple(Item(*span, tuple(touches)) for span, touches in own.items() if touches)


class _Uses:
    """How often each thread was seen at each item: by thread, function and item, its writes and its accesses."""

    def __init__(self, line: LineUse, items: tuple[Item, ...]) -> None:
        self.writes: dict[int, _Weights] = {}
        self.all: dict[int, _Weights] = {}
        touches = [t for item in items for t in item.touches]
        guesses = [t for t in touches if t.provenance is Provenance.CODE]
        self._writers = {t.thread for t in touches if t.writes}
        self._guessed = {t.thread for t in guesses}
        # Where reads show when they wait, only a store that reads nothing first can go unseen.
        reads_show = any(t.provenance is Provenance.SAMPLE and t.reads and t.cost > 0 for t in touches)
        read = {(t.thread, t.function, t.start, t.end) for t in touches if t.reads} if reads_show else set()
        self._unseen = {
            t.thread
            for t in guesses
            if not reads_show or (t.writes and (t.thread, t.function, t.start, t.end) not in read)
        }
        reads: dict[int, _Weights] = {}  # of what is not written in the same step
        # Of these, those that were sampled, and those in the same run of code as a sample.
        self._sampled_reads: dict[int, _Weights] = {}
        self._reads_beside: dict[int, _Weights] = {}
        walks = _walks(items)
        for number, item in enumerate(items):
            for touch in item.touches:
                weight = walks[(_walk(touch), number)] if touch.walks else _weight(touch, line)
                _add(self.writes if touch.writes else reads, touch, number, weight)
                if not touch.writes and touch.provenance is not Provenance.CODE:
                    sampled = touch.provenance is Provenance.SAMPLE
                    _add(self._sampled_reads if sampled else self._reads_beside, touch, number, weight)
        # An update may be a load and a store: it is one access, of which each is seen.
        for thread in sorted({*self.writes, *reads}):
            self.all[thread] = {}
            for part in (self.writes.get(thread, {}), reads.get(thread, {})):
                for key, weight in part.items():
                    self.all[thread][key] = max(self.all[thread].get(key, 0.0), weight)
        self._seen = {
            of_writes: {
                thread: sum(weights.values()) for thread, weights in self.disturbers(of_writes=of_writes).items()
            }
            for of_writes in (False, True)
        }

    def disturbers(self, *, of_writes: bool) -> dict[int, _Weights]:
        """A read suffers from writes, a write from every access: the line must come back alone."""
        return self.all if of_writes else self.writes

    def together(self, thread: int, waits: Mapping[str, float], item: int, *, of_writes: bool) -> Mapping[int, float]:
        """How much of what a thread waits for at an item, by function, comes with such an access to each other item.

        One place may be read often and another seldom, as where a copy is looked at first: only what is read in the
        same run of code counts.
        """
        own = (self.writes if of_writes else self._sampled_reads).get(thread, {})
        others = (self.writes if of_writes else self._reads_beside).get(thread, {})
        out: dict[int, float] = defaultdict(float)
        total = max(sum(waits.values()), 1e-9)
        for (function, other), weight in others.items():
            if (cost := waits.get(function, 0.0)) > 0 and (mine := own.get((function, item), 0.0)) > 0:
                out[other] += cost / total * min(1.0, weight / mine)
        return out

    def seen(self, thread: int, victim: int, *, of_writes: bool) -> float:
        """How many uses of a disturber there are samples of; no limit is known of those that code tells of.

        But one that reads a line which its victim keeps writing waits for it each time as the victim does, and would
        have been sampled there.
        """
        if thread in (self._unseen if victim in self._writers else self._guessed):
            return math.inf
        return self._seen[of_writes].get(thread, 0.0)


_Weights = dict[tuple[str, int], float]
_Walk = tuple[int, str, AccessKind]


def _walk(touch: Touch) -> _Walk:
    return (touch.thread, touch.function, touch.kind)


def _walks(items: tuple[Item, ...]) -> dict[tuple[_Walk, int], float]:
    """By walk and item, what each of its touches weighs: code that goes over elements is at each of them as often.

    Its samples fall where it waits, which is the first element of a line that comes from elsewhere.
    """
    seen: dict[_Walk, float] = defaultdict(float)
    here: dict[tuple[_Walk, int], int] = defaultdict(int)
    places: dict[_Walk, int] = defaultdict(int)
    for number, item in enumerate(items):
        for touch in (t for t in item.touches if t.walks):
            walk = _walk(touch)
            seen[walk] += touch.samples
            places[walk] += (walk, number) not in here
            here[(walk, number)] += 1
    return {(walk, number): seen[walk] / places[walk] / count for (walk, number), count in here.items()}


def _add(table: dict[int, _Weights], touch: Touch, item: int, weight: float) -> None:
    own = table.setdefault(touch.thread, {})
    own[(touch.function, item)] = own.get((touch.function, item), 0.0) + weight


@dataclass(frozen=True, slots=True)
class _Met:
    """Whom a thread meets at an item: what they do to the line, by item, how often that was seen, and when."""

    causes: Mapping[int, float]
    uses: float
    how: frozenset[Concurrency]


class _AtItem:
    """What threads that wait at one item meet there: the same for all of a thread's functions."""

    def __init__(self, line: LineUse, uses: _Uses, item: int) -> None:
        self._line, self._uses, self._item = line, uses, item
        self._met: dict[tuple[int, bool], _Met] = {}
        self._causes: dict[tuple[int, bool], Mapping[int, float]] = {}  # what a thread does is the same for all others

    def met(self, thread: int, *, of_writes: bool) -> _Met:
        """By a thread that reads or writes there."""
        key = (thread, of_writes)
        if key not in self._met:
            others = self._uses.disturbers(of_writes=of_writes)
            how = {t: self._line.overlap(t, thread).concurrency for t in others if t != thread}
            disturbers = [t for t, concurrency in how.items() if not concurrency.apart]
            causes: dict[int, float] = defaultdict(float)
            for t in disturbers:
                if (t, of_writes) not in self._causes:
                    self._causes[(t, of_writes)] = _causes(others[t], self._item)
                for cause, weight in self._causes[(t, of_writes)].items():
                    causes[cause] += weight
            seen = sum(self._uses.seen(t, thread, of_writes=of_writes) for t in disturbers)
            self._met[key] = _Met(causes, seen, frozenset(how.values()))
        return self._met[key]


def blame(line: LineUse, items: tuple[Item, ...]) -> Blame:
    """Share out the cost of every item among those who disturb it."""
    uses = _Uses(line, items)
    own = true = false = phased = awaited = 0.0
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    told: dict[Concurrency, float] = defaultdict(float)
    time_sliced = False
    for number, item in enumerate(items):
        costs: dict[tuple[int, str, bool], dict[str, float]] = defaultdict(lambda: defaultdict(float))
        later: dict[tuple[int, str, bool], float] = defaultdict(float)
        waiting = item.waiting
        for touch in item.touches:
            if touch.reads and not touch.writes and (touch.thread, touch.function) in waiting:
                # Time until somebody writes the value, wherever it lies.
                told[line.waited(touch.thread, item.writers)] += touch.cost
                pairs[(number, number)] += touch.cost
                true += touch.cost
            elif touch.spin_waits and touch.kind is AccessKind.STORE:
                own += touch.cost  # it keeps what is waited for elsewhere, and holds nobody up
            else:
                group = (touch.thread, touch.function if touch.writes else "", touch.writes)
                costs[group][touch.function] += touch.cost
                later[group] += touch.awaited
        at_item = _AtItem(line, uses, number)
        for group, waits in costs.items():
            thread, _, of_writes = group
            cost = sum(waits.values())
            met = at_item.met(thread, of_writes=of_writes)
            total = sum(met.causes.values())
            if total <= 0:
                own += cost
                phased += cost if met.how else 0.0
                time_sliced |= Concurrency.TIME_SLICED in met.how
                continue
            explained = min(cost, numbers.WAITS_PER_USE * met.uses)
            own += cost - explained
            together = uses.together(thread, waits, number, of_writes=of_writes)
            for cause, weight in met.causes.items():
                part = explained * weight / total
                # An access waits for the whole line: one that goes with it would wait for its own bytes' users instead.
                moves = part * together.get(cause, 0.0)
                pairs[(cause, cause)] += moves
                pairs[(cause, number)] += part - moves
                if cause == number:
                    true += part
                else:
                    false += part - moves
                    awaited += (part - moves) * later[group] / max(cost, 1e-9)
                    true += moves
            told[Concurrency.CONCURRENT if Concurrency.CONCURRENT in met.how else Concurrency.UNKNOWN] += cost
    moved, picked = _between_locks(items, pairs)
    without = Concurrency.TIME_SLICED if time_sliced else Concurrency.PHASED if phased > 0 else Concurrency.UNKNOWN
    concurrency = max(told, key=lambda m: told[m], default=without)
    late = _late(line, items, uses)
    return Blame(
        items, own, true - moved, false + moved, dict(pairs), concurrency, phased, late, min(awaited, false), picked
    )


def _late(line: LineUse, items: tuple[Item, ...], uses: _Uses) -> float:
    """Of the time that may be waits for plain stores, what accesses to other items than those stored to cause."""
    if not line.late:
        return 0.0
    cost: dict[int, float] = defaultdict(float)
    for (thread, _), waited in line.late.items():
        cost[thread] += waited
    stores: dict[int, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    for number, item in enumerate(items):
        for touch in item.touches:
            if touch.thread in cost and touch.kind is AccessKind.STORE:
                stores[touch.thread][number][touch.function] += max(touch.samples, numbers.CODE_WEIGHT)
    out = 0.0
    for thread, by_item in stores.items():
        every = sum(sum(weights.values()) for weights in by_item.values())
        for number, waits in by_item.items():
            met = _AtItem(line, uses, number).met(thread, of_writes=True)
            together = uses.together(thread, waits, number, of_writes=True)
            total = max(sum(met.causes.values()), 1e-9)
            apart = sum(w * (1 - together.get(cause, 0.0)) for cause, w in met.causes.items() if cause != number)
            out += cost[thread] * sum(waits.values()) / every * apart / total
    return out


def _between_locks(items: tuple[Item, ...], pairs: dict[tuple[int, int], float]) -> tuple[float, frozenset[int]]:
    """Of locks in a row, any of which any thread takes, moves to their neighbours the most that room between them may
    save: how much it is, and which items.

    A thread that takes one loses its line to those who take others before it lets go, and waits for it twice.  On a
    line of its own, a lock was last with another thread as often as there are others: that part stays.
    """
    picks = {n: [t for t in item.touches if t.walks and _takes(t)] for n, item in enumerate(items)}
    locks = [n for n, touches in picks.items() if touches]
    threads = {t.thread for touches in picks.values() for t in touches}
    # Who lets go, or tries until it gets one.
    locking = {t.thread for n in locks for t in items[n].touches if t.kind is AccessKind.STORE or t.lock_call}
    locking |= {t.thread for touches in picks.values() for t in touches if t.spin_waits}
    if len(locks) < 2 or len(threads) < 2 or not threads <= locking:
        return 0.0, frozenset()
    moved = 0.0
    for number in locks:
        item = items[number]
        waiting = sum(t.cost for t in item.touches if t.waits)  # for the lock, not for the line
        part = pairs.get((number, number), 0.0) * (1 - waiting / max(item.cost, 1e-9)) / len(threads)
        pairs[(number, number)] = pairs.get((number, number), 0.0) - part
        for other in locks:
            if other != number:
                pairs[(other, number)] = pairs.get((other, number), 0.0) + part / (len(locks) - 1)
        moved += part
    return moved, frozenset(locks)


def _takes(touch: Touch) -> bool:
    return touch.atomic and touch.kind is AccessKind.RMW


def _causes(uses: Mapping[tuple[str, int], float], victim: int) -> Mapping[int, float]:
    """What one thread's accesses weigh for a victim item, by item."""
    functions: dict[str, dict[int, float]] = {}
    for (function, item), weight in uses.items():
        functions.setdefault(function, {})[item] = weight
    out: dict[int, float] = defaultdict(float)
    for weights in functions.values():
        same = weights.get(victim, 0.0)
        others = {i: w - same for i, w in weights.items() if i != victim and w > same}
        if same:
            out[victim] += same
        # The item of a function that is used most takes the line that often; the others come with it.
        most, total = max(others.values(), default=0.0), sum(others.values())
        for i, w in others.items():
            out[i] += w * most / total
    return out


def _weight(touch: Touch, line: LineUse) -> float:
    """How often a touch was seen; one that only code says, by what else of its function was seen on the line."""
    if touch.provenance is not Provenance.CODE:
        return float(touch.samples)
    beside = (t.samples for t in line.touches if t.thread == touch.thread and t.function == touch.function)
    return max(numbers.CODE_WEIGHT, numbers.CODE_SHARE * max(beside, default=0))
