"""Memory that no variable is of (the heap, stacks), of which threads were seen to take lines from each other since.

Owns what the two profiles say of it, and its causes, costliest first.  What became of the types of records there is
``records``', variables are ``seenpairs``'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sharing.explain.causes.base import Builds, quoted
from sharing.explain.causes.layout import strengths
from sharing.explain.causes.run import Run
from sharing.explain.seenpairs import SampledPair, seen_in
from sharing.judge.sampled.verdict import Verdicts
from sharing.model.comparison import Cause, CauseKind
from sharing.sampled.lineuse.use import Totals

MAX_CAUSES = 5


@dataclass(frozen=True, slots=True)
class Disturbed:
    """Two things in memory that threads take from each other in the new build.

    ``before``: they did so in the old one, at a cost of a lower severity.
    """

    seen: SampledPair
    before: SampledPair | None = None


def disturbed_since(old: Verdicts, new: Verdicts) -> tuple[Disturbed, ...]:
    """What the new profile shows and the old one does not, or not as bad; costliest first.

    It is the same where the names are; of memory that has none in one of them, where a function is.
    """
    before = _in_memory(old)
    out: dict[object, Disturbed] = {}
    for one in _in_memory(new):
        same = max((other for other in before if _same(one, other)), key=_badness, default=None)
        if same is None or _badness(same) < _badness(one):
            out.setdefault(_plain(one) if one.named else one.functions, Disturbed(one, same))
    return tuple(out.values())[:MAX_CAUSES]


def causes_of(
    found: Iterable[Disturbed], totals: tuple[Totals, Totals], builds: Builds, relaid: Callable[[SampledPair], str]
) -> tuple[Cause, ...]:
    """A cause each.  ``totals`` are those of both profiles; ``relaid`` says how the records were laid out anew."""
    return tuple(_cause(one, totals, builds.runs[1], relaid(one.seen)) for one in found)


def _cause(found: Disturbed, totals: tuple[Totals, Totals], new: Run, relaid: str) -> Cause:
    seen = found.seen
    first, second = map(quoted, seen.names)
    whom = f"two {first}" if first == second else f"{first} and {second}"
    before = "which they were not seen to do in the old build"
    if found.before is not None:
        before = f"in the old build {_share(found.before, totals[0])}"
    what = f"threads take {whom} from each other, {_share(seen, totals[1])}, {before}"
    functions = f"used by the functions {', '.join(seen.functions)}"
    return Cause(
        kind=CauseKind.LAYOUT,
        confidence=seen.sight.confidence,
        strength=strengths()[seen.draft.severity],
        summary=f"{relaid}; {what}" if relaid else what,
        symbols=tuple(dict.fromkeys(seen.names)),
        evidence=(seen.sight.text, *((functions,) if seen.functions else ())),
        confirm=new.shared_lines(f"HITM on the line of {seen.names[0]}"),
        refute=(f"rebuild with {seen.names[0]} alone on its line", f"{new.timed}: still slow"),
    )


def _share(seen: SampledPair, totals: Totals) -> str:
    return f"{totals.share(seen.draft.cost).text} of {totals.measure}"


def _in_memory(verdicts: Verdicts) -> list[SampledPair]:
    return [one for one in seen_in(verdicts) if one.line.use.link < 0]


def _badness(seen: SampledPair) -> int:
    return seen.draft.severity.rank


def _same(one: SampledPair, other: SampledPair) -> bool:
    if one.named and other.named:
        return _plain(one) == _plain(other)
    return bool(set(one.functions) & set(other.functions))


def _plain(seen: SampledPair) -> frozenset[str]:
    """Without the numbers of elements."""
    return frozenset(re.sub(r"\[\d*\]", "[]", name) for name in seen.names)
