"""Threads wait for different bytes of one line, sampled.

What it does: finds a line on which several threads were sampled, at the same time, on bytes that they do not share,
and of which at least one thread writes some.

Why is this bad?  A write takes the whole line from every other processor.  Threads that have nothing to do with each
other wait for each other at memory speed.

Example: two counters of one struct, each updated by a thread of its own.

    struct { long in; long out; } traffic;

Use instead: a line for each.

    struct { alignas(64) long in; alignas(64) long out; } traffic;

Evidence: the bytes of each sample come from the sampled registers or the sampled address; who writes is known from
samples, from accesses in the same straight run of code, or from the code of sampled functions, and is said.  Threads
that use the line one after the other (before and behind a barrier) are no finding.
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
    victims,
    when,
)


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """The two items that cost each other the most, with the others that suffer from the first."""
    first, second = line.blame.worst()
    if first < 0 or not disturbed(line, ctx):
        return
    more = tuple(i for i in victims(line, first) if i != second)
    true = [i for i in (first, second) if line.blame.true_of(i) > numbers.ITSELF_SHARED * line.items[i].cost]
    both = "".join(
        f"; {line.actors[i].name} itself is written by {len(line.items[i].writers)} threads: padding does not cure that"
        for i in true[:1]
    )
    if line.blame.picked:
        both = "; each thread takes any of these locks: room between them saves that or less, which record --solo tells"
    text = (
        f"{subject(first, line)}, and {subject(second, line)}, share {line.label}"
        f"{f' with {len(more)} more' if more else ''}: different bytes, one line, {when(line)}"
    )
    items, separate = (first, second, *more), (first,) if not more else (first, second)
    wording = Wording(text, both)
    yield between_bytes(RULE.id, Verdict.FALSE_SHARING, line, ctx, wording, items=items, separate=separate)


RULE = SampledRule(
    id="sampled-false-sharing",
    name="Threads wait for different bytes of one line, sampled",
    summary="Several threads were sampled on different bytes of one line at the same time, and one writes.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
)
