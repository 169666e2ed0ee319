"""Where in the source accesses are and which locks are held there, for images that come with their source.

Owns the reading of ``Image.origins``.  Which locks guard an object is inferred from them by majority, as Clang's
thread-safety analysis has it stated and RacerD infers it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from sharing.model.image import Image, Table

GUARD_SHARE = 0.6  # of an actor's weight under a lock, for the lock to guard it


class Places:
    """Answers by row of the judged accesses; ``name_of`` names the object at an address."""

    def __init__(self, image: Image, sites: Table, name_of: Callable[[int], str], entry: list[frozenset[int]]) -> None:
        self._image = image
        self._origins = image.origins
        self.known = image.origins is not None
        self._row: list[int] = image.origins.rows(sites["ip"]).tolist() if image.origins is not None else []
        self._function: list[int] = sites["function"].tolist()
        self._entry = entry  # by function row, see sharing.held
        self._name_of = name_of
        self._names: dict[int, str] = {}

    def where(self, at: int, *, besides: str = "") -> tuple[str, tuple[str, ...]]:
        """(file:line:column, names of the locks held there but ``besides``); ("", ()) unknown."""
        if self._origins is None or self._row[at] < 0:
            return "", ()
        row = self._origins.table[self._row[at]]
        path = self._image.files[row["file"]] if row["file"] >= 0 else ""
        return source_text(path, int(row["line"]), int(row["column"])), tuple(
            sorted((self.held(at) or frozenset()) - {besides})
        )

    def held(self, at: int) -> frozenset[str] | None:
        """Locks held at an access by the dataflow over its source, None where that is not known."""
        if self._origins is None or self._row[at] < 0:
            return None
        number = int(self._origins.table["lockset"][self._row[at]])
        entry = self._entry[self._function[at]]
        if number < 0:
            # The function's own doing is not known, what its callers hold is.
            return frozenset(self._name(a) for a in entry) or None
        return frozenset(self._name(a) for a in self._origins.locksets[number] | entry)

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
        return frozenset(lock for lock, value in under.items() if value >= GUARD_SHARE * total > 0)


def source_text(path: str, line: int, column: int) -> str:
    """file:line:column as compilers print it; the column only where it is known."""
    return f"{path}:{line}:{column}" if column else f"{path}:{line}"
