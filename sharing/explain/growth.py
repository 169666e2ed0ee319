"""Records that grew, told by code alone: in many functions distances behind pointers became longer by the same.

Owns what makes them one record's and from where on it grew.  Names and members take debug information (``behind``):
here a record is known by where it grew and by how much.  A table of functions, as of virtual ones, grows likewise and
is told by the calls through it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from sharing.explain import numbers
from sharing.explain.linenumbers import Known
from sharing.explain.moves import Moves


@dataclass(frozen=True, slots=True)
class Growth:
    """What moved by ``by`` bytes from ``first`` on, as far behind a pointer before, and the functions that say so.

    ``mostly``: nearly all of these functions reach no nearer member that moved.  ``of_functions``: it is a table of
    functions.  ``functions`` are rows of pairs.
    """

    first: int
    mostly: int
    by: int
    functions: frozenset[int]
    of_functions: bool

    @property
    def verb(self) -> str:
        return "grew" if self.by > 0 else "shrank"

    def explains(self, moves: Moves) -> Moves:
        """What is left of a function's moves without what follows from it: distances, and the record's size."""

        def rest(some: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
            return frozenset((a, b) for a, b in some if b - a != self.by or a < self.first)

        return Moves(
            rest(moves.numbers), moves.last, rest(moves.handed), rest(moves.members), moves.called, rest(moves.added)
        )


def growths(known: Known) -> list[Growth]:
    """The records and tables that grew or shrank, those of most functions first."""
    distances: defaultdict[int, Counter[int]] = defaultdict(Counter)  # functions, by how far and from where they moved
    for moves in known.values():
        for by, before in {(after - before, before) for before, after in moves.members}:
            distances[by][before] += 1
    out = []
    for by, functions in distances.items():
        usual = [before for before, many in functions.items() if many >= numbers.GREW_IN]
        if len(usual) < numbers.MEMBERS_MOVED:
            continue
        first = min(usual)
        told = {
            row: moves
            for row, moves in known.items()
            if any(after - before == by and before >= first for before, after in moves.members)
        }
        through = sum(any(after - before == by for before, after in moves.called) for moves in told.values())
        nearest = sorted(min(a for a, b in moves.members if b - a == by and a >= first) for moves in told.values())
        mostly = nearest[int(numbers.GREW_ELSEWHERE * len(nearest))]
        out.append(Growth(first, mostly, by, frozenset(told), 2 * through >= len(told)))
    return sorted(out, key=lambda one: (-len(one.functions), one.first, one.by))


def size_of(growth: Growth, known: Known) -> tuple[int, int] | None:
    """The size of the record before and after, where functions load such numbers as follow from its growth."""
    sizes = Counter(
        (before, after)
        for moves in known.values()
        for before, after in moves.numbers | moves.last
        if after - before == growth.by and before > growth.mostly
    )
    if not sizes:
        return None
    size, many = sizes.most_common(1)[0]
    return size if many >= numbers.GREW_IN else None
