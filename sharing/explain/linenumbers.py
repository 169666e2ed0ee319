"""Numbers in code that say where its source is: ``__LINE__``, which assertions, logs and instruments hand on.

Owns how they are told from other constants.  A line added in front moves the numbers of all that follow, each another
one, by the same distance; a constant that the programmer changed goes from one value to one other.  What is handed on
only where an assertion failed is no change of what runs, be it a single number.  A number that is handed to a call and
moved a little may be a line, of which no others tell.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from sharing.explain import numbers
from sharing.explain.moves import Moves

Known = Mapping[int, Moves]  # by the row of a pair of functions


def line_shifts(known: Known) -> frozenset[int]:
    """How far lines moved: by what different numbers moved alike."""
    different: defaultdict[int, set[int]] = defaultdict(set)
    for before, after in (move for moves in known.values() for move in moves.numbers | moves.last):
        if max(before, after) <= numbers.LAST_LINE:
            different[after - before].add(before)
    return frozenset(by for by, lines in different.items() if len(lines) >= numbers.LINES_MOVED)


def may_be_lines(known: Known) -> set[tuple[int, int]]:
    """Numbers that moved as the line of a call may, of which too few moved alike to say so.

    What several functions load alike is a constant of them all.  Limits and sizes are round; of two lines hardly any.
    """
    functions = Counter(move for moves in known.values() for move in moves.numbers)
    handed = {move for moves in known.values() for move in moves.handed}
    return {
        (before, after)
        for before, after in handed
        if functions[before, after] < numbers.LINES_MOVED
        and 0 < before <= numbers.LAST_LINE
        and abs(after - before) <= numbers.LINE_MOVE
        and not (_is_round(before) and _is_round(after))
    }


def _is_round(number: int) -> bool:
    return number % numbers.ROUND == 0 or number % numbers.ROUND_DECIMAL == 0
