"""Which members of one object need lines of their own, so that what is left on the line costs nobody anything.

Owns the trial of each member in memory.  That an object's members are what a line is about, and how the edit is
written, is ``sharing.judge.sampled.remedies``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sharing.model.finding import MAX_PARTICIPANTS
from sharing.rules import numbers
from sharing.rules.sampled.base import SampledDraft, SampledLine


def to_move(draft: SampledDraft, line: SampledLine) -> tuple[int, ...]:
    """Items of the draft to move: the fewest that leave nothing, and of equally many those that leave the least.

    What several threads use beside counters of one thread is one member to move; the counters are several.
    """
    first = draft.separate[0]
    seen = line.objects[first]
    inside = [
        i
        for i, other in enumerate(line.objects)
        if other is not None and seen is not None and other.address == seen.address
    ]
    candidates = [first, *(i for i in draft.items if i != first)][:MAX_PARTICIPANTS]
    best: tuple[int, ...] = (first,)
    for number in range(1, min(MAX_PARTICIPANTS, len(candidates) - 1) + 1):
        best = min(combinations(candidates, number), key=lambda moved: _left(inside, moved, line))
        if _left(inside, best, line)[0] < numbers.WORTH_LISTING * line.blame.false:
            break
    return best


def _left(inside: Sequence[int], moved: tuple[int, ...], line: SampledLine) -> tuple[float, int]:
    """What stays on the line costs, in samples; and how many pairs of it disturb each other, whatever was sampled."""
    pairs = list(combinations([i for i in inside if i not in moved], 2))
    return sum(line.blame.between(*pair) for pair in pairs), sum(_disturb(*pair, line) for pair in pairs)


def _disturb(a: int, b: int, line: SampledLine) -> bool:
    """Whether one thread writes one of them and another uses the other."""
    return _writes_beside(a, b, line) or _writes_beside(b, a, line)


def _writes_beside(a: int, b: int, line: SampledLine) -> bool:
    writers = {touch.thread for touch in line.items[a].touches if touch.writes}
    users = {touch.thread for touch in line.items[b].touches}
    return any(writer != user for writer in writers for user in users)
