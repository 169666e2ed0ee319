"""Whom a call through a pointer calls: the functions that are kept where it takes its target from.

Owns the slots of functions' addresses: so far behind the begin of a record or a table of functions, in a static
variable or the elements of a static array, and in arguments that are called or stored further on.  A call that loads
its target 40 bytes behind some pointer calls a function that somebody stores 40 bytes behind a pointer, or that stands
so far behind the begin of a table.  Whose record it is, is not known, and addresses that go out of sight are missed:
who is found at a slot of a record is called there more likely than others, and others may be called there as well.  A
callback that is registered, an argument that is stored in a record and nothing else, is called there alone, and where
all that is stored there is known to be this one function it is what such a call calls.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import those_having
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, ImageKind, SlotKind, Table
from sharing.static import numbers
from sharing.static.callees import calls_of, function_at, functions_given
from sharing.static.elementslots import StaticElements
from sharing.static.executions import each_time, in_loop, times
from sharing.static.functionwords import FunctionWords
from sharing.static.objectcode import calls_of_managers
from sharing.static.slotnumbers import LOW_HALF, kind_of, place_of, slot_at, slots_of

Ints = npt.NDArray[np.int64]
ANY_NUMBER = 255  # of arguments
CALLED = -2  # in the place of how far behind a pointer an argument is stored


def _pairs(first: npt.NDArray[np.integer], second: Ints) -> Ints:
    """Two rows as one number."""
    result: Ints = first.astype(np.int64) << 32 | (second & LOW_HALF)
    return result


class KeptFunctions:
    """What instructions and words of data keep where, for calls through pointers."""

    def __init__(self, image: Image, is_library: Callable[[int], bool] | None = None) -> None:
        """``is_library``: is the function of a row one that a program has from a library?"""
        self._image = image
        self._is_library = is_library
        self._elements = StaticElements(image)
        self._kept = slots_of(image.kept["slot"], image.kept["where"], image.kept["function"])
        self._kept = np.where(kind_of(self._kept), self._kept, self._elements.of(image.kept["ip"], AccessKind.STORE))
        own = np.full(len(image.kept), SlotKind.ARGUMENT)
        self._stored = slots_of(own, image.kept["arg"], image.kept["function"])
        args = image.args
        callee, given = functions_given(image), np.full(len(args), SlotKind.ARGUMENT)
        function = args["function"]
        self._passed = np.where(callee >= 0, slots_of(given, args["arg"], callee), -1)
        self._source = np.where(function >= 0, slots_of(given, args["source"], function), -1)
        self._address = args["kind"] == ArgKind.ADDRESS
        self._whole = (args["kind"] == ArgKind.PARAM) & (args["value"] == 0)
        self._words = FunctionWords(image)
        self._registered: tuple[Ints, Ints] | None = None
        self._sequential: Callable[[Table], npt.NDArray[np.bool_]] | None = None

    def while_threads_run(self, sequential: Callable[[Table], npt.NDArray[np.bool_]]) -> KeptFunctions:
        """The same without the calls that are made while no other thread runs."""
        made = copy.copy(self)
        made._sequential = sequential
        return made

    def calls(self) -> tuple[Table, Ints]:
        """Calls through pointers of this image's functions, and the slot of each as a number, 0 where unknown."""
        chosen = those_having(self._image.calls, "callee", 0)
        chosen = picked(chosen, chosen["function"] >= 0)
        if self._sequential is not None:
            chosen = picked(chosen, ~self._sequential(chosen))
        slots = slots_of(chosen["slot"], chosen["where"], chosen["function"])
        slots = np.where(kind_of(slots), slots, self._elements.of(chosen["ip"], AccessKind.LOAD))
        return chosen, self._words.classes.of(chosen["ip"], slots)

    def unresolved(self) -> tuple[Table, Ints]:
        """The same without those beside which calls of what is kept there stand (``slotcalls``, ``objecttables``)."""
        calls, slots = self.calls()
        alone = ~self.is_resolved(calls)
        return picked(calls, alone), slots[alone]

    def is_resolved(self, calls: Table) -> npt.NDArray[np.bool_]:
        """Calls through pointers beside which those of what is kept there stand, or that are known to call it."""
        found: npt.NDArray[np.bool_] = among(calls["ip"], self._known)
        return found

    @cached_property
    def _known(self) -> npt.NDArray[np.uint64]:
        every = self._image.calls
        exact = self.resolved["ip"][self.resolved["slot"] != SlotKind.RECORD]  # others' records may have something else
        ip, callee = every["ip"], every["callee"]
        return distinct(np.concatenate([ip[callee != 0], exact]))

    @cached_property
    def resolved(self) -> Table:
        """Calls through static variables and arguments as calls of the functions that are there, each in its turn.

        Calls through records are not among them, as other records have something at the same distance, but for those of
        callbacks that are registered alone.
        """
        calls, slots = self.calls()
        sure = np.flatnonzero(among(kind_of(slots), (SlotKind.STATIC, SlotKind.ARGUMENT, SlotKind.ELEMENT)))
        found = self.at(slots[sure].tolist())
        pairs = [(at, row) for at in sure.tolist() for row in found.get(int(slots[at]), ())]
        here = (kind_of(slots) == SlotKind.RECORD) & among(place_of(slots), self.registered()[1])
        alone = {place: self.only_there(place) for place in np.unique(place_of(slots[here])).tolist()}
        pairs += [(at, row) for at in np.flatnonzero(here).tolist() if (row := alone[int(place_of(slots[at]))]) >= 0]
        chosen, rows = np.array(pairs, np.int64).reshape(-1, 2).T
        of_call = np.bincount(chosen, minlength=len(calls))
        few = of_call[chosen] <= numbers.FEW_TARGETS
        made = calls[chosen[few]]
        made["callee"] = self._image.functions["address"][rows[few]]
        made["rarity"] += np.round(shared.RARITY_STEPS * np.log2(of_call[chosen[few]])).astype(np.uint16)
        return made

    def at(self, slots: Iterable[int], *, tables: bool = True) -> dict[int, set[int]]:
        """Rows of the functions that are kept at each of these slots; none where nothing is known to be.

        Without ``tables`` those that code stores alone.
        """
        image = self._image
        elements = {slot: self._elements.each(slot) for slot in set(slots) if kind_of(slot) == SlotKind.ELEMENT}
        wanted = np.array(sorted({*slots, *(one for some in elements.values() for one in some)}), np.int64)
        found: dict[int, set[int]] = defaultdict(set)
        made = np.flatnonzero(among(self._kept, wanted))
        rows = function_at(image, image.kept["value"][made])
        arrives: dict[int, set[int]] = defaultdict(set)  # slots that an argument comes to
        for at, row in zip(made.tolist(), rows.tolist(), strict=True):
            if row >= 0:
                found[int(self._kept[at])].add(row)
            elif not image.kept["value"][at]:
                arrives[int(self._stored[at])].add(int(self._kept[at]))
        for slot in wanted[kind_of(wanted) == SlotKind.ARGUMENT].tolist():
            arrives[slot].add(slot)
        for slot in wanted.tolist() if tables else ():
            found[slot].update(self._words.at(slot).tolist())
        fresh = set(arrives)
        for _ in range(numbers.ENTRY_WRAPPERS):
            rows = np.flatnonzero(among(self._passed, np.array(sorted(fresh), np.int64)))
            fresh = set()
            value = function_at(image, image.args["value"][rows].astype(np.uint64))
            for at, row in zip(rows.tolist(), value.tolist(), strict=True):
                ends = arrives[int(self._passed[at])]
                if self._address[at] and row >= 0:
                    for slot in ends:
                        found[slot].add(row)
                elif self._whole[at] and self._source[at] >= 0 and not ends <= arrives[int(self._source[at])]:
                    arrives[int(self._source[at])] |= ends
                    fresh.add(int(self._source[at]))
            if not fresh:
                break
        for slot, some in elements.items():
            found[slot] = found[slot].union(*(found.get(one, ()) for one in some))
        return found

    def stored_places(self) -> Ints:
        """The slots of records in which functions are seen to be stored, or arguments."""
        kept: Ints = np.unique(self._kept[kind_of(self._kept) == SlotKind.RECORD])
        return kept

    def only_virtual(self) -> tuple[Ints, Ints]:
        """Rows of functions that only tables of virtual functions keep, and how far behind the begin of each.

        Whoever calls such a function through the table may ask before whether it is the one that is expected.
        """
        image, (row, behind) = self._image, self._words.virtual
        of_source, places_there = self._of_source()
        calls, slots = self.calls()
        tables = kind_of(slots) == SlotKind.RECORD
        made = np.unique(_pairs(calls["function"][tables], place_of(slots[tables])))
        asked = image.kept["slot"] == SlotKind.UNKNOWN
        given = np.concatenate([image.kept["value"][~asked], image.args["value"][self._address].astype(np.uint64)])
        alone = (row >= 0) & ~among(row, np.append(function_at(image, given), self._words.elsewhere))
        seen = picked(image.sites, image.sites["kind"] == AccessKind.ADDRESS)[["function", "target"]]
        by = np.append(seen["function"], image.kept["function"][asked])
        named = function_at(image, np.append(seen["target"], image.kept["value"][asked]))
        told = among(named, row[alone])
        for caller, function in set(zip(by[told].tolist(), named[told].tolist(), strict=True)):
            places = behind[row == function]
            if not among(_pairs(np.full(len(places), caller), places), made).any():
                alone &= row != function
        return np.append(row[alone], of_source), np.append(behind[alone], places_there)

    def of_managers(self) -> npt.NDArray[np.uint64]:
        """Calls that copy or end what a ``std::function`` holds, by its manager, and run nothing of it."""
        return calls_of_managers(self._image)

    @cached_property
    def needs(self) -> Ints:
        """By function how many arguments it is surely handed: it looks at what the last one of these points to.

        What is no more than handed on may be left over from before.
        """
        params, found = self._image.params, np.zeros(len(self._image.functions), np.int64)
        read = picked(params, (params["function"] >= 0) & (params["kind"] != AccessKind.ADDRESS))
        np.maximum.at(found, read["function"], read["arg"].astype(np.int64) + 1)
        return found

    def registered(self) -> tuple[Ints, Ints]:
        """Rows of functions that are arguments which are stored in records, and nothing else; how far behind the begin.

        A row for each place.  Of source more is known of all that members keep (``only_virtual``, ``slotcalls``).
        """
        if self._registered is None:
            found = sorted((row, place) for row, places in self._find_registered().items() for place in places)
            rows, places = np.array(found, np.int64).reshape(-1, 2).T
            self._registered = rows, places
        return self._registered

    def only_places(self) -> dict[int, set[int]]:
        """By row of a function that is kept in records and nowhere else how far behind their begin; -1 elsewhere."""
        image = self._image
        found: dict[int, set[int]] = defaultdict(set)
        registered = self._find_registered(copied=True)
        for row, places in registered.items():
            found[row] |= places
        made = image.kept["value"] != 0
        rows, slots = function_at(image, image.kept["value"][made]), self._kept[made]
        for row, slot in zip(rows.tolist(), slots.tolist(), strict=True):
            found[row].add(place_of(slot) if kind_of(slot) == SlotKind.RECORD else -1)
        handed = function_at(image, image.args["value"][self._address].astype(np.uint64))
        for row in {*handed.tolist()} - registered.keys() if not image.origins else ():
            found[row].add(-1)
        for row in (*self._words.elsewhere.tolist(), *self._words.virtual[0].tolist()):
            found[row].add(-1)
        return found

    def _find_registered(self, *, copied: bool = False) -> dict[int, set[int]]:
        """``copied``: of a register that has it beside the argument's, and which nobody reads, it is not asked."""
        image, args = self._image, self._image.args
        handing, rows = self._handing() if not image.origins else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        if not len(rows):
            return {}
        found = self._ends(handing, rows, self._stored_at(np.unique(self._passed[handing])), copied=copied)
        seen = picked(image.sites, image.sites["kind"] == AccessKind.ADDRESS)[["function", "target"]]
        named = function_at(image, seen["target"])
        explained = np.unique(_pairs(args["function"][handing], rows))
        unseen = (named >= 0) & ~among(_pairs(seen["function"], named), explained)
        kept = function_at(image, image.kept["value"][image.kept["value"] != 0])
        others = {
            *named[unseen].tolist(),
            *kept.tolist(),
            *self._words.elsewhere.tolist(),
            *self._words.virtual[0].tolist(),
        }
        return {row: places for row, places in found.items() if -1 not in places and row not in others}

    def handed_places(self) -> dict[int, set[int]]:
        """By row of a function that functions of this image are handed how far behind pointers these store it.

        -1 where something else is done with it than to store, call or compare it.
        """
        handing, rows = self._handing()
        ends = self._stored_at(np.unique(self._passed[handing]), if_called=CALLED)
        found = self._ends(handing, rows, ends, copied=True, called=self._direct)
        return {row: places - {CALLED} for row, places in found.items()}

    def _handing(self) -> tuple[Ints, Ints]:
        """Rows of the arguments that are addresses of functions, and the rows of these."""
        handing = np.flatnonzero(self._address)
        rows = function_at(self._image, self._image.args["value"][handing].astype(np.uint64))
        return handing[rows >= 0], rows[rows >= 0]

    def _ends(
        self,
        handing: Ints,
        rows: Ints,
        ends: dict[int, set[int]],
        *,
        copied: bool,
        called: frozenset[tuple[int, int]] = frozenset(),
    ) -> dict[int, set[int]]:
        """By function what these arguments' ``ends`` are; of a call all that is handed is one or a copy of it."""
        unused: set[int] = set() if copied else {-1}
        by_call: dict[tuple[int, int], set[int]] = defaultdict(set)
        ips, slots = self._image.args["ip"][handing].tolist(), self._passed[handing].tolist()
        for ip, row, slot in zip(ips, rows.tolist(), slots, strict=True):
            by_call[ip, row] |= ends.get(slot, {-1}) or unused
        found: dict[int, set[int]] = defaultdict(set)
        for (ip, row), places in by_call.items():
            found[row] |= places or {CALLED if (ip, row) in called else -1}
        return found

    @cached_property
    def _direct(self) -> frozenset[tuple[int, int]]:
        """Calls (ip) of functions that call one (row) themselves that they are handed, as templates call a lambda."""
        args = self._image.args
        handing, rows = self._handing()
        callee = function_at(self._image, args["callee"][handing])
        calls = self._image.calls
        made = _pairs(calls["function"], function_at(self._image, calls["callee"]))
        direct = (callee >= 0) & among(_pairs(callee, rows), made)
        return frozenset(zip(args["ip"][handing][direct].tolist(), rows[direct].tolist(), strict=True))

    def virtual(self) -> tuple[Ints, Ints]:
        """Rows of functions in tables of virtual functions, and how far behind the begin of each, or of a family."""
        return self._words.virtual

    def distances(self, places: Ints) -> Ints:
        """How far behind the begin of a table places are, of a family or not."""
        return self._words.classes.distances(places)

    def undecided(self) -> npt.NDArray[np.uint64]:
        """Calls where tables of several families of classes have functions, and nothing tells of which they are."""
        return self._words.classes.undecided

    def words(self) -> tuple[Ints, Ints]:
        """Rows of functions in other words of data, and the addresses of these."""
        row, address = self._words.tables
        return row[row >= 0], address[row >= 0]

    def _stored_at(self, wanted: Ints, *, if_called: int = -1) -> dict[int, set[int]]:
        """By argument, as a slot, how far behind some pointer it is stored; -1 where anything else is done with it."""
        slots = self.calls()[1]
        called = set(slots[kind_of(slots) == SlotKind.ARGUMENT].tolist())
        ends: dict[int, set[int]] = {}
        led: dict[int, list[int]] = defaultdict(list)
        fresh = wanted[wanted >= 0]
        for _ in range(numbers.ENTRY_WRAPPERS):
            own = np.flatnonzero(among(self._stored, fresh) & (self._image.kept["value"] == 0))
            for slot in fresh.tolist():
                ends[slot] = {if_called} if slot in called else set()
            for slot, place in zip(self._stored[own].tolist(), self._kept[own].tolist(), strict=True):
                ends[slot].add(place_of(place) if kind_of(place) == SlotKind.RECORD else -1)
            handed = np.flatnonzero(among(self._source, fresh) & (self._image.args["kind"] == ArgKind.PARAM))
            whole = np.where(self._whole[handed], self._passed[handed], -1)
            for slot, further in zip(self._source[handed].tolist(), whole.tolist(), strict=True):
                led[further].append(slot)
            fresh = np.setdiff1d(whole[whole >= 0], np.array(list(ends), np.int64))
        waiting = [-1, *fresh.tolist(), *ends]
        for slot in (-1, *fresh.tolist()):
            ends[slot] = {-1}
        while waiting:
            slot = waiting.pop()
            for before in led.get(slot, ()):
                if not ends[slot] <= ends[before]:
                    ends[before] |= ends[slot]
                    waiting.append(before)
        return ends

    def only_there(self, place: int) -> int:
        """Row of the registered function that alone is stored so far behind pointers; -1 where there may be others."""
        image, slot = self._image, slot_at(SlotKind.RECORD, place)
        rows, places = self.registered()
        mine = np.unique(rows[places == place])
        if len(mine) != 1 or self.at([slot]).get(slot) != {int(mine[0])}:
            return -1
        open_to_others = FunctionFlag.ADDRESS_TAKEN | (FunctionFlag.EXPORTED if image.kind is ImageKind.SHARED else 0)
        for at in np.flatnonzero(self._kept == slot).tolist():
            function = image.functions[int(image.kept["function"][at])]
            known = self._address & (self._passed == self._stored[at])
            if function["flags"] & open_to_others or np.count_nonzero(known) != len(
                calls_of(image, int(function["address"]))
            ):
                return -1
        return int(mine[0])

    def _of_source(self) -> tuple[Ints, Ints]:
        """The same by what source says: of virtual functions, and of all that members of records are known to keep."""
        if not self._image.origins:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        found = self.at(self._kept[self._image.kept["slot"] == SlotKind.RECORD].tolist())
        pairs = [(row, place_of(slot)) for slot, rows in sorted(found.items()) for row in sorted(rows)]
        row, place = np.array(pairs, np.int64).reshape(-1, 2).T
        return row, place

    def own_first(self, rows: Iterable[int]) -> Ints:
        """The program's own of these functions, or all where it has none there."""
        found = sorted(rows)
        own = [row for row in found if self._is_library is None or not self._is_library(row)]
        return np.array(own or found, np.int64)


