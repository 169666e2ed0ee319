"""What calls ask an allocator for: how many bytes, and where these begin.

Owns following functions of the program that return what an allocator made.  Which objects that makes is
``heaprecords``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, those_having
from sharing.basics.kept import Kept
from sharing.model.allocators import makes_objects
from sharing.model.arrays import picked
from sharing.model.image import HEAP_ALIGNMENT, ArgKind, Image, Table
from sharing.static import numbers
from sharing.static.callees import function_at, function_name, names_of_callees

_What = tuple[int, int]  # bytes, alignment; 0 if computed


def allocation(image: Image, ip: int) -> tuple[int, int, str]:
    """(bytes, or 0 if computed; alignment, or 0 if computed; the allocator's name) of a call."""
    call = picked(image.calls, image.calls["ip"] == np.uint64(ip))[:1]
    if not len(call):
        return 0, HEAP_ALIGNMENT, ""
    asked = _known.of(image.calls, (image.args, image.functions, image.callee_names), lambda: _Asked(image))
    size, alignment = asked.of(image, ip, int(call["callee"][0]), {}, numbers.LOCK_WRAPPERS) or (0, HEAP_ALIGNMENT)
    return size, alignment, _called(image, call)


def allocating_calls(image: Image) -> Table:
    """Calls of functions that make objects by their names."""
    callees = distinct_in(image.calls, "callee")
    named = zip(callees.tolist(), names_of_callees(image, callees), strict=True)
    makers = np.array([at for at, name in named if makes_objects(name)], np.uint64)
    found: Table = those_having(image.calls, "callee", makers)
    return found


def _called(image: Image, call: Table) -> str:
    name, row = names_of_callees(image, call["callee"])[0], int(function_at(image, call["callee"])[0])
    return name or (function_name(image, row) if row >= 0 else "")


class _Asked:
    """What calls of one image ask for; each function is followed once for all that it is handed.

    It is kept as long as the image's table of calls is, and so does not hold the image itself.
    """

    def __init__(self, image: Image) -> None:
        by_function = np.argsort(image.calls["function"], kind="stable")
        self._callers = image.calls["function"][by_function]
        self._inner = picked(image.calls[["ip", "callee"]], by_function)
        self._args = np.argsort(image.args["ip"], kind="stable")  # rows in the order of their calls
        self._ips: npt.NDArray[np.uint64] = image.args["ip"][self._args]
        self._found: dict[tuple[int, tuple[tuple[int, int], ...], int], _What | None] = {}

    def of(self, image: Image, ip: int, callee: int, handed: dict[int, int], rounds: int) -> _What | None:
        """What a call asks for; None where it asks no allocator.

        A function of the program that returns what an allocator made asks for what it is handed, or for a size of its
        own.  ``handed``: the arguments of the function that calls, as far as they are known.
        """
        given = self._given(image, ip, handed)
        wrapper = int(function_at(image, np.array([callee], np.uint64))[0])
        if wrapper < 0 or callee in image.callee_names:
            name = names_of_callees(image, np.array([callee], np.uint64))[0]
            return _asks(name.lower(), given) if makes_objects(name) else None
        key = wrapper, tuple(sorted(given.items())), rounds
        if key not in self._found:
            found = self._within(image, wrapper, given, rounds)
            # Named as an allocator, it asks for what it is handed, but none for no bytes: ``malloc(n ? n : 1)``.
            if found is not None and not found[0] and makes_objects(name := function_name(image, wrapper)):
                found = _asks(name.lower(), given)[0], found[1]
            self._found[key] = found
        return self._found[key]

    def _within(self, image: Image, wrapper: int, given: dict[int, int], rounds: int) -> _What | None:
        """What the calls of a function ask for that is handed this."""
        first, last = np.searchsorted(self._callers, (wrapper, wrapper + 1)).tolist() if rounds else (0, 0)
        inner = self._inner[first:last].tolist()
        found = {asked for ip, callee in inner if (asked := self.of(image, ip, callee, given, rounds - 1)) is not None}
        if not found:
            return None
        sizes = {size for size, _ in found}
        return sizes.pop() if len(sizes) == 1 else 0, min(alignment for _, alignment in found)

    def _given(self, image: Image, ip: int, handed: dict[int, int]) -> dict[int, int]:
        """The arguments of a call that are known."""
        first, last = (int(self._ips.searchsorted(np.uint64(ip), side)) for side in ("left", "right"))
        given: dict[int, int] = {}
        for _, _, value, _, arg, kind, source, _ in image.args[self._args[first:last]].tolist():
            if kind == ArgKind.CONSTANT:
                given[arg] = value
            elif kind == ArgKind.PARAM and source in handed:
                given[arg] = handed[source] + value
        return given


_known: Kept[_Asked] = Kept()  # by the table of calls


def _asks(name: str, given: dict[int, int]) -> tuple[int, int]:
    """What one of an allocator of this name asks for, by the arguments that are known."""
    alignment = HEAP_ALIGNMENT
    first = 0
    if name.endswith(("aligned_alloc", "memalign")):
        first, alignment = 1, given.get(0, 0)
    elif "align_val_t" in name:
        alignment = given.get(1, 0)
    size = given.get(first, 0)
    if name.endswith("calloc"):
        size = given.get(0, 0) * given.get(1, 0)
    return max(size, 0), max(alignment, 0)
