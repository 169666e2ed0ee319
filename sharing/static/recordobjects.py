"""Objects behind pointers by the types that debug information gives these: one of each record stands for all.

Owns which records are looked at so, and an image of one object of each with the accesses and calls that reach it.
What an instruction reaches is read by the caller; which objects are known one by one is ``heaprecords``'s.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeVar

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked, stacked
from sharing.model.image import (
    ARG_DTYPE,
    HEAP_ALIGNMENT,
    SITE_DTYPE,
    AccessKind,
    ArgKind,
    Image,
    SiteFlag,
    Table,
    VariableFlag,
)
from sharing.model.types import MAX_DEPTH, TypeKind, TypeTable
from sharing.static import numbers
from sharing.static.alignedobjects import alignments, begin_of
from sharing.static.callees import function_at, functions_called
from sharing.static.callgraph import CallGraph
from sharing.static.executions import times
from sharing.static.handedlocks import handed_locks
from sharing.static.handedobjects import Told
from sharing.static.handovers import Handover
from sharing.static.heapimage import LaidOut, NamedTypes, ReadRecords, row_named
from sharing.static.heaprecords import HeapRecord, holders, offsets
from sharing.static.phases import program_point
from sharing.static.recordplaces import Place, Places, ReadPlaces
from sharing.static.sharedrecords import SEVERAL, alone, started_alike, static_objects
from sharing.static.startedwith import arguments_of, starts_with_data, used_by_entries
from sharing.static.startobjects import holder_of, offset_of
from sharing.static.staticarguments import Argument, static_arguments, through_arguments

MAX_INSTRUCTIONS = 1 << 12  # of one image that are asked for, the busiest first: half a millisecond each
MAX_RECORDS = 256

_WRITES = (AccessKind.STORE, AccessKind.RMW)
_USES = (AccessKind.LOAD, *_WRITES)


_Key = TypeVar("_Key")
_Parts = Mapping[str, tuple[tuple[str, int], ...]]  # by record: the records that it is a part of, and where in each


class Reached(msgspec.Struct, frozen=True):
    """Accesses behind pointers (SITE_DTYPE without targets) of which ``places`` says what they reach.

    ``static``: how many objects of a record have static storage.  What is done to such is known, and left out, where a
    function is given one (``given``: arguments; ``seen``: the instructions), but not where a pointer of another object
    leads to it.
    """

    sites: Table
    places: Places
    static: Mapping[str, int]
    given: frozenset[Argument]
    seen: frozenset[int]
    direct: frozenset[int]  # instructions of functions that are called by name, or that threads begin with
    locks: Table  # see handed_locks: those of which ``places`` says what is handed
    asked: Table  # all accesses behind pointers that were asked for
    uncut: tuple[Table, Mapping[int, Place]]  # accesses and what they reach, of records in static storage as well
    shared: frozenset[str] = frozenset()  # records of which threads are started with one object

    def tells(self, name: str, ip: int) -> bool:
        """Whether what an instruction does to objects of a record is looked at.

        Of several in static storage nobody knows which one a thread has: what pointers lead to is none for all.
        """
        if name not in self.static:
            return True
        return ip not in (self.direct if self.static[name] >= SEVERAL else self.seen)


def reached_records(image: Image, calls: CallGraph, knowledge: Knowledge, read: ReadPlaces) -> Reached:
    """What code that threads or main run reaches behind pointers."""
    sites = _followed(image, calls)
    locks, places, shared = np.zeros(0, ARG_DTYPE), Places({}), frozenset[str]()
    if len(sites):  # none without debug information
        locks = handed_locks(image, calls, knowledge)[:MAX_INSTRUCTIONS]
        starts = starts_with_data(image, knowledge)
        asked = np.concatenate([locks, arguments_of(image, starts)])
        places = read(np.unique(sites["ip"]), asked[np.argsort(asked["ip"], kind="stable")])
        shared = started_alike(image, calls, starts, places.handed, places.returned)
        places = _of_entries(image, places, starts, set(sites["ip"].tolist()))
    given = static_arguments(image, knowledge) if len(sites) else frozenset()
    uncut = sites[among(sites["ip"], np.array(sorted(places.at), np.uint64))], places.at
    static = static_objects(image)
    direct = _direct(image, calls, sites)
    seen = _seen(image, calls, sites, given, direct)
    found = Reached(sites, places, static, given, seen, frozenset(direct), locks, sites, uncut, shared)
    at = {ip: place for ip, place in places.at.items() if found.tells(place.name, ip)}
    kept = sites[among(sites["ip"], np.array(sorted(at), np.uint64))]
    told = [
        (place := places.handed.get((ip, arg))) is not None and found.tells(place.name, ip)
        for ip, arg in locks[["ip", "arg"]].tolist()
    ]
    places = msgspec.structs.replace(places, at=at)
    return msgspec.structs.replace(found, sites=kept, places=places, locks=locks[np.array(told, bool)])


def _seen(
    image: Image, calls: CallGraph, sites: Table, given: frozenset[Argument], direct: Mapping[int, int]
) -> frozenset[int]:
    """Instructions of which accesses to variables tell already what they do to objects in static storage.

    ``direct`` as of ``_direct``.
    What callers of a library hand it is as likely their own: only of functions that are called through pointers alone
    nobody sees that they are handed the library's.
    """
    anybody = sum(1 << at for at, root in enumerate(calls.roots) if root.function < 0)
    of_callers = {ip for ip, row in direct.items() if int(calls.mask[row]) & anybody}
    led = sites["ip"][among(sites["ip"], image.sites["ip"])].tolist()  # words of what threads are handed lead there
    return through_arguments(image, given) | of_callers | set(led)


def _direct(image: Image, calls: CallGraph, sites: Table) -> dict[int, int]:
    """Instructions of functions that are called by name, or that threads begin with, and the rows of these."""
    called = {*(root.function for root in calls.roots), *functions_called(image).tolist()}
    return {ip: row for ip, row in sites[["ip", "function"]].tolist() if row in called}


def _of_entries(image: Image, places: Places, starts: Sequence[Handover], known: Set[int]) -> Places:
    """The same with what entries of threads do, at ``known`` instructions, to what they are started with."""
    found = {
        ip: Place(where.name, where.offset + at, exact=True)
        for ip, where, at in used_by_entries(image, starts, places.handed)
        if where.offset + at >= 0 and ip in known
    }
    return msgspec.structs.replace(places, at=found | dict(places.at))


def with_types(told: Told, records: Sequence[HeapRecord], reached: Reached) -> list[HeapRecord]:
    """The objects with the names of their records, where accesses by way of their holders, and those of functions that
    are handed them, all say the same; and in which records the words are that lead to others."""
    image = told.image
    led = behind_holders(image, reached.places)
    behind = behind_arguments(image, reached.places)
    entries = function_at(image, np.array([one.entry for one in told.handed], np.uint64)).tolist()
    behind = passed_on(image, behind, {*entries, *(word.entry for word in told.words.values())})
    given = [
        ((entry, one.parameter), holder_of(one.data), offset_of(one.data), bool(one.stride))
        for entry, one in zip(entries, told.handed, strict=True)
        if one.data is not None
    ]
    given += [((row, 0), holder, 0, True) for holder, row, _ in image.behind.arrays]
    for key, holder, at, _ in given:
        if (where := behind.get(key)) is not None:
            led.setdefault(holder, (where[0], where[1] - at))
    for key, holder, at, of_elements in given:
        if not of_elements and (where := led.get(holder)) is not None:
            behind.setdefault(key, (where[0], where[1] + at))
    held_in = _held_in(told, behind)
    return [
        msgspec.structs.replace(
            one, type=where[0], kind=reached.places.word(where[0]), member_of=held_in.get(one.pointer)
        )
        if not one.type and (where := led.get(one.pointer)) is not None and not where[1]
        else msgspec.structs.replace(one, member_of=held_in.get(one.pointer))
        for one in records
    ]


def _held_in(told: Told, behind: Mapping[Argument, tuple[str, int]]) -> dict[int, tuple[str, int]]:
    """By holder the record, and the bytes in it, of the word of an argument that leads to an object."""
    words = [(holder, one.entry, one.argument, one.offset) for holder, one in told.words.items()]
    words += [(holder, row, 0, offset) for holder, row, offset in told.image.behind.led]
    return {
        holder: (where[0], where[1] + offset)
        for holder, row, argument, offset in words
        if (where := behind.get((row, argument))) is not None
    }


class RecordObjects(msgspec.Struct, frozen=True):
    """One object of each record behind the sections of ``image``, whose accesses are those to these alone.

    ``entries``: the record that a function is handed, by (its row, the argument); the name is that of the variable.
    ``doubtful``: names of objects of which some code may mean another one; ``shared``: of such as are seen to be with
    several threads at one time.
    """

    image: Image
    entries: dict[tuple[int, int], str]
    doubtful: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


def record_image(
    image: Image, reached: Reached, records: ReadRecords, known: Iterable[HeapRecord]
) -> RecordObjects | None:
    """Of the records that threads change through pointers; None where there are none.

    ``known``: objects that are judged one by one.  Of records that nothing else leads to all is said of these.
    """
    sites, places = reached.sites, reached.places
    names = _changed(sites, places, _led_to(image, known))
    named = records(names) if names else NamedTypes(TypeTable(), ())
    rows = {name: row for name in names if (row := row_named(named.types, name)) >= 0}
    parts = _bases(named.types, rows)
    placed = _Layout(image, named, {n: r for n, r in rows.items() if n not in parts}, places)
    if not placed.begin:
        return None
    wholes = {name: parts.get(name, ((name, 0),)) for name in rows}
    told = _arguments(image, reached, named, rows)
    args = np.concatenate([image.args, _args(image, reached, placed, wholes, told)])
    result = dataclasses.replace(
        placed.image(),
        record_language=places.language,
        sites=_sites(sites, places, placed, wholes),
        args=picked(args, np.argsort(args["ip"], kind="stable")),
        given=(),
    )
    entries = {key: placed.shown[name] for key, (name, at) in told.items() if not at and name in placed.shown}
    shared = reached.shared | alone(image, reached.static, placed.size)
    return RecordObjects(result, entries, shared=frozenset(placed.shown[name] for name in shared & placed.shown.keys()))


def _followed(image: Image, calls: CallGraph) -> Table:
    """The accesses behind pointers in code that threads or main run, but what code does to an object that it just made
    where no threads run yet that may have it."""
    sites = run_elsewhere(image, calls)
    # Who starts threads and goes round a loop with what it made for them uses it beside them.
    beside = calls.phases.starts_once(sites["function"]) & (sites["loop_depth"] > 0)
    beside &= ~calls.phases.sequential(sites["function"], program_point(image, sites))
    sites = picked(sites, beside | ~among(sites["ip"], where_made(image)))
    weight = calls.frequency[sites["function"]] * times(sites["loop_depth"], sites["rarity"])
    order = np.argsort(-weight, kind="stable")[:MAX_INSTRUCTIONS]
    found: Table = sites[np.sort(order)]
    return found


def run_elsewhere(image: Image, calls: CallGraph) -> Table:
    """The accesses behind pointers in code that threads or main run."""
    sites = image.behind.elsewhere
    sites = picked(sites, (sites["function"] >= 0) & among(sites["kind"], _USES))
    function = sites["function"]
    found: Table = picked(sites, (calls.mask[function] != 0) & ~calls.cold[function])
    return found


def where_made(image: Image) -> Table:
    """Instructions that access an object which a call in their function has made."""
    sites, calls = image.behind.sites, picked(image.calls, np.argsort(image.calls["ip"], kind="stable"))
    maker = holders(sites["target"])
    made = among(maker, calls["ip"])
    ip, caller, user = calls["ip"], calls["function"], sites["function"][made]
    at = np.minimum(np.searchsorted(ip, maker[made]), len(calls) - 1)
    found: Table = sites["ip"][made][caller[at] == user]
    return found


def _led_to(image: Image, known: Iterable[HeapRecord]) -> set[int]:
    """Instructions that access one of these objects, of those that are one for as long as threads run."""
    pointers = [holder for one in known if one.calls for holder in (one.pointer, *one.calls)]
    sites = image.behind.sites
    return set(sites["ip"][among(holders(sites["target"]), np.array(sorted(pointers), np.uint64))].tolist())


def _changed(sites: Table, places: Places, known: set[int]) -> list[str]:
    """The records that are written, where others than the ``known`` instructions lead to them."""
    written = sites["ip"][among(sites["kind"], _WRITES)].tolist()
    names = Counter(places.at[ip].name for ip in written)
    elsewhere = {places.at[ip].name for ip in sites["ip"].tolist() if ip not in known}
    return [name for name, _ in names.most_common() if name in elsewhere][:MAX_RECORDS]


def _bases(types: TypeTable, rows: Mapping[str, int]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Base classes: what is done to one is done to each class that derives from it."""
    derived: dict[str, dict[tuple[str, int], None]] = defaultdict(dict)
    for name, row in rows.items():
        waiting, depth = [(row, 0)], 0
        while waiting and depth < MAX_DEPTH:
            depth += 1
            at, begin = waiting.pop()
            for member in types[at].members:
                core, _, _ = types.strip(member.type)
                if not member.is_base or member.offset_bits < 0 or core < 0:
                    continue
                inner = begin + member.offset_bits // 8
                waiting.append((core, inner))
                if types[core].name in rows and types[core].name != name:
                    derived[types[core].name][name, inner] = None
    # Only the classes at the end of the line have objects of their own here.
    return {base: tuple(way for way in ways if way[0] not in derived) or tuple(ways) for base, ways in derived.items()}


