"""What several passes ask of one table is computed once.

Owns how long a result is kept: as long as the table is, and while all else that it is computed from stays the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from sharing.model.image import Table

_T = TypeVar("_T")


class Kept(Generic[_T]):
    """Results by the table that they are computed of.  Nobody changes a table, or what is returned."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[object, ...], _T]] = {}

    def of(self, table: Table, others: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """What ``make`` returns for the table and these ``others``, which are compared by identity."""
        known = self._known.get(id(table))
        if known is not None and all(a is b for a, b in zip(known[0], others, strict=True)):
            return known[1]
        made = make()
        if known is None:
            weakref.finalize(table, self._known.pop, id(table), None).atexit = False
        self._known[id(table)] = others, made
        return made
