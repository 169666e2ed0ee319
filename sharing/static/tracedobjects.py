"""Objects of files without debug information: what pointers lead to is told by their moves (``pointsto``).

Owns which objects are looked at so, their names and sizes, and an image of each with the accesses and calls that reach
it.  One object stands for all that one call makes, as one of each record does where types are known.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.geometry import round_up
from sharing.model.arrays import among
from sharing.model.image import (
    ARG_DTYPE,
    HEAP_ALIGNMENT,
    SITE_DTYPE,
    TRACED_BYTES,
    AccessKind,
    ArgKind,
    Image,
    SiteFlag,
    Table,
    VariableFlag,
)
from sharing.model.types import TypeTable
from sharing.static.allocations import allocation
from sharing.static.callees import function_name
from sharing.static.callgraph import CallGraph
from sharing.static.executions import in_loop
from sharing.static.heapimage import MAX_BYTES, LaidOut, NamedTypes
from sharing.static.pointsto import ALIGNED, Kind, Leads, Object, Solver, moves_of
from sharing.static.recordobjects import RecordObjects, run_elsewhere, where_made

_WRITES = (AccessKind.STORE, AccessKind.RMW)

ReadMoves = Callable[[npt.NDArray[np.int64]], Table]  # rows of functions -> ORIGIN_DTYPE, see read_moves


class _Shown(msgspec.Struct, frozen=True):
    """An object as it is laid out: ``begin`` is the first byte that is looked at."""

    name: str
    begin: int
    size: int
    sized: bool
    alignment: int


def traced_image(image: Image, calls: CallGraph, read: ReadMoves) -> RecordObjects | None:
    """Of the objects that threads change through pointers; None where there are none."""
    entries = [root.function for root in calls.roots if root.function >= 0 and root.name != "main"]
    functions = np.flatnonzero(image.functions["size"] > 0)
    if not entries or image.language or int(image.functions["size"].sum()) > TRACED_BYTES:
        return None
    sites = _followed(image, calls)
    if not len(sites):
        return None
    solved = Solver(image, moves_of(read(functions), functions), entries).solve()
    leads = joined(image, _without_own(image, solved, sites))
    shown = _shown(image, calls, leads, sites)
    if not shown:
        return None
    laid = LaidOut(image, NamedTypes(TypeTable(), ()))
    begins: dict[int, int] = {}
    for row, one in shown.items():
        flags = 0 if one.sized else int(VariableFlag.SIZE_INFERRED)
        begins[row] = laid.add(one.name, one.size, one.alignment, flags, -1, -1) - one.begin
    placed = _Placed(begins, shown)
    args = np.concatenate([image.args, _args(image, leads, placed)])
    result = dataclasses.replace(
        laid.image(), sites=_sites(sites, leads, placed), args=args[np.argsort(args["ip"], kind="stable")], given=()
    )
    return RecordObjects(result, _entries(leads, shown), _doubtful(leads, shown, sites))


def joined(image: Image, leads: Leads) -> Leads:
    """The same with one object for those that one instruction accesses at the same distance: they are of one type.

    Of two kinds the one says more that comes first.  What is made of different sizes is not.
    """
    known = _Joined(image, leads.objects)
    for _, places in sorted(leads.accesses.items()):
        first: dict[int, int] = {}
        for row, at in sorted(places):
            if at in first:
                known.join(first[at], row)
            first.setdefault(at, row)
    return msgspec.structs.replace(
        leads,
        accesses={ip: known.few(places) for ip, places in leads.accesses.items()},
        handed={key: known.few(places) for key, places in leads.handed.items()},
        arguments={key: known.of(places) for key, places in leads.arguments.items()},
        tables=known.of(leads.tables),
    )


class _Joined:
    """Which objects stand for which others."""

    def __init__(self, image: Image, objects: list[Object]) -> None:
        self._for = list(range(len(objects)))
        self._objects = objects
        self._sizes = [allocation(image, one.of)[0] if one.kind is Kind.MADE else 0 for one in objects]

    def _find(self, row: int) -> int:
        while self._for[row] != row:
            self._for[row] = row = self._for[self._for[row]]
        return row

    def join(self, first: int, second: int) -> None:
        one, other = sorted((self._find(first), self._find(second)), key=lambda row: (self._objects[row].kind, row))
        fixed = {Kind.STATIC, Kind.FRAME} & {self._objects[one].kind, self._objects[other].kind}
        sizes = {self._sizes[one], self._sizes[other]} - {0}
        if one == other or fixed or len(sizes) > 1:
            return
        self._for[other] = one
        self._sizes[one] = max(sizes, default=0)

    def few(self, places: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """None where there are more than two objects: what leads to these leads to anything."""
        found = self.of(places)
        return found if len({row for row, _ in found}) <= 2 else frozenset()

    def of(self, places: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset((self._find(row), at) for row, at in places)


def _followed(image: Image, calls: CallGraph) -> Table:
    """The accesses behind pointers in code that threads or main run, but to what the same run just made."""
    sites = run_elsewhere(image, calls)
    found: Table = sites[~among(sites["ip"], where_made(image))]
    return found


def _shown(image: Image, calls: CallGraph, leads: Leads, sites: Table) -> dict[int, _Shown]:
    """The objects that code writes behind pointers, by their row."""
    written, extent = set[int](), dict[int, tuple[int, int]]()
    for ip, size, kind in sites[["ip", "size", "kind"]].tolist():
        for row, at in leads.accesses.get(ip, ()):
            if kind in _WRITES:
                written.add(row)
            begin, end = extent.get(row, (at, at + size))
            extent[row] = (min(begin, at), max(end, at + size))
    found = {}
    for row in sorted(written):
        one = leads.objects[row]
        once = one.kind is not Kind.FRAME or bool(calls.phases.starts_once(np.array([one.of]))[0])
        if one.kind is Kind.STATIC or not once:
            continue
        begin, end = extent[row]
        alignment, size = HEAP_ALIGNMENT, 0
        if one.kind is Kind.MADE:
            size, alignment, _ = allocation(image, one.of)
        if one.kind is Kind.FRAME and begin < ALIGNED // 2:
            if end > ALIGNED // 2 or begin < 3 * ALIGNED // 2:
                continue
            alignment = image.arch.line_size
            begin = begin // alignment * alignment
        elif one.kind is Kind.FRAME:
            begin = begin // HEAP_ALIGNMENT * HEAP_ALIGNMENT - image.arch.pointer_size
        elif begin < 0:
            continue
        else:
            begin = 0
        extended = round_up(end - begin, image.arch.pointer_size)
        if alignment and extended <= MAX_BYTES:
            found[row] = _Shown(_name(image, leads, one), begin, max(size, extended), size >= end, alignment)
    return found


def _name(image: Image, leads: Leads, one: Object) -> str:
    """Where an object is from, as its reports call it."""
    if one.kind is Kind.MADE:
        function = image.calls["function"][image.calls["ip"] == np.uint64(one.of)]
        known = len(function) and function[0] >= 0 and image.functions["name"][function[0]] >= 0
        inside = f" in {function_name(image, int(function[0]))}" if known else ""
        return f"*heap block (allocated at {one.of:#x}{inside})"
    if one.kind is Kind.GIVEN:
        which = f"argument {one.at} of" if one.at else "argument of"
        return f"*{which} {function_name(image, one.of)}"
    if one.kind is Kind.FRAME:
        return f"stack of {function_name(image, one.of)}"
    around = _name(image, leads, leads.objects[one.of]) if one.of else "*static"
    if one.kind is Kind.ELEMENT:
        return f"*element of {around.removeprefix('*')}"
    # What a word of another object leads to, as C writes it: an offset of its own may follow.
    return f"*({around.removeprefix('*')}{one.at:+#x})"


class _Placed:
    """Addresses of places in the objects that were laid out."""

    def __init__(self, begins: dict[int, int], shown: dict[int, _Shown]) -> None:
        self._begins, self._shown = begins, shown

    def addresses(self, places: Iterable[tuple[int, int]]) -> list[int]:
        found = []
        for row, at in places:
            one = self._shown.get(row)
            if one is not None and 0 <= at - one.begin < one.size:
                found.append(self._begins[row] + at)
        return sorted(found)


def _without_own(image: Image, leads: Leads, sites: Table) -> Leads:
    """Without what a function does to an object that it makes itself, again and again: it is most often its own."""
    calls = image.calls[in_loop(image.calls["loop_depth"])]
    ips, caller = calls["ip"], calls["function"]
    makers = dict(zip(ips.tolist(), caller.tolist(), strict=True))
    own = {(makers[one.of], row) for row, one in enumerate(leads.objects) if one.kind is Kind.MADE and one.of in makers}
    users = sites[["ip", "function"]].tolist() if own else ()
    again = {ip for ip, function in users for row, _ in leads.accesses.get(ip, ()) if (function, row) in own}
    return msgspec.structs.replace(leads, accesses={ip: at for ip, at in leads.accesses.items() if ip not in again})


def _sites(sites: Table, leads: Leads, placed: _Placed) -> Table:
    rows: list[int] = []
    targets: list[int] = []
    stores = (sites["kind"] == AccessKind.STORE).tolist()
    for row, ip in enumerate(sites["ip"].tolist()):
        places = leads.accesses.get(ip, frozenset())
        # Constructors and destructors write where an object keeps its table of functions: once in its life.
        for address in placed.addresses(places - leads.tables if stores[row] else places):
            rows.append(row)
            targets.append(address)
    found = sites[rows].copy()
    found["target"] = np.array(targets, np.uint64)
    found["flags"] &= np.uint8(SiteFlag.ATOMIC | SiteFlag.CLEARS | SiteFlag.BITMAP)
    found["stride"] = 0
    return found if len(found) else np.zeros(0, SITE_DTYPE)


def _args(image: Image, leads: Leads, placed: _Placed) -> Table:
    """Addresses in such objects that functions of other files are handed; what the program's own do with them is
    known."""
    own = set(image.functions["address"].tolist()) - set(image.callee_names)
    by_ip = dict(
        zip(image.calls["ip"].tolist(), image.calls[["callee", "function", "loop_depth"]].tolist(), strict=True)
    )
    found = []
    for (ip, arg), places in sorted(leads.handed.items()):
        callee, function, depth = by_ip.get(ip, (0, -1, 0))
        if function < 0 or callee in own:
            continue
        for address in placed.addresses(places):
            found.append((ip, callee, address, function, arg, ArgKind.ADDRESS, 0, depth))
    return np.array(found, ARG_DTYPE) if found else np.zeros(0, ARG_DTYPE)


def _doubtful(leads: Leads, shown: dict[int, _Shown], sites: Table) -> frozenset[str]:
    """The objects that an instruction accesses which may access another one as well."""
    found = set[int]()
    for ip in sites["ip"].tolist():
        rows = {row for row, _ in leads.accesses.get(ip, ())}
        found |= rows if len(rows) > 1 else set()
    return frozenset(shown[row].name for row in found if row in shown)


def _entries(leads: Leads, shown: dict[int, _Shown]) -> dict[tuple[int, int], str]:
    """The objects that functions are handed the begin of, where it is one."""
    found: dict[tuple[int, int], set[str]] = defaultdict(set)
    for key, places in leads.arguments.items():
        for row, at in places:
            found[key].add(shown[row].name if row in shown and not at else "")
    return {key: next(iter(names)) for key, names in found.items() if len(names) == 1 and "" not in names}