class _Layout:
    """One object of each record behind the sections of the image."""

    def __init__(self, image: Image, named: NamedTypes, rows: Mapping[str, int], places: Places) -> None:
        self._laid = LaidOut(image, named)
        self._types, self._rows, self._line = named.types, rows, image.arch.line_size
        self.begin: dict[str, int] = {}
        self.size = {name: named.types.size(row) for name, row in rows.items()}
        self.shown = {
            name: (places.word(name) if named.types[row].kind == TypeKind.STRUCT else "") + name
            for name, row in rows.items()
        }
        asked = alignments(image) if rows else []
        for name, row in rows.items():
            alignment = max(HEAP_ALIGNMENT, named.types.alignment(row), begin_of(self.size[name], asked))
            joined = self._laid.types.row(row)
            shown, size = self.shown[name], self.size[name]
            self.begin[name] = self._laid.add(shown, size, alignment, VariableFlag.TYPED, joined, row)

    def image(self) -> Image:
        return self._laid.image()

    def chosen(self, place: Place, accessed: int) -> tuple[int, int]:
        """(bytes in the record, bytes between elements) of a place: of elements smaller than a line the first one.

        No bytes between them where it is one place, or the elements are larger.  Compilers count elements from where
        another array of the record begins: those are meant of which one is as long as what is accessed.
        """
        row = self._rows.get(place.name, -1)
        if place.exact or row < 0:
            return place.offset, 0
        leaf = self._types.leaf(row, place.offset)
        if leaf is not None and leaf.stride and leaf.extent != accessed:
            fitting = [one for one in self._types.flatten(row) if one.stride and one.extent == accessed]
            leaf = fitting[0] if len(fitting) == 1 else leaf
        if leaf is not None and leaf.stride and leaf.count * leaf.stride > leaf.stride:
            first, stride = leaf.offset + (place.offset - leaf.offset) % leaf.stride, leaf.stride
        else:
            first, stride = place.offset, self._types.size(row)
        return (first, stride) if 0 < stride < self._line else (place.offset, 0)

    def addresses(self, wholes: _Parts, name: str, offset: int) -> list[int]:
        """Where the byte of a record is: in each that it is a part of."""
        return [
            self.begin[whole] + at + offset
            for whole, at in wholes.get(name, ())
            if whole in self.begin and 0 <= at + offset < self.size[whole]
        ]