class PointerTargets(msgspec.Struct, frozen=True):
    """Calls through pointers that functions make in loops, and as a rule outside of loops (``looped`` or not).

    ``times`` in one run, ``targets`` where they are few.  Of a call the functions at its slot are ``targets[group]``,
    unknown where ``group`` is -1; outside of loops they are known.
    """

    function: Ints
    times: npt.NDArray[np.float64]
    looped: npt.NDArray[np.bool_]
    group: Ints
    targets: tuple[Ints, ...]
    handed: Ints  # how many arguments a call may hand over
    needs: Ints  # by function how many it looks at, or more

    def called(self, number: int, targets: Sequence[Ints], handed: int) -> Ints:
        """Functions of a group that such a call may be of: none looks at what it is not handed."""
        rows = targets[number]
        return rows[self.needs[rows] <= handed]


def pointer_targets(kept: KeptFunctions, functions: npt.NDArray[np.bool_], iterations: float) -> PointerTargets:
    """Those of some functions, whose slots are looked up; ``iterations`` of a loop.

    Where a program's own functions are kept at a slot, those of libraries are left out: objects of all kinds have
    functions there, and a program's loops run what the program has made.
    """
    calls, slots = kept.unresolved()
    inside = in_loop(calls["loop_depth"])
    chosen = functions[calls["function"]] & (inside | (each_time(calls["rarity"]) & (slots > 0)))
    chosen &= ~among(calls["ip"], kept.of_managers())
    calls, slots, inside = calls[chosen], slots[chosen], inside[chosen]
    found = {slot: kept.own_first(rows) for slot, rows in kept.at(slots[slots > 0].tolist()).items()}
    few = {slot: rows for slot, rows in found.items() if 0 < len(rows) <= numbers.FEW_TARGETS}
    number = {slot: at for at, slot in enumerate(few)}
    group = np.array([number.get(slot, -1) for slot in slots.tolist()], np.int64)
    known = inside | (group >= 0)
    often = times(calls["loop_depth"], calls["rarity"], iterations)
    handed = arguments_handed(calls)
    return PointerTargets(
        calls["function"].astype(np.int64)[known],
        often[known],
        inside[known],
        group[known],
        tuple(few.values()),
        handed[known],
        kept.needs,
    )


def arguments_handed(calls: Table) -> Ints:
    """How many arguments each of these calls through pointers may hand over."""
    told = calls["handed"].astype(np.int64)
    return np.where(told > 0, told - 1, ANY_NUMBER)
