"""Access straddles two lines, sampled.

What it does: finds instructions that were sampled with an operand that lies on two lines, where the operand is atomic
or several threads use it.

Why is this bad?  An atomic instruction over a line boundary locks the whole bus on x86 (a split lock, hundreds of times
slower) and is not atomic elsewhere.  Other accesses need two lines, and lose either to any writer of both.

Example:

    struct __attribute__((packed)) rec { char tag[7]; long refs; };   // refs may start at byte 63

Use instead: natural alignment.

    struct rec { alignas(8) long refs; char tag[7]; };
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.basics import numbers as shared
from sharing.model.finding import Severity, Verdict
from sharing.model.plural import count
from sharing.rules import numbers
from sharing.rules.sampled.base import SampledContext, SampledDraft, SampledLine, SampledRule, grade_cost, tail


def check(line: SampledLine, ctx: SampledContext) -> Iterator[SampledDraft]:
    """The costliest straddling operand that is atomic, or that several threads use."""
    base = line.use.address
    for split in line.use.splits:
        if split.size > shared.SCALAR_BYTES or (not split.atomic and len(split.threads) < 2):
            continue
        at = split.place - base
        item = next((i for i, x in enumerate(line.items) if x.start <= at < x.end), -1)
        if item < 0:
            continue
        if split.atomic:
            heavy = ctx.totals.share(split.cost).low >= numbers.ATOMIC_FROM
            severity = Severity.HIGH if heavy else Severity.MEDIUM
        else:
            severity = grade_cost(split.cost, line, ctx).lowered(numbers.LESS)
        first = line.use.size - at
        what = "atomic instruction" if split.atomic else "access"
        yield SampledDraft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.SPLIT_ACCESS,
            items=(item,),
            separate=(item,),
            message=(
                f"{line.actors[item].name}: {what} of {split.size} bytes in {', '.join(split.functions[:3])} straddles "
                f"{line.label} and the next, {first} bytes before and {split.size - first} after the boundary"
                f"{tail(split.cost, severity, line, ctx)}"
            ),
            evidence=(f"{count(split.samples, 'sample')} with this operand",),
            cost=split.cost,
        )
        return


RULE = SampledRule(
    id="sampled-split-access",
    name="Access straddles two lines, sampled",
    summary="An instruction was sampled with an atomic or shared operand that lies on two lines.",
    severity=Severity.HIGH,
    page=__doc__,
    check=check,
    exclusive=False,
)
