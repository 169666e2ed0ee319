"""What instructions access behind pointers, as debug information tells: which record, or which array's element.

Owns the plain values.  Who reads them from a file is ``linemate.auditing.recordplaces``; what they say of objects is
``recordobjects``'s and ``chosenelements``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from sharing.model.image import Table


class Place(msgspec.Struct, frozen=True):
    """What an instruction accesses: the byte ``offset`` of an object of the record ``name``.

    ``exact``: else of an element of an array of such objects, of which nothing tells which.
    """

    name: str
    offset: int
    exact: bool


class ChosenElement(msgspec.Struct, frozen=True):
    """What an instruction accesses: the byte ``offset`` of an element of ``size`` bytes of an array; which one nothing
    tells.

    A pointer leads to the array, the member ``word`` of the record ``holder`` or a static variable where that is "".
    Of ``count`` elements the array is that member itself.  ``record`` is the element's type, "" where it is none, or
    such a member's.  ``walks``: a loop goes from element to element.  ``by``: records other than the holder, from
    objects of which the number is loaded that chooses the element.
    """

    holder: str
    word: str
    record: str
    size: int
    count: int
    offset: int
    atomic: bool
    walks: bool
    by: frozenset[str] = frozenset()

    def name(self, places: Places) -> str:
        """As reports have it."""
        if self.record:
            return places.shown(self.record)
        if self.count:
            return f"{places.shown(self.holder)}.{self.word}"
        return f"*{self.holder}.{self.word}" if self.holder else f"*{self.word}"


class Places(msgspec.Struct, frozen=True):
    """By address of the instruction; ``plain``: the code is C, where records are called ``struct``, but for those
    ``without_tag``, which only a typedef names."""

    at: Mapping[int, Place]
    plain: bool = False
    language: str = ""  # of all units of the debug information, "" where they differ
    handed: Mapping[tuple[int, int], Place] = {}  # by (call, argument): what that leads to
    chosen: Mapping[int, ChosenElement] = {}  # as ``at``
    without_tag: frozenset[str] = frozenset()
    returned: Mapping[tuple[int, int], int] = {}  # as ``handed``: the function that returned it, by address

    def word(self, record: str) -> str:
        """What stands in front of the name of a record."""
        return "struct " if self.plain and record not in self.without_tag else ""

    def shown(self, record: str) -> str:
        """The name of a record as reports have it."""
        return self.word(record) + record


# Of sorted distinct addresses of instructions, and of rows of calls with the number of an argument.
ReadPlaces = Callable[[Table, Table], Places]
