"""Bisection: finding one change with few questions, by a search that can step aside where there is no answer.

Owns the order of questions.  What is asked is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Answer(StrEnum):
    OLD = "as at the old end"
    NEW = "as at the new end"
    NONE = "no answer"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """``suspects`` are positions of which one made the change; ``asked`` what was answered, in order."""

    suspects: tuple[int, ...]
    asked: tuple[tuple[int, Answer], ...]


def narrow_down(last: int, ask: Callable[[int], Answer]) -> Narrowed:
    """Find where the answer changes between position 0 (old) and ``last`` (new); neither is asked.

    Without missing answers that takes log2(last) questions, rounded up.  A position without an answer is left for its
    neighbours, the nearest to the middle first; where all in between have none, all of them are suspects.
    """
    old, new = 0, last
    mute: set[int] = set()
    asked: list[tuple[int, Answer]] = []
    while True:
        left = [i for i in range(old + 1, new) if i not in mute]
        if not left:
            return Narrowed(tuple(range(old + 1, new + 1)), tuple(asked))
        middle = (old + new) / 2
        at = min(left, key=lambda i: (abs(i - middle), i))
        answer = ask(at)
        asked.append((at, answer))
        if answer is Answer.OLD:
            old = at
        elif answer is Answer.NEW:
            new = at
        else:
            mute.add(at)
