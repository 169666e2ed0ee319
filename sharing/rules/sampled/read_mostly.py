"""Data that is only read is disturbed by a writer on its line, sampled.

What it does: finds a line on which threads were sampled reading bytes that nobody writes, while another thread writes
other bytes of the line.

Why is this bad?  What is only read stays in every cache for free, unless somebody writes beside it.  Then each read
after a write fetches the line again.

Example: a switch that every request looks at, beside a counter that every request updates.

    int verbose;
    long requests;

Use instead: the counter on a line of its own, or the switch among other data that is only read.

    struct alignas(64) Requests { long value; };
    static Requests requests;
"""

from __future__ import annotations

from collections.abc import Iterator

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
    subject,
)


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """The worst pair, where one of the two is hardly ever written."""
    writer, victim = line.blame.worst()
    if writer < 0 or not disturbed(line, ctx):
        return
    item = line.items[victim]
    if item.write_weight > numbers.READ_ONLY * item.read_weight or line.actors[victim].is_lock:
        return
    if _readers_write(line, victim):
        return
    text = (
        f"{subject(victim, line)}, shares {line.label} with {subject(writer, line)}: each write takes the line "
        f"from the readers"
    )
    items, separate = (writer, victim), (writer,)
    wording = Wording(text)
    yield between_bytes(RULE.id, Verdict.READ_MOSTLY_DISTURBED, line, ctx, wording, items=items, separate=separate)


def _readers_write(line: SampledLine, victim: int) -> bool:
    """Do its readers write beside it themselves?  Then the line would not stay with them: both sides disturb."""
    cost: dict[tuple[int, str], float] = {}
    for touch in line.items[victim].touches:
        if touch.reads and not touch.writes:
            key = (touch.thread, touch.function)
            cost[key] = cost.get(key, 0.0) + touch.cost
    writers = {
        (t.thread, t.function)
        for number, item in enumerate(line.items)
        for t in item.touches
        if number != victim and t.writes and t.samples
    }
    return sum(c for key, c in cost.items() if key in writers) > numbers.READERS_WRITE * sum(cost.values())


RULE = SampledRule(
    id="sampled-read-mostly",
    name="Data that is only read is disturbed by a writer on its line, sampled",
    summary="Threads were sampled reading bytes that nobody writes, on a line that another thread writes.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
