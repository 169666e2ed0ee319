"""Of which family of classes the objects are whose virtual functions calls call.

Owns what code tells of it: a call that loads its target from the table of an object which its function was handed.
Who handed that is not asked: of a virtual function the object is one of its own class (Itanium C++ ABI, 3.2.1), of
another function with a linkage name what that says of its arguments.  Debug information tells of more
(``Image.receivers``).  Where a linker made one function of several that are alike, nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.basics.kept import Kept
from sharing.knowledge.mangled import Parts, class_of, handed
from sharing.model.arrays import among, distinct, picked
from sharing.model.classes import Classes
from sharing.model.image import (
    HELD_ADDRESS_BITS,
    HELD_OFFSET_BITS,
    WORD_ARG_BITS,
    WORD_HOLDER,
    WORD_NUMBER_BITS,
    AccessKind,
    ArgKind,
    FunctionFlag,
    Image,
    SlotKind,
    Table,
)
from sharing.static.callees import function_at
from sharing.static.slotnumbers import HALF_BITS, LOW_HALF

Ints = npt.NDArray[np.int64]
UNKNOWN = -1
_SHIFTS = (0, 1, 2)  # registers in front of the parameters: the object of a method, where a result is to be put

_known: Kept[dict[int, int]] = Kept(of_places=True)


class Virtual(msgspec.Struct, frozen=True):
    """Functions (rows) in tables, so far ``behind`` their begin, of ``families``, which are -1 where not known."""

    rows: Ints
    behind: Ints
    families: Ints


def receivers(image: Image, virtual: Virtual) -> dict[int, int]:
    """By virtual call (ip) the family."""
    if not image.classes.tables:
        return {}
    return _known.of(image.calls, (image.classes, image.receivers), lambda: _receivers(image, virtual))


def calls_through_records(image: Image) -> Table:
    """Calls of what is loaded from behind a pointer, as virtual calls are."""
    calls = those_having(image.calls, "callee", 0)
    return picked(calls, (calls["slot"] == SlotKind.RECORD) & (calls["function"] >= 0))


def is_folded(image: Image, virtual: Virtual) -> bool:
    """Did a linker make one function of all whose code is alike?

    Compilers do so as well, but never of what calls virtual functions of different classes.
    """
    chosen = (virtual.families >= 0) & among(virtual.rows, calls_through_records(image)["function"].astype(np.int64))
    pairs = distinct(virtual.rows[chosen] << HALF_BITS | virtual.families[chosen])
    return bool(len(distinct(pairs >> HALF_BITS)) < len(pairs))


def _receivers(image: Image, virtual: Virtual) -> dict[int, int]:
    folded = is_folded(image, virtual)
    of_method = {} if folded else _of_methods(virtual)
    by_name = _Names(image.classes)
    found = dict(image.receivers)
    for ip, family in () if folded else _expected(image, virtual):
        if found.setdefault(ip, family) != family:
            found[ip] = UNKNOWN
    for ip, function, argument in _through_arguments(image):
        family = of_method.get(function, UNKNOWN) if argument == 0 else UNKNOWN
        if family == UNKNOWN and image.functions["flags"][function] & FunctionFlag.ONE_NAME:
            family = by_name.family(image.names[image.functions["name"][function]], argument)
        if family != UNKNOWN and found.setdefault(ip, family) != family:
            found[ip] = UNKNOWN
    return {ip: family for ip, family in found.items() if family != UNKNOWN}


def _of_methods(virtual: Virtual) -> dict[int, int]:
    """By row of a function that tables of one family alone have this family."""
    pairs = distinct(virtual.rows << HALF_BITS | virtual.families + 1)
    rows, first, count = np.unique(pairs >> HALF_BITS, return_index=True, return_counts=True)
    of_one = count == 1
    families = (pairs[first[of_one]] & LOW_HALF) - 1
    return dict(zip(rows[of_one].tolist(), families.tolist(), strict=True))


def _expected(image: Image, virtual: Virtual) -> Iterator[tuple[int, int]]:
    """(ip, family) of calls of what was compared with a function at that distance, as compilers do that expect one.

    Of calls at one distance in a function nothing tells which of them it is for.
    """
    kept, calls = image.kept, calls_through_records(image)
    kept = picked(kept, (kept["slot"] == SlotKind.UNKNOWN) & (kept["value"] != 0) & (kept["function"] >= 0))
    rows = function_at(image, kept["value"])
    asked: dict[int, set[int]] = defaultdict(set)
    for function, row in zip(kept["function"].tolist(), rows.tolist(), strict=True):
        if row >= 0:
            asked[row].add(function)
    chosen = among(virtual.rows, np.array(sorted(asked), np.int64))
    expected: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row, behind, family in zip(*(field[chosen].tolist() for field in _fields(virtual)), strict=True):
        for function in asked[row]:
            expected[function, behind].add(family)
    calls = picked(calls, having(calls, "function", np.array(sorted({function for function, _ in expected}), np.int64)))
    made: dict[tuple[int, int], list[int]] = defaultdict(list)
    for ip, function, where in zip(*(calls[name].tolist() for name in ("ip", "function", "where")), strict=True):
        made[function, where].append(ip)
    for key, families in expected.items():
        if len(families) == 1 and len(made.get(key, ())) == 1:
            yield made[key][0], families.pop()


def _fields(virtual: Virtual) -> tuple[Ints, Ints, Ints]:
    return virtual.rows, virtual.behind, virtual.families


def _through_arguments(image: Image) -> Iterator[tuple[int, int, int]]:
    """(ip, row of the function, argument) of calls through the first word of what they are handed first, which is an
    argument of their function.

    Where the target is loaded before the call, a load for each such call has to be there that no other call makes.
    """
    calls, args = calls_through_records(image), image.args
    args = picked(args, (args["callee"] == 0) & (args["arg"] == 0) & (args["kind"] == ArgKind.PARAM))
    args = picked(args, (args["value"] == 0) & having(args, "ip", calls["ip"]))
    sites = image.behind.word_sites
    sites = picked(sites, (sites["kind"] == AccessKind.LOAD) & having(sites, "function", args["function"]))
    where = dict(zip(calls["ip"].tolist(), calls["where"].tolist(), strict=True))
    loads: dict[int, set[int]] = defaultdict(set)
    through: dict[tuple[int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for ip, function, source in zip(*(args[name].tolist() for name in ("ip", "function", "source")), strict=True):
        holder = WORD_HOLDER | function << (WORD_NUMBER_BITS + WORD_ARG_BITS) | source << WORD_NUMBER_BITS
        word = 1 << (HELD_OFFSET_BITS + HELD_ADDRESS_BITS) | holder << HELD_OFFSET_BITS | where[ip]
        through[function, source][word].append(ip)
    asked = np.array(sorted({word for words in through.values() for word in words}), np.uint64)
    sites = picked(sites, among(sites["target"], asked))
    for ip, target in zip(sites["ip"].tolist(), sites["target"].tolist(), strict=True):
        loads[target].add(ip)
    for (function, source), by_word in through.items():
        for word, ips in by_word.items():
            found = loads.get(word, set())
            before = [ip for ip in ips if ip not in found]
            if len(before) > len(found) - (len(ips) - len(before)):
                ips = [ip for ip in ips if ip in found]
            yield from ((ip, function, source) for ip in ips)


class _Names:
    """Families by the names of classes, as names of functions have them: without the arguments of templates."""

    def __init__(self, classes: Classes) -> None:
        self._families: dict[Parts, set[int]] = defaultdict(set)
        for name, family in classes.names.items():
            if parts := class_of(name):
                self._families[parts].add(family)
        self._known: dict[tuple[str, int], int] = {}

    def family(self, function: str, argument: int) -> int:
        """Of what an argument's register of a function points to, if all that may be there is of one family.

        A name says neither whether a function of a class has an object nor whether its result has a place in memory:
        one more register in front of the parameters each.  In such a place no object is whose class is not known.
        """
        key = function, argument
        if key not in self._known:
            self._known[key] = self._family(*key)
        return self._known[key]

    def _family(self, function: str, argument: int) -> int:
        known = handed(function)
        if known is None:
            return UNKNOWN
        may_be: set[Parts | None] = set()
        for shift in _SHIFTS if known.scope else _SHIFTS[:-1]:
            at = argument - shift
            if at >= len(known.registers):
                may_be.update(() if known.whole else (None,))
            elif at >= 0:
                may_be.add(known.registers[at])
            elif at == -1 and known.scope:
                may_be.add(known.scope)
        families = {self._one(parts) for parts in may_be if parts != ()}
        return families.pop() if len(families) == 1 else UNKNOWN

    def _one(self, parts: Parts | None) -> int:
        of = self._families.get(parts, set()) if parts is not None else set()
        return next(iter(of)) if len(of) == 1 else UNKNOWN
