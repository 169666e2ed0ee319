"""Slots of threads packed into one line, sampled.

What it does: finds a line whose bytes are elements of one array, each written by a thread of its own at the same time
as the others.

Why is this bad?  Giving each thread its own element avoids locks but not the line: eight counters of eight bytes are
one line that all eight threads write.

Example:

    static long hits[MAX_THREADS];
    void *worker(void *arg) { for (;;) hits[(long)arg]++; }

Use instead: an element type rounded up to the line.  The attribute belongs to the element; on the array it only moves
the first element.

    struct alignas(64) Slot { long hits; };
    static Slot slot[MAX_THREADS];

Evidence: each element has one writer, the same functions write all of them, and they are equally far apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from sharing.model.finding import Severity, Verdict
from sharing.rules import numbers
from sharing.rules.sampled.base import (
    SampledContext,
    SampledDraft,
    SampledLine,
    SampledRule,
    Wording,
    between_bytes,
    disturbed,
    functions_of,
    threads_of,
)

_ELEMENT = re.compile(r"([^\[]*)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class _Slot:
    """An element: its items, what they are in it, and its place in the array (or the line, without a name)."""

    items: tuple[int, ...]
    number: int
    members: frozenset[str]


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """1. elements with one writer each, all different; 2. equally far apart; 3. written by the same functions."""
    if not disturbed(line, ctx):
        return
    slots = [slot for slot in _slots(line) if _own_writer(line, slot.items) >= 0]
    writers = [_own_writer(line, slot.items) for slot in slots]
    if len(slots) < 2 or len(set(writers)) < len(slots):
        return
    chosen = tuple(i for slot in slots for i in slot.items)
    owners = {line.actors[i].owner for i in chosen}
    elements = len(owners) == 1 and all(_ELEMENT.match(line.actors[i].name) for i in chosen)
    stride = _stride(line, slots) if elements else _even_step(line, slots)
    functions = [{t.function for i in slot.items for t in line.items[i].touches if t.writes} for slot in slots]
    if not stride or not set.intersection(*functions) or (not elements and len(slots) < numbers.UNNAMED_SLOTS):
        return
    arrays = {found[1] for i in chosen if (found := _ELEMENT.match(line.actors[i].name))}
    owner = next(iter(arrays or owners)) if len(arrays or owners) == 1 else f"{line.use.region.name.lower()} memory"
    touches = tuple(t for i in chosen for t in line.items[i].touches if t.writes)
    text = (
        f"{owner}: {len(slots)} elements of {stride} bytes on {line.label}, each written by a thread of its own "
        f"({threads_of(touches, line)}) in {', '.join(functions_of(touches))}: neighbouring elements take the line "
        f"from each other"
    )
    evidence = (f"stride {stride} bytes, {ctx.line_size // stride} elements per line",)
    wording = Wording(text, evidence=evidence)
    draft = between_bytes(RULE.id, Verdict.FALSE_SHARING, line, ctx, wording, items=chosen, separate=chosen[:1])
    yield replace(draft, together=tuple(slot.items for slot in slots))


def _slots(line: SampledLine) -> list[_Slot]:
    """Written items by element of one array; items of any other kind are a slot each.

    An element may be a struct, whose members are items of their own.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for i, (item, actor) in enumerate(zip(line.items, line.actors, strict=True)):
        if not any(t.writes for t in item.touches):
            continue
        found = _ELEMENT.match(actor.name)
        groups.setdefault((found[1], int(found[2])) if found else ("", item.start), []).append(i)
    return [
        _Slot(tuple(items), number, frozenset(_member(line.actors[i].name) for i in items))
        for (_, number), items in groups.items()
    ]


def _member(name: str) -> str:
    found = _ELEMENT.match(name)
    return name[found.end() :] if found else ""


def _stride(line: SampledLine, slots: list[_Slot]) -> int:
    """Bytes from one element to the next: as the type says, else as far as one member is from the same of another."""
    known = {line.actors[i].stride for slot in slots for i in slot.items} - {0}
    if len(known) == 1:
        return known.pop()
    for a, b in combinations(slots, 2):
        for member in sorted(a.members & b.members):
            first, second = (
                next(line.items[i].start for i in slot.items if _member(line.actors[i].name) == member)
                for slot in (a, b)
            )
            return abs((second - first) // (b.number - a.number))
    return 0


def _even_step(line: SampledLine, slots: list[_Slot]) -> int:
    """The smallest distance between items, if it divides all others."""
    steps = {b - a for a, b in pairwise(sorted(line.items[i].start for slot in slots for i in slot.items))}
    stride = min(steps)
    return 0 if any(step % stride for step in steps) else stride


def _own_writer(line: SampledLine, items: tuple[int, ...]) -> int:
    """The thread that makes nearly all writes to an element, -1 for none."""
    weight: dict[int, float] = {}
    for touch in (t for i in items for t in line.items[i].touches):
        if touch.writes:
            weight[touch.thread] = weight.get(touch.thread, 0.0) + max(touch.samples, 0.01)
    best = max(weight, key=lambda t: weight[t], default=-1)
    return best if best >= 0 and weight[best] >= numbers.SLOT_WRITER * sum(weight.values()) else -1


RULE = SampledRule(
    id="sampled-thread-slots",
    name="Slots of threads packed into one line, sampled",
    summary="Elements of one array on one line were each written by a thread of its own at the same time.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
