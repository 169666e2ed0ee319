"""What functions that are not the same differ in: in what they do, or in numbers that follow from an edit elsewhere.

Owns the table of what is no change: line numbers, and where members of records that grew are.  Which functions are
compared is ``bodies``', what their numbers are ``linenumbers``' and ``growth``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sharing.explain.growth import Growth, growths, size_of
from sharing.explain.identity import Ids
from sharing.explain.linenumbers import line_shifts, may_be_lines
from sharing.explain.moves import Moves
from sharing.model.plural import count


@dataclass(frozen=True, slots=True)
class Bodies:
    """Rows of the pairs of functions of equal size that differ: ``changed`` in their instructions.

    The others did not change: ``lines`` differ in line numbers alone, ``relaid`` in where members of records that grew
    (``grown``) or tables of functions are.  Of ``maybe`` that is not sure: they differ besides in numbers that may be
    lines, before and after.
    """

    changed: Ids
    lines: frozenset[int] = frozenset()
    relaid: frozenset[int] = frozenset()
    maybe: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    grown: tuple[Growth, ...] = ()
    sizes: tuple[tuple[int, int] | None, ...] = ()  # of these, before and after, where code tells
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> frozenset[int]:
        """Those that do what they did, or may."""
        return self.lines | self.relaid | self.maybe.keys()


def sorted_out(moves: Mapping[int, Moves | None]) -> Bodies:
    """What became of functions that are not the same, by how they differ; None is otherwise than in numbers."""
    known = {pair: one for pair, one in moves.items() if one is not None}
    shifts, doubtful, grown = line_shifts(known), may_be_lines(known), tuple(growths(known))
    lines, relaid, maybe = set(), set(), {}
    for pair, one in known.items():
        left = one
        for growth in grown:
            left = growth.explains(left)
        numbers = {(a, b) for a, b in left.numbers if b - a not in shifts}
        if left.distances or not numbers <= doubtful:
            continue
        if numbers:
            maybe[pair] = tuple(sorted(numbers))
        elif one.distances or left.numbers != one.numbers:
            relaid.add(pair)
        else:
            lines.add(pair)
    sizes = tuple(size_of(one, known) for one in grown)
    changed = np.array([pair for pair in moves if not {pair} & (lines | relaid | maybe.keys())], np.int64)
    return Bodies(changed, frozenset(lines), frozenset(relaid), maybe, grown, sizes, tuple(_said(len(lines), grown)))


def _said(lines: int, grown: Iterable[Growth]) -> Iterator[str]:
    if lines:
        yield f"code: {count(lines, 'function')} differ in the line numbers of their source alone"
    for one in grown:
        if one.of_functions:
            yield (
                f"code: a table of functions, as of virtual ones, {one.verb} by {abs(one.by):#x} from {one.mostly:#x} "
                f"onwards: {count(len(one.functions), 'function')} call through it"
            )