def _sites(sites: Table, places: Places, layout: _Layout, wholes: _Parts) -> Table:
    rows: list[int] = []
    targets: list[int] = []
    strides: list[int] = []
    for row, (ip, flags, size) in enumerate(sites[["ip", "flags", "size"]].tolist()):
        place = places.at[ip]
        offset, stride = layout.chosen(place, size) if flags & SiteFlag.ATOMIC else (place.offset, 0)
        for address in layout.addresses(wholes, place.name, offset):
            rows.append(row)
            targets.append(address)
            strides.append(stride)
    found = sites[rows].copy()
    found["target"] = np.array(targets, np.uint64)
    found["flags"] &= np.uint8(SiteFlag.ATOMIC | SiteFlag.CLEARS | SiteFlag.BITMAP)
    found["stride"] = np.array(strides, np.uint16)
    found["flags"][found["stride"] > 0] |= np.uint8(SiteFlag.INDEXED)
    return found if len(found) else np.zeros(0, SITE_DTYPE)


def _args(
    image: Image,
    reached: Reached,
    layout: _Layout,
    wholes: _Parts,
    told: Mapping[tuple[int, int], tuple[str, int]],
) -> Table:
    """Addresses in such objects that calls are handed.  A callee that is known to be handed the record speaks for
    itself."""
    places = reached.places
    behind = behind_holders(image, places)
    found = []
    passed = picked(image.args, image.args["kind"] == ArgKind.PARAM)
    keys = zip(passed["function"].tolist(), passed["source"].tolist(), strict=True)
    ways: list[tuple[Table, Sequence[tuple[str, int] | None], Table]] = [
        (passed, [told.get(key) for key in keys], passed["value"])
    ]
    for held in (image.behind.args, image.behind.word_args):
        what = held["value"].astype(np.uint64)
        ways.append((held, [behind.get(one) for one in holders(what).tolist()], offsets(what).astype(np.int64)))
    handed = zip(reached.locks["ip"].tolist(), reached.locks["arg"].tolist(), strict=True)
    leads = [places.handed[key] for key in handed]
    ways.append((reached.locks, [(one.name, one.offset) for one in leads], reached.locks["value"]))
    for table, led, values in ways:
        callees = function_at(image, table["callee"])
        for row, (one, value, callee) in enumerate(zip(led, values.tolist(), callees.tolist(), strict=True)):
            if one is None or (callee, int(table["arg"][row])) in told:
                continue
            for address in layout.addresses(wholes, one[0], one[1] + value):
                copy = table[row : row + 1].copy()
                copy["kind"], copy["source"], copy["value"] = ArgKind.ADDRESS, 0, address
                found.append(copy)
    return np.concatenate(found) if found else np.zeros(0, ARG_DTYPE)


