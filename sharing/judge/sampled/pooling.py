"""Lines with few samples each that are one array or one kind of object: judged together.

Owns which thin lines belong together and what their sum must show.  Patterns are ``sharing.rules``'.

Two threads that work on neighbouring elements all along an array leave a few samples on each of its many lines.  None
of these says much alone.  Together they must show four things: both threads worked there at the same time; both wrote,
since what one only reads the other wrote before; each kept to elements of its own, while lines that are handed over
whole show both threads at the same elements; and enough samples.  That the two met on one line at one moment stays
unproven, which the severity pays for.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sharing.judge import numbers
from sharing.rules.sampled.base import SampledLine
from sharing.sampled.lineuse.overlap import overlap
from sharing.sampled.lineuse.use import Concurrency, LineUse, Provenance, ThreadName


def pools(lines: Sequence[SampledLine]) -> list[tuple[SampledLine, ...]]:
    """Groups of thin lines that show together that threads keep to elements of their own on shared lines."""
    groups: dict[tuple[object, ...], list[SampledLine]] = defaultdict(list)
    for line in lines:
        if line.blame.false > 0 and len({t.thread for t in line.use.touches if t.provenance is Provenance.SAMPLE}) > 1:
            groups[_kind(line)].append(line)
    out = []
    for group in groups.values():
        least = numbers.MIN_NAMED if group[0].use.link >= 0 else numbers.MIN_NAMELESS
        if len(group) < least or sum(line.use.samples for line in group) < numbers.MIN_POOLED:
            continue
        if own_elements(group) and _at_once([line.use for line in group], _writers(group)):
            out.append(tuple(sorted(group, key=lambda line: -line.blame.false)))
    return out


def pooled(group: Sequence[SampledLine]) -> SampledLine:
    """The costliest of them as if it had it all."""
    first = group[0]
    own, true, false = (sum(getattr(line.blame, part) for line in group) for part in ("own", "true", "false"))
    # Pairs of items keep their parts of what is false and of what is true.
    apart, same = false / first.blame.false, true / first.blame.true if first.blame.true > 0 else 1.0
    pairs = {(a, b): cost * (same if a == b else apart) for (a, b), cost in first.blame.pairs.items()}
    blame = replace(first.blame, own=own, true=true, false=false, pairs=pairs, concurrency=Concurrency.UNKNOWN)
    return replace(first, blame=blame, gain=None, dealt=True)


def _kind(line: SampledLine) -> tuple[object, ...]:
    """The variable, or the memory and the functions that are on it."""
    use = line.use
    if use.link >= 0:
        owners = frozenset(actor.owner for actor in line.actors)
        return (use.module, owners if len(owners) == 1 else use.link)
    functions = frozenset(t.function for t in use.touches if t.provenance is Provenance.SAMPLE)
    return (use.region, use.space, functions, frozenset(use.threads))


def _writers(group: Sequence[SampledLine]) -> set[ThreadName]:
    """A thread that waits for a line's first element and one that is seen to write its last make a queue as well."""
    return {line.use.threads[t.thread] for line in group for t in line.use.touches if t.writes}


def own_elements(group: Sequence[SampledLine]) -> bool:
    """Do samples of two threads avoid the same items more than samples that are dealt out at random would?

    Two samples on one line are of one item as often as two on any of the lines are at one place: a line with a sample
    of each thread does not tell that by itself.
    """
    places: Counter[int] = Counter()
    met = crossing = 0.0
    for line in group:
        by_thread: Counter[int] = Counter()
        by_item: Counter[int] = Counter()
        both: Counter[tuple[int, int]] = Counter()
        for item in line.items:
            for touch in item.touches:
                if touch.provenance is Provenance.SAMPLE:
                    by_thread[touch.thread] += touch.samples
                    by_item[item.start] += touch.samples
                    both[(item.start, touch.thread)] += touch.samples
        places += by_item
        crossing += (by_thread.total() ** 2 - sum(n * n for n in by_thread.values())) / 2
        met += (sum(n * n for n in by_item.values()) - sum(n * n for n in both.values())) / 2
    count = places.total()
    if count < 2:
        return False
    expected = crossing * sum(n * (n - 1) for n in places.values()) / (count * (count - 1))
    return expected >= numbers.MIN_EXPECTED and met <= numbers.OWN_ELEMENTS * expected


def _at_once(lines: Sequence[LineUse], writers: set[ThreadName]) -> bool:
    """Are two threads that write on the group's lines at the same time?"""
    moments: dict[ThreadName, list[tuple[int, int]]] = defaultdict(list)
    for line in lines:
        for thread, time, cpu in line.moments:
            moments[line.threads[thread]].append((time, cpu))
    tables = {}
    for name, own in moments.items():
        own.sort()
        tables[name] = np.array([t for t, _ in own], np.uint64), np.array([cpu for _, cpu in own], np.int64)
    return any(
        overlap(tables[a][0], tables[b][0], tables[a][1], tables[b][1]).concurrency is Concurrency.CONCURRENT
        for a in tables
        for b in tables
        if (a.pid, a.tid) < (b.pid, b.tid) and a in writers and b in writers
    )
