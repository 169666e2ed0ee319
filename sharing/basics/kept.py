"""What several passes ask of one table is computed once.

Owns how long a result is kept: as long as the table is, and while all else that it is computed from stays the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sharing.model.image import Table

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """Results by the table that they are computed of.  Nobody changes a table, or what is returned."""

    def __init__(self, *, of_places: bool = False) -> None:
        """``of_places``: results that depend on where rows are and whom they are of, not on how often they are done."""
        self._known: dict[int, tuple[tuple[object, ...], _T]] = {}
        if of_places:
            _of_places.append(self)

    def of(self, table: Table, others: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """What ``make`` returns for the table and these ``others``, which are compared by identity."""
        known = self._known.get(id(table))
        if known is not None and all(a is b for a, b in zip(known[0], others, strict=True)):
            return known[1]
        made = make()
        self._note(table, others, made)
        return made

    def _note(self, table: Table, others: tuple[object, ...], made: _T) -> None:
        if id(table) not in self._known:
            weakref.finalize(table, self._known.pop, id(table), None).atexit = False
        self._known[id(table)] = others, made

    def hand_on(self, table: Table, copy: Table) -> None:
        """What is known of a table holds of its copy too."""
        if (known := self._known.get(id(table))) is not None:
            self._note(copy, *known)


_of_places: list[Kept[Any]] = []


def same_places(table: Table, copy: Table) -> Table:
    """The copy, of which is known what is known of the places of the table: it differs in how often they are passed."""
    for kept in _of_places:
        kept.hand_on(table, copy)
    return copy
