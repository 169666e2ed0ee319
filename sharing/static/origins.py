"""Where in the source accesses are and which locks are held there, for images that come with their source.

Owns the reading of ``Image.origins``.  Which locks guard an object is inferred from them by majority, as Clang's
thread-safety analysis has it stated and RacerD infers it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from sharing.model.image import Image, Table
from sharing.static import numbers

_NOTHING: frozenset[int] = frozenset()


class AccessOrigins:
    """Answers by row of the judged accesses; ``name_of`` names the object at an address.

    ``in_calls``: by address of a call the locks that it holds at what it does.  The lockset of an access that a callee
    makes is that of the call, and says nothing of them.
    """

    def __init__(
        self,
        image: Image,
        sites: Table,
        name_of: Callable[[int], str],
        entry: list[frozenset[int]],
        in_calls: dict[int, frozenset[int]],
        given_back: list[frozenset[int]] | None = None,
    ) -> None:
        self._image = image
        self._origins = image.origins
        self.known = image.origins is not None
        table, row = _columns(image, sites)
        self._file, self._line, self._column, self._lockset = table
        self._row: list[int] = row
        self._in_call = [in_calls.get(ip, _NOTHING) for ip in sites["ip"].tolist()] if self.known else []
        self._given_back = given_back  # by row
        self._held: dict[tuple[int, int, frozenset[int], frozenset[int]], frozenset[str] | None] = {}
        self._function: list[int] = sites["function"].tolist()
        self._entry = entry  # by function row, see sharing.static.entrylocks
        self._name_of = name_of
        self._names: dict[int, str] = {}

    def where(self, at: int, *, besides: str = "") -> tuple[str, tuple[str, ...]]:
        """(file:line:column, names of the locks held there but ``besides``); ("", ()) unknown."""
        if self._origins is None or self._row[at] < 0:
            return "", ()
        path = self._image.files[self._file[at]] if self._file[at] >= 0 else ""
        return source_text(path, self._line[at], self._column[at]), tuple(
            sorted((self.held(at) or frozenset()) - {besides})
        )

    def held(self, at: int) -> frozenset[str] | None:
        """Locks held at an access by the dataflow over its source, None where that is not known."""
        if self._origins is None or self._row[at] < 0:
            return None
        gone = self._given_back[at] if self._given_back is not None else _NOTHING
        key = (self._lockset[at], self._function[at], self._in_call[at], gone)
        if key not in self._held:
            number, entry = key[0], self._entry[key[1]] - gone
            own = self._origins.locksets[number] if number >= 0 else _NOTHING
            names = frozenset(self._name(a) for a in own | entry | key[2])
            # Where the function's own doing is not known, what its callers hold still is.
            self._held[key] = names if number >= 0 or names else None
        return self._held[key]

    def _name(self, address: int) -> str:
        name = self._names.get(address)
        if name is None:
            name = self._names[address] = self._name_of(address)
        return name

    def support(self, rows: list[int]) -> tuple[tuple[str, int, int], ...]:
        """Locks that most of these accesses are under: (name, accesses under it, accesses whose locks are known)."""
        held = [h for at in rows if (h := self.held(at)) is not None]
        counted = Counter(lock for h in held for lock in h)
        return tuple((lock, k, len(held)) for lock, k in sorted(counted.items()) if 2 * k > len(held))

    def guards(self, rows: list[int], weight: list[float]) -> frozenset[str]:
        """Locks that most of the weight of these accesses is under."""
        under: dict[str, float] = defaultdict(float)
        total = 0.0
        for at in rows:
            locks = self.held(at)
            if locks is None:
                continue
            total += weight[at]
            for lock in locks:
                under[lock] += weight[at]
        return frozenset(lock for lock, value in under.items() if value >= numbers.GUARD_SHARE * total > 0)


def _columns(image: Image, sites: Table) -> tuple[tuple[list[int], ...], list[int]]:
    """File, line, column and lockset of each site as lists, and its row of ``Image.origins`` (-1 none)."""
    if image.origins is None or not len(image.origins.table):
        none = [-1] * len(sites)
        return (none, none, none, none), none
    row = image.origins.rows(sites["ip"])
    table = image.origins.table[np.maximum(row, 0)]
    return tuple(table[name].tolist() for name in ("file", "line", "column", "lockset")), row.tolist()


def source_text(path: str, line: int, column: int) -> str:
    """file:line:column as compilers print it; the column only where it is known."""
    return f"{path}:{line}:{column}" if column else f"{path}:{line}"
