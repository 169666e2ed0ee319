"""Lock is contended, sampled.

What it does: finds a line on which threads were sampled waiting because others take the same lock.

Why is this bad?  A lock's own bytes are written by everyone who takes it.  No layout changes that, and separating the
data that it guards from it costs a second line for each critical section.  It is said so that nobody pads it.

Example: all threads take one mutex for each operation.

    pthread_mutex_lock(&cache.lock); cache.hits++; pthread_mutex_unlock(&cache.lock);

Use instead: shorter critical sections, a lock for each part of the data, or data for each thread.

    struct alignas(64) Part { pthread_mutex_t lock; long hits; } parts[16];
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.rules.sampled.base import (
    SampledContext,
    SampledDraft,
    SampledLine,
    SampledRule,
    Wording,
    padding_text,
    same_bytes,
    subject,
)
from sharing.sampled.lineuse.handmadelocks import KIND


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """The item with the most true sharing, where it is a lock."""
    first = max(range(len(line.items)), key=line.blame.true_of, default=-1)
    if first < 0 or line.blame.true_of(first) <= 0 or not line.actors[first].is_lock:
        return
    company = [i for i in range(len(line.items)) if i != first and line.items[i].cost > 0]
    beside = ", ".join(line.actors[i].name for i in company[:3])
    evidence = (
        (f"used with it on this line: {beside}; on separate lines, each critical section would transfer two lines",)
        if beside
        else ()
    )
    if line.actors[first].kind == KIND:
        why = (
            "each waiting thread also writes the lock, so every hand-over transfers the line, however the lock is laid "
            "out; separate lines for its words may save a few transfers, which only a measurement can show"
        )
    else:
        why = f"{padding_text(line)}: every thread that takes the lock writes these bytes"
    text, items = f"{subject(first, line)}, is contended", (first, *company)
    advice = "shorten the critical sections, split the lock, or give threads data of their own"
    wording = Wording(text, f"; {why}", evidence)
    yield same_bytes(RULE.id, Verdict.LOCK_CONTENTION, line, ctx, wording, items=items, advice=advice)


RULE = SampledRule(
    id="sampled-lock-contention",
    name="Lock is contended, sampled",
    summary="Threads were sampled waiting for the bytes of one lock; layout does not help.",
    severity=Severity.LOW,
    page=__doc__,
    check=check,
)