def _arguments(
    image: Image, reached: Reached, named: NamedTypes, rows: Mapping[str, int]
) -> dict[tuple[int, int], tuple[str, int]]:
    """(record, offset in it) that arguments lead to, by (row of the function, argument): by their types, and by what
    code does behind them."""
    names = {row: name for name, row in rows.items()}
    told = {
        (function, arg): (names[kind], 0)
        for function, kind, arg in named.pointers.tolist()
        if kind in names and (names[kind] not in reached.static or (function, arg) not in reached.given)
    }
    return behind_arguments(image, reached.places) | told


def behind_arguments(image: Image, places: Places) -> dict[tuple[int, int], tuple[str, int]]:
    params = image.params
    keys = zip(params["function"].tolist(), params["arg"].tolist(), strict=True)
    return _agreed(
        (key, places.at.get(ip), offset)
        for key, ip, offset in zip(keys, params["ip"].tolist(), params["offset"].tolist(), strict=True)
    )


def passed_on(
    image: Image, behind: Mapping[Argument, tuple[str, int]], entries: Iterable[int]
) -> dict[Argument, tuple[str, int]]:
    """The same with what these functions know of arguments that they only hand on, where all who get them say the
    same."""
    found = dict(behind)
    passed = picked(image.args, image.args["kind"] == ArgKind.PARAM)
    rows: list[tuple[int, int, int, int, int]] = []
    asked, fresh = set[int](), set(entries)
    for _ in range(numbers.PARAM_ROUNDS):
        mine = passed[among(passed["function"], np.array(sorted(fresh), np.int64))]
        callees = function_at(image, mine["callee"]).tolist()
        columns = (mine[name].tolist() for name in ("function", "source", "arg", "value"))
        rows += zip(*columns, callees, strict=True)
        asked |= fresh
        fresh = set(callees) - asked
    for _ in range(numbers.PARAM_ROUNDS):
        told: dict[Argument, set[tuple[str, int]]] = defaultdict(set)
        for function, source, argument, value, callee in rows:
            if (function, source) not in found and (where := found.get((callee, argument))) is not None:
                told[function, source].add((where[0], where[1] - value))
        found |= {key: next(iter(ways)) for key, ways in told.items() if len(ways) == 1}
    return found


def behind_holders(image: Image, places: Places) -> dict[int, tuple[str, int]]:
    """The same of words and pointers, by holder."""
    sites = stacked([image.behind.sites, image.behind.word_sites])
    at, ips = offsets(sites["target"]).tolist(), sites["ip"].tolist()
    which = holders(sites["target"]).tolist()
    return _agreed((holder, places.at.get(ip), offset) for holder, ip, offset in zip(which, ips, at, strict=True))


def _agreed(seen: Iterable[tuple[_Key, Place | None, int]]) -> dict[_Key, tuple[str, int]]:
    """What all accesses through one pointer say that it leads to."""
    found: dict[_Key, set[tuple[str, int]]] = defaultdict(set)
    for key, place, offset in seen:
        if place is not None and place.exact:
            found[key].add((place.name, place.offset - offset))
    return {key: next(iter(ways)) for key, ways in found.items() if len(ways) == 1}
