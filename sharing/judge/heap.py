"""Findings on objects of the heap that threads share: a static pointer leads to it, or their argument.

Owns the passes on the image of these objects (``sharing.static.heapimage``), and what is said of them besides what the
rules of lines say: an object on the heap is at an address of which only the alignment is known.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.judge import positions
from sharing.judge.elements import element_size, elements_meet
from sharing.judge.onetime import AtOneTime
from sharing.judge.passes import Passes, Profiled, sites_and_locks
from sharing.judge.severitylimit import OF_PLACE, OF_TYPE, ONE_BESIDE_ANOTHER, ONE_FOR_ALL
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked
from sharing.model.finding import OF_SHARING, Severity, Verdict
from sharing.model.image import ALLOCATED, ArgKind, Image, SiteFlag
from sharing.model.profile import Actor, Heat
from sharing.rules.line.base import Context, Draft, LineRule, describe, who
from sharing.rules.line.thread_slots import RULE as THREAD_SLOTS
from sharing.static import correlate
from sharing.static.callgraph import kinds_apart
from sharing.static.chosenelements import chosen_elements
from sharing.static.correlate import Accesses
from sharing.static.flow import ByEntry
from sharing.static.handedobjects import Told, told_apart
from sharing.static.heapimage import ReadRecords, heap_image
from sharing.static.heaprecords import HeapRecord, heap_records
from sharing.static.lockedelements import locked_elements
from sharing.static.manyrecords import many_records
from sharing.static.ownrecords import handed_one_each, own_records
from sharing.static.recordobjects import Reached, RecordObjects, record_image, with_types
from sharing.static.tracedobjects import ReadMoves, traced_image

MOST_UNTYPED = Severity.MEDIUM  # where nothing says of what type an object is, who else has the pointer is not known
MOST_OF_PLAIN = Severity.LOW  # nor whether such an object is at one time with two threads

MOST_OF_CHOICE = Severity.MEDIUM  # whose object the array is in nothing tells but what is in that

_OF_MANY = "which of them a thread changes nothing says: threads share a line where they have neighbours"
_OF_CHOICE = "how many elements there are nothing says: threads share a line where they choose neighbours"

Rows = npt.NDArray[np.bool_]
Choice = Callable[[Image, Accesses, Knowledge], Rows]


class OnHeap(msgspec.Struct, frozen=True):
    """Drafts on such objects, and from what they are made."""

    drafts: list[Draft]
    profiled: Profiled
    context: Context
    records: tuple[HeapRecord, ...] = ()  # the objects that were judged one by one
    traced: bool = False  # told by what pointers are set to: the names of objects say nothing of which they are


class Reading(msgspec.Struct, frozen=True):
    """What debug information is asked: records by name, and what instructions reach where that was read."""

    records: ReadRecords
    reached: Reached | None = None
    moves: ReadMoves | None = None  # where nothing is known of types

    @property
    def typed(self) -> bool:
        """Whether debug information says of which type what pointers lead to is."""
        return self.reached is not None


def told_by(passes: Passes) -> Told:
    """What threads and callbacks are handed: asked once."""
    entries = [root.function for root in passes.calls.roots if root.function >= 0 and root.name != "main"]
    return told_apart(passes.image, passes.knowledge, entries)


def on_heap(
    profiled: Profiled, rules: list[LineRule], lines: tuple[int, int], reading: Reading, told: Told
) -> OnHeap | None:
    """What the rules say of them; None where the image has none.  ``lines``: bytes of a line, and of a pair of them."""
    passes = profiled.passes
    records = heap_records(told, passes.calls, passes.demangle)
    if reading.reached is not None:
        records = with_types(told, records, reading.reached)
    if not records:
        return None
    image, by_name = heap_image(told, records, reading.records)
    joined = _passes_on(profiled, image) if by_name else None
    if joined is None:
        return None
    context = joined.context(*lines)
    passes = joined.passes
    drafts = positions.run(joined.profiler, passes.accesses, joined.table, context, rules, limits=True)
    drafts = [_of_element(d, image) for d in drafts if _is_of_members(d) or _is_of_elements(d)]
    drafts = [_worded(d, by_name, typed=reading.typed) for d in (*drafts, *elements_meet(joined, context))]
    return OnHeap(drafts, joined, context, tuple(records))


def of_records(
    profiled: Profiled,
    rules: list[LineRule],
    lines: tuple[int, int],
    reading: Reading,
    told: Told,
    known: OnHeap | None,
    found: RecordObjects | None,
) -> OnHeap | None:
    """The same of records that pointers lead to by their types, one of each for all; ``known``: what is said."""
    passes = profiled.passes
    handed = _handed(found, len(passes.image.variables)) if found is not None else None
    joined = _passes_on(profiled, found.image, _used_by_several, handed) if found is not None else None
    if found is None or joined is None:
        return None
    apart = kinds_apart(passes.calls)
    told_by = AtOneTime(apart, found.shared)
    bears = OF_TYPE if reading.typed else OF_PLACE
    any_two = dataclasses.replace(joined.context(*lines), of_any=bears, at_one_time=told_by.of_any)
    of_two_kinds = dataclasses.replace(any_two, concurrent=apart, at_one_time=told_by.of_two_kinds)
    own = _Apart(passes, told, found)
    said = {_pair(draft): draft for draft in known.drafts} if known is not None else {}
    worst: dict[frozenset[str], Draft] = {}
    for context, can_meet in ((of_two_kinds, told_by.of_two_kinds), (any_two, told_by.of_any)):
        every = positions.run(joined.profiler, joined.passes.accesses, joined.table, context, rules, limits=True)
        for draft in every:
            if _is_of_shared_elements(draft) or (_is_of_members(draft) and can_meet(*draft.actors[:2])):
                worst[_pair(draft)] = max(worst.get(_pair(draft), draft), draft, key=lambda one: one.severity.rank)
    drafts = [_of_any(draft) for draft in worst.values() if not own.have_own(draft)]
    drafts = drafts if reading.typed else [_plainly(draft) for draft in drafts]
    drafts = [
        _at_most_low(one) if one.actors[0].owner in found.doubtful or _is_of_one_kind(one) else one for one in drafts
    ]
    if reading.moves is not None and known is not None:
        mine = OnHeap(drafts, joined, any_two)
        drafts = [one for one in drafts if not any(_says_as_much(other, known, one, mine) for other in known.drafts)]
    drafts = [draft for draft in drafts if _says_more(draft, said.get(_pair(draft)))]
    if known is not None:
        drafts = _without_elements_of(known, OnHeap(drafts, joined, any_two))
    return OnHeap(drafts, joined, any_two, traced=reading.moves is not None)


def described(passes: Passes, reading: Reading, known: OnHeap | None) -> RecordObjects | None:
    """One object of each record, told by types, or without these by what pointers are set to."""
    if reading.moves is not None:
        return traced_image(passes.image, passes.calls, reading.moves)
    if reading.reached is None:
        return None
    return record_image(passes.image, reading.reached, reading.records, known.records if known is not None else ())


def without_said(known: OnHeap | None, more: OnHeap | None) -> OnHeap | None:
    """The first view of objects, without the pairs of which the second says more."""
    if known is None or more is None:
        return known
    again = {_pair(draft) for draft in more.drafts}
    kept = [draft for draft in known.drafts if _pair(draft) not in again]
    if more.traced:
        kept = [one for one in kept if not any(_says_as_much(other, more, one, known) for other in more.drafts)]
    return msgspec.structs.replace(known, drafts=kept)


def _says_as_much(draft: Draft, said: OnHeap, other: Draft, by: OnHeap) -> bool:
    """Whether a draft says what the other one does, by the instructions that use the two, and at least as bad."""
    if draft.severity.rank < other.severity.rank or len(draft.actors) < 2 or len(other.actors) < 2:
        return False
    first, one = (_users(some.actors[0], heap) for some, heap in ((draft, said), (other, by)))
    rest, more = (
        set[int]().union(*(_users(actor, heap) for actor in some.actors[1:]))
        for some, heap in ((draft, said), (other, by))
    )
    # A lock that a function hands on is used by the call that hands it there, or by the one in the callee.
    same = bool(first & one) or (draft.actors[0].is_lock and other.actors[0].is_lock)
    return bool((same and rest & more) or (first & more and rest & one))


def _without_elements_of(known: OnHeap, heap: OnHeap) -> list[Draft]:
    """The drafts without those on elements that instructions use which the first view tells of, by another name."""
    said = set[int]().union(*(_users(one.actors[0], known) for one in known.drafts if len(one.actors) == 1))
    return [one for one in heap.drafts if len(one.actors) > 1 or not said & _users(one.actors[0], heap)]


def _users(actor: Actor, heap: OnHeap) -> set[int]:
    """Instructions that use it, and calls that are handed its address."""
    passes = heap.profiled.passes
    args, sites = passes.image.args, passes.accesses.sites  # what arguments lead to as well, which is in no image
    begin, end = np.uint64(actor.span[0]), np.uint64(actor.span[1])
    target, value = sites["target"], args["value"].astype(np.uint64)
    handed = (args["kind"] == ArgKind.ADDRESS) & (value >= begin) & (value < end)
    return {*sites["ip"][(target >= begin) & (target < end)].tolist(), *args["ip"][handed].tolist()}


def of_locked_elements(profiled: Profiled, lines: tuple[int, int], reading: Reading) -> OnHeap | None:
    """Neighbouring elements with a lock each, of arrays behind pointers, by the types of these."""
    passes = profiled.passes
    if reading.reached is None:
        return None
    image = locked_elements(passes.image, passes.calls, reading.reached, reading.records, passes.knowledge)
    joined = _passes_on(profiled, image) if image is not None else None
    if joined is None:
        return None
    context = joined.context(*lines)
    drafts = [
        dataclasses.replace(draft, evidence=(*draft.evidence, ONE_FOR_ALL)) for draft in elements_meet(joined, context)
    ]
    return OnHeap(drafts, joined, context)


def handed_by(profiled: Profiled, reading: Reading, told: Told) -> dict[str, int]:
    """The records of which threads of one kind are handed one each, as of ``ownrecords``: asked once."""
    passes = profiled.passes
    return handed_one_each(passes.image, passes.calls, told, reading.reached) if reading.reached is not None else {}


def of_chosen_elements(
    profiled: Profiled, lines: tuple[int, int], reading: Reading, handed: Mapping[str, int], known: Sequence[OnHeap]
) -> OnHeap | None:
    """Elements of arrays behind pointers that code chooses, of which threads have the same array; what is said of
    elements of ``known`` objects is said."""
    passes = profiled.passes
    if reading.reached is None:
        return None
    image = chosen_elements(passes.image, passes.calls, reading.reached, handed, reading.records, passes.knowledge)
    joined = _passes_on(profiled, image) if image is not None else None
    if joined is None:
        return None
    context = dataclasses.replace(joined.context(*lines), chosen=True)
    drafts = positions.run(joined.profiler, joined.passes.accesses, joined.table, context, [THREAD_SLOTS], limits=True)
    mine = OnHeap([_of_choice(draft) for draft in drafts if _is_of_elements(draft)], joined, context)
    for heap in known:
        mine = msgspec.structs.replace(mine, drafts=_without_elements_of(heap, mine))
    return mine


def _of_choice(draft: Draft) -> Draft:
    """The draft, low at most where nothing says that the element is the thread's own, or that several kinds of threads
    change elements which are made for several."""
    writers = draft.actors[0].writers
    own = any(access.own for access in writers)
    made = any(access.atomic for access in writers) and not _is_of_one_kind(draft)
    most = MOST_OF_CHOICE if own or made else MOST_OF_PLAIN
    severity = min(draft.severity, most, key=lambda one: one.rank)
    return dataclasses.replace(draft, severity=severity, evidence=(*draft.evidence, _OF_CHOICE))


def of_own_records(
    profiled: Profiled, lines: tuple[int, int], reading: Reading, handed: Mapping[str, int], known: OnHeap | None
) -> OnHeap | None:
    """Neighbouring records of threads of one kind, each of which is handed one and keeps something there; of arrays
    that are ``known`` all is said."""
    passes = profiled.passes
    if reading.reached is None:
        return None
    image = own_records(passes.image, passes.calls, handed, reading.reached, reading.records)
    joined = _passes_on(profiled, image) if image is not None else None
    if joined is None:
        return None
    context = joined.context(*lines)
    drafts = positions.run(joined.profiler, joined.passes.accesses, joined.table, context, [THREAD_SLOTS], limits=True)
    drafts = [draft for draft in (*drafts, *elements_meet(joined, context)) if _keeps_own(draft)]
    said = {draft.actors[0].owner for draft in known.drafts if draft.rule == THREAD_SLOTS.id} if known else set()
    drafts = [draft for draft in drafts if draft.actors[0].owner not in said]
    return OnHeap([_of_neighbours(draft) for draft in drafts], joined, context)


def of_many_records(
    profiled: Profiled, lines: tuple[int, int], reading: Reading, found: RecordObjects | None, known: Sequence[OnHeap]
) -> OnHeap | None:
    """Small records of which there are many side by side, and which threads change each under no lock."""
    passes = profiled.passes
    if reading.reached is None or found is None:
        return None
    image = many_records(passes.image, passes.calls, reading.reached, found, passes.knowledge)
    handed = _handed(found, len(passes.image.variables))
    joined = _passes_on(profiled, image, handed=handed) if image is not None else None
    if joined is None:
        return None
    context = joined.context(*lines)
    drafts = positions.run(joined.profiler, joined.passes.accesses, joined.table, context, [THREAD_SLOTS], limits=True)
    drafts = [_of_many(draft) for draft in drafts if _keeps_own(draft) and draft.actors[0].write_heat is Heat.HOT]
    mine = OnHeap(drafts, joined, context)
    for heap in known:
        mine = msgspec.structs.replace(mine, drafts=_without_elements_of(heap, mine))
    return mine


def _keeps_own(draft: Draft) -> bool:
    """Whether something is changed there under no lock and by no atomic: by the thread whose record it is."""
    return any(
        access.own and not access.atomic and not access.locks and access.weight > 0
        for actor in draft.actors
        if not actor.write_guards and actor.write_heat is not Heat.COLD
        for access in actor.writers
    )


def _of_neighbours(draft: Draft) -> Draft:
    """Low at most: an allocator puts objects of one size side by side where nothing else of that size is made between.

    Of those that a program makes with parts of their own, or a class in front of another, it does not.
    """
    low = _at_most_low(dataclasses.replace(draft, evidence=(*draft.evidence, ONE_BESIDE_ANOTHER)))
    if len(draft.actors) > 1 or draft.rule != THREAD_SLOTS.id:
        return low
    (actor,) = draft.actors
    begin, end = actor.owner_span
    message = (
        f"{actor.owner} has {end - begin} bytes, and each of several threads is handed one, of which it changes "
        f"{describe(actor)} ({who(actor.writers)}): where two of them stand side by side, threads take the line from "
        "each other"
    )
    return dataclasses.replace(low, message=message)


def _of_many(draft: Draft) -> Draft:
    (actor,) = draft.actors
    begin, end = actor.owner_span
    message = (
        f"{actor.owner} has {end - begin} bytes, the program has several side by side, and several threads change "
        f"{describe(actor)} of them under no lock ({who(actor.writers)}), as nobody does to one that threads share: "
        "threads that change neighbours take the line from each other"
    )
    return dataclasses.replace(_at_most_low(draft), message=message, evidence=(*draft.evidence, _OF_MANY))


class _Apart:
    """Threads that are handed objects of their own, by what starts them."""

    def __init__(self, passes: Passes, told: Told, records: RecordObjects) -> None:
        given: dict[int, set[int | None]] = defaultdict(set)
        for one in told.every:
            given[one.entry].add(None if one.stride else one.data)
        self._objects: dict[str, list[tuple[int, set[int]]]] = defaultdict(list)  # by record: (mask of a root, objects)
        self._starting: dict[str, int] = defaultdict(int)  # by record: those that are handed one
        functions = passes.image.functions["address"]
        for at, root in enumerate(passes.calls.roots):
            record = records.entries.get((root.function, 0)) if root.function >= 0 else None
            data = given.get(int(functions[root.function]), {None}) if record is not None else {None}
            objects = {one for one in data if one is not None}
            if record is not None:
                self._starting[record] |= 1 << at
            if record is not None and len(objects) == len(data):
                self._objects[record].append((1 << at, objects))

    def have_own(self, draft: Draft) -> bool:
        """Whether all threads that use the two are handed the record, and no two kinds of them the same object.

        Of elements whether who changes them is handed it: one that all have is known for itself.
        """
        if len(draft.actors) == 1:
            return bool(self._starting.get(draft.actors[0].owner, 0) & draft.actors[0].mask(writers=True))
        known = self._objects.get(draft.actors[0].owner, [])
        mask = draft.actors[0].mask() | draft.actors[1].mask()
        mine = [objects for root, objects in known if mask & root]
        covered = sum(root for root, _ in known)
        return len(mine) > 1 and not mask & ~covered and len(set().union(*mine)) == sum(map(len, mine))


def _used_by_several(image: Image, accesses: Accesses, knowledge: Knowledge) -> Rows:
    """Which accesses are to objects of which something may be said: kinds of threads change and use them, or something
    in them is made for several threads."""
    marked = (accesses.sites["flags"] & SiteFlag.ATOMIC != 0) | (accesses.lock >= 0)
    chosen = set(accesses.variable[marked].tolist())
    masks: dict[int, set[int]] = defaultdict(set)
    for row, mask in zip(accesses.variable.tolist(), accesses.mask.tolist(), strict=True):
        masks[row].add(mask)
    for row in set(masks) - chosen:
        leaves = image.types.flatten(int(image.variables["type"][row]))
        made = any(leaf.is_atomic or any(knowledge.atomic_types.find(n) >= 0 for n in leaf.via) for leaf in leaves)
        if made or len(masks[row] - {0}) > 1:
            chosen.add(row)
    return among(accesses.variable, np.array(sorted(chosen), np.int64))


def _handed(records: RecordObjects, first: int) -> ByEntry:
    """The objects, from row ``first`` on, that functions are handed, by these and the argument."""
    image = records.image
    laid_out = image.variables[first:]
    at = {image.names[name]: address for name, address in laid_out[["name", "address"]].tolist() if name >= 0}
    return {entry: [(at[name], 0)] for entry, name in records.entries.items() if name in at}


def _passes_on(
    profiled: Profiled, image: Image, chosen: Choice | None = None, handed: ByEntry | None = None
) -> Profiled | None:
    """The passes on an image of objects that were laid out behind the variables; None where nobody uses these.

    ``chosen``: which accesses are looked at; ``handed``: which of the objects entries are handed.
    """
    passes = profiled.passes
    laid_out = image.variables["address"][len(passes.image.variables) :]
    if not len(laid_out):
        return None
    # What lies before was judged: of its accesses, which are by far most, nothing is asked here.
    least = laid_out.min()
    sites, locks, spins = sites_and_locks(
        image, passes.calls, passes.knowledge, handed, least=int(least), known=passes.spins
    )
    events = np.concatenate([locks.events, spins.taken])
    sites_there = spins.without_own(picked(sites, sites["target"] >= least))
    events_there = picked(events, events["address"] >= least)
    every = correlate.collect_accesses(image, passes.calls, sites_there, events_there)
    mine = every.take(every.variable >= len(passes.image.variables))
    if chosen is not None:
        mine = mine.take(np.flatnonzero(chosen(image, mine, passes.knowledge)))
    if not len(mine.sites):
        return None
    heap = dataclasses.replace(passes, image=image, locks=locks, sites=sites, accesses=mine, limits=profiled.limits)
    return heap.profiled()


def _is_of_members(draft: Draft) -> bool:
    """Whether it says that two members of one object disturb each other."""
    pair = draft.actors[:2]
    return (
        draft.verdict in OF_SHARING
        and len(pair) == 2
        and all(actor.section == ALLOCATED for actor in pair)
        and pair[0].owner == pair[1].owner
    )


def _is_of_elements(draft: Draft) -> bool:
    """Whether it says that threads disturb each other, each in an element of its own of one array."""
    (first, *more) = draft.actors
    return draft.verdict is Verdict.FALSE_SHARING and not more and first.section == ALLOCATED


def _is_of_shared_elements(draft: Draft) -> bool:
    """Whether it says so of elements that are made for several threads, whosever object they are in: atomics."""
    return _is_of_elements(draft) and any(access.atomic and access.stride for access in draft.actors[0].writers)


def _is_of_one_kind(draft: Draft) -> bool:
    """Whether it is on elements that one kind of threads changes: each of these may have an object of its own."""
    return len(draft.actors) == 1 and draft.actors[0].mask(writers=True).bit_count() < 2


def _pair(draft: Draft) -> frozenset[str]:
    return frozenset(actor.name for actor in draft.actors[:2])


def _says_more(draft: Draft, said: Draft | None) -> bool:
    """Whether one view of a pair says worse than the other, or the same and of more members."""
    if said is None or draft.severity is not said.severity:
        return said is None or draft.severity.rank > said.severity.rank
    return {actor.name for actor in draft.actors} > {actor.name for actor in said.actors}


def _of_element(draft: Draft, image: Image) -> Draft:
    """The draft, low at most of two in one element of an array: who but its own thread comes to that is not known."""
    alone = not _is_of_members(draft) or not element_size(image, image.variable_at(draft.actors[0].span[0]))
    return draft if alone else _at_most_low(draft)


def _at_most_low(draft: Draft) -> Draft:
    return dataclasses.replace(draft, severity=min(draft.severity, MOST_OF_PLAIN, key=lambda one: one.rank))


def _of_any(draft: Draft) -> Draft:
    if any(ONE_FOR_ALL in said for said in draft.evidence):
        return draft
    return dataclasses.replace(draft, evidence=(*draft.evidence, ONE_FOR_ALL))


def _plainly(draft: Draft) -> Draft:
    """The draft, low at most where neither of the two is made for several threads."""
    if any(map(positions.is_synchronised, draft.actors[:2])):
        return draft
    return _at_most_low(draft)


def _worded(draft: Draft, by_name: dict[str, HeapRecord], *, typed: bool) -> Draft:
    record = by_name[draft.actors[0].owner]
    most = draft.severity if typed else min(draft.severity, MOST_UNTYPED, key=lambda severity: severity.rank)
    return dataclasses.replace(draft, severity=most, evidence=(*draft.evidence, f"the object is {record.where}"))
