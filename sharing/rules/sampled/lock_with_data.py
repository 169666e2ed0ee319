"""Lock and other data on one line, sampled.

What it does: finds a line on which threads were sampled waiting, of which a lock and data that is also used without
the lock are two parts.

Why is this bad?  Each attempt to take the lock writes the line.  A thread that only reads the data beside it waits for
the line each time, and takes it away from the lock's holder.

Example: a mutex whose hot bytes 0–15 share a line with a list head that scans look at without the lock.

    static pthread_mutex_t lock;
    static struct item *unused;       // next on the same line

Use instead: a type of its own for the lock, aligned to the line and rounded up to it.

    struct alignas(64) LockLine { pthread_mutex_t value; };
    static LockLine lock;

Evidence: samples on both, from several threads that use the line at the same time.  Data that is used by functions
that take the lock is its company, not its victim: then the finding is the contention of the lock.
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
    """1. the lock and the item that cost each other the most; 2. not data that is used under the lock alone."""
    if not disturbed(line, ctx):
        return
    pairs = [
        (line.blame.between(lock, data), lock, data)
        for lock, actor in enumerate(line.actors)
        for data, other in enumerate(line.actors)
        if actor.is_lock and not other.is_lock and line.under_lock.get((lock, data), 0.0) < numbers.OWN_DATA
    ]
    cost, lock, data = max(pairs, default=(0.0, 0, 0))
    if cost < numbers.LOCK_AND_DATA * line.blame.false or cost <= 0:
        return
    text = (
        f"{subject(lock, line)}, shares {line.label} with {subject(data, line)}; each lock operation takes the "
        f"line from those who use the data"
    )
    items, separate = (lock, data), (lock,)
    yield between_bytes(RULE.id, Verdict.FALSE_SHARING, line, ctx, Wording(text), items=items, separate=separate)


RULE = SampledRule(
    id="sampled-lock-with-data",
    name="Lock and other data on one line, sampled",
    summary="Threads were sampled waiting for a line that holds a lock and data that is used without it.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
