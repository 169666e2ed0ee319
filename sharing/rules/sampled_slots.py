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

from collections.abc import Iterator
from itertools import pairwise

from sharing.model.finding import Severity, Verdict
from sharing.rules.base import Rule, Scope, no_lines
from sharing.rules.sampled_base import (
    SampledContext,
    SampledDraft,
    SampledLine,
    disturbed,
    functions_of,
    grade_cost,
    split_text,
    tail,
    threads_of,
)

OWN_WRITER = 0.9  # share of an element's writes by its one thread
UNNAMED_SLOTS = 3  # two equal neighbours may be members of one struct


def check_samples(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """1. items with one writer each, all different; 2. equally far apart; 3. written by the same functions."""
    if not disturbed(line, ctx):
        return
    slots = [i for i in range(len(line.items)) if _own_writer(line, i) >= 0]
    writers = [_own_writer(line, i) for i in slots]
    if len(slots) < 2 or len(set(writers)) < len(slots):
        return
    starts = [line.items[i].start for i in slots]
    steps = {b - a for a, b in pairwise(starts)}
    stride = min(steps)
    owners = {line.actors[i].owner for i in slots}
    elements = len(owners) == 1 and all("[" in line.actors[i].name for i in slots)
    functions = [{t.function for t in line.items[i].touches if t.writes} for i in slots]
    same = set.intersection(*functions)
    if not same or any(step % stride for step in steps) or (not elements and len(slots) < UNNAMED_SLOTS):
        return
    owner = next(iter(owners)) if len(owners) == 1 else f"{line.use.region.name.lower()} memory"
    touches = tuple(t for i in slots for t in line.items[i].touches if t.writes)
    severity = grade_cost(line.blame.false, line, ctx)
    yield SampledDraft(
        rule=RULE.id,
        severity=severity,
        verdict=Verdict.FALSE_SHARING,
        items=tuple(slots),
        separate=tuple(slots[:1]),
        message=(
            f"{owner}: {len(slots)} elements of {stride} bytes on {line.label}, each written by a thread of its own "
            f"({threads_of(touches, line)}) in {', '.join(functions_of(touches))}: neighbouring elements take the line "
            f"from each other{tail(line.blame.false, severity, line, ctx)}"
        ),
        evidence=(f"stride {stride} bytes, {ctx.line_size // stride} elements to a line", split_text(line)),
        cost=line.blame.false,
    )


def _own_writer(line: SampledLine, number: int) -> int:
    """The thread that makes nearly all writes to an item, -1 for none."""
    weight: dict[int, float] = {}
    for touch in line.items[number].touches:
        if touch.writes:
            weight[touch.thread] = weight.get(touch.thread, 0.0) + max(touch.samples, 0.01)
    best = max(weight, key=lambda t: weight[t], default=-1)
    return best if best >= 0 and weight[best] >= OWN_WRITER * sum(weight.values()) else -1


RULE = Rule(
    id="sampled-thread-slots",
    name="Slots of threads packed into one line, sampled",
    summary="Elements of one array on one line were each written by a thread of its own at the same time.",
    severity=Severity.HIGH,
    scope=Scope.SAMPLED,
    check=no_lines,
    page=__doc__,
    check_samples=check_samples,
)
