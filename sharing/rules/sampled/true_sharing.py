"""Several threads write the same bytes, sampled.

What it does: finds bytes that several threads were sampled writing at the same time.

Why is this bad?  The line moves from one processor to the next with each write, however much room there is around it.
Padding does not help; it is said so that nobody tries.

Example: a counter of all threads.

    static atomic_long requests;      // requests++ in every worker

Use instead: a counter for each thread, each on a line of its own, added up when it is read.

    struct alignas(64) Count { long value; } requests[MAX_THREADS];
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.finding import Severity, Verdict
from sharing.model.image import AccessKind
from sharing.rules.sampled.base import (
    SampledContext,
    SampledDraft,
    SampledLine,
    SampledRule,
    Wording,
    disturbed,
    padding_text,
    same_bytes,
    subject,
)
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import Provenance

COUNTED = "give each thread its own copy on a line of its own and add them up where the sum is read"
UPDATED = "update it less often (in batches, or only when it changes), or split it by purpose so that fewer meet"


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """The item that others disturb most by writing it too."""
    first = max(range(len(line.items)), key=line.blame.true_of, default=-1)
    if first < 0 or line.blame.true_of(first) <= 0 or line.actors[first].is_lock or disturbed(line, ctx):
        return
    mates = [i for i in range(len(line.items)) if line.blame.pairs.get((first, i), 0.0) > 0 and i != first]
    names = ", ".join(line.actors[i].name for i in mates[:3])
    evidence = (f"its line mates are slowed as well: {names}",) if names else ()
    item = line.items[first]
    text = f"{subject(first, line)}: {_who(item)} the same bytes; {padding_text(line)}"
    wording = Wording(text, evidence=evidence)
    items, advice = (first, *mates), COUNTED if _is_counter(item) else UPDATED
    yield same_bytes(RULE.id, Verdict.TRUE_SHARING, line, ctx, wording, items=items, advice=advice)


def _is_counter(item: Item) -> bool:
    """Updates whose result nobody uses, or a load and a store of the same function; nobody waits for its value."""
    seen = [t for t in item.touches if t.provenance is not Provenance.CODE]
    writes = [t for t in seen if t.writes]
    reading = {(t.thread, t.function) for t in seen if t.reads}
    if not writes or len(item.writers) < 2 or any(t.uses or t.spin_waits for t in seen):
        return False
    return all(t.kind is AccessKind.RMW or (t.thread, t.function) in reading for t in writes)


def _who(item: Item) -> str:
    writers = len(item.writers)
    return f"{writers} threads write" if writers > 1 else f"one thread writes and {len(item.threads) - 1} read"


RULE = SampledRule(
    id="sampled-true-sharing",
    name="Several threads write the same bytes, sampled",
    summary="Several threads were sampled writing the same bytes; padding does not help.",
    severity=Severity.LOW,
    page=__doc__,
    check=check,
)
