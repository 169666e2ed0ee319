"""The passes that say who touches what in one image: from the image to its line profiles, in order.

Owns their order, and what the rules are told of an image besides its lines.  Which lines are looked at, and what is
said of them, is the caller's: ``sharing.judge.static`` looks for trouble, ``sharing.explain`` compares two images.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Set
from dataclasses import dataclass

import msgspec
import numpy as np

from sharing.basics.naming import Demangle, readable_names
from sharing.judge.comparedheat import ComparedHeat
from sharing.judge.severitylimit import OF_TYPE
from sharing.knowledge import Knowledge
from sharing.model.arrays import among
from sharing.model.finding import Confidence
from sharing.model.image import Image, SectionKind, Table
from sharing.model.profile import Actor
from sharing.rules.line.base import Context
from sharing.static import callgraph, correlate, flow
from sharing.static.callees import function_name
from sharing.static.callgraph import CallGraph
from sharing.static.correlate import Accesses, Slots, Thresholds
from sharing.static.eventloops import with_rare_preparations
from sharing.static.flow import LockCalls
from sharing.static.foldedindexes import with_folded_indexes
from sharing.static.givenrows import with_given_rows
from sharing.static.objecttables import with_object_calls
from sharing.static.ownedrecords import owned_records
from sharing.static.ownwords import own_names, with_own_elements
from sharing.static.profiles import Profiler
from sharing.static.rarecode import with_rarity
from sharing.static.recover import recover
from sharing.static.roots import LookElsewhere
from sharing.static.runtimecode import without_runtime
from sharing.static.slotcalls import with_slot_calls
from sharing.static.spinlocks import NO_LOCKS, SpinLocks, spin_locks
from sharing.static.startcalls import with_start_calls
from sharing.static.startloops import with_rare_starts
from sharing.static.startobjects import with_start_objects
from sharing.static.startrecords import with_start_records
from sharing.static.startwords import with_start_words
from sharing.static.waitcode import without_waiting_loops


@dataclass(frozen=True, slots=True)
class Passes:
    """One image and what its code does to its variables.

    ``image`` is without thread-local variables and with the objects that only code names; ``sites`` are all accesses
    seen in it, ``accesses`` those that count, weighed and attributed.
    ``locks`` are the calls that lock and unlock, and where code holds what it takes by itself; ``spins`` the latter.
    """

    image: Image
    calls: CallGraph
    locks: LockCalls
    sites: Table
    accesses: Accesses
    knowledge: Knowledge
    demangle: Demangle
    spins: SpinLocks = NO_LOCKS
    limits: Thresholds | None = None  # what is hot, where that does not follow from ranks in the program

    def profiled(self, heat: ComparedHeat | None = None) -> Profiled:
        """The last passes: how busy what is, and profiles of lines; ``heat`` where revisions are compared."""
        table = correlate.slots(self.accesses)
        limits = self.limits or correlate.thresholds(table, self.image)
        if heat is not None:
            limits = heat.bar(self.image, limits)
        profiler = Profiler(self.image, self.calls, self.accesses, self.locks, self.knowledge, limits, self.demangle)
        profiler.settled = heat.settled(self.image, self.calls) if heat is not None else None
        return Profiled(self, table, limits, profiler)


class Profiled(msgspec.Struct, frozen=True):
    """An image whose lines can be profiled; ``table`` is accesses by first byte, ``limits`` what is hot in it."""

    passes: Passes
    table: Slots
    limits: Thresholds
    profiler: Profiler

    def context(self, line_size: int, pair_size: int) -> Context:
        """What the rules are told of the image; sizes in bytes."""
        calls, image = self.passes.calls, self.passes.image
        return Context(
            line_size,
            pair_size,
            Confidence.STATIC,
            calls.concurrent,
            sum(1 << i for i, r in enumerate(calls.roots) if r.function >= 0 and r.name != "main"),
            calls.root_names,
            functools.partial(shift_step, image, line_size),
            # Of source whoever checks it says that threads run it.
            0 if image.origins else sum(1 << i for i, r in enumerate(calls.roots) if r.function < 0),
            sum(1 << i for i, r in enumerate(calls.roots) if r.is_perhaps_many),
            OF_TYPE if image.origins else None,
            image.arch.line_size if line_size > image.arch.line_size else 0,
            of_threads=image.of_threads,
            behind_own=image.behind_own,
            rooms=image.rooms,
            made_by=self._made_by(),
            owned_by=owned_records([function_name(image, r.function) for r in calls.roots], self.passes.demangle),
            of_source=image.origins is not None,
        )

    def _made_by(self) -> dict[str, int]:
        """By identity of a record the roots that make its objects, in what alone runs on them."""
        origins, mask = self.passes.image.origins, self.passes.calls.mask
        if origins is None:
            return {}
        return {
            identity: functools.reduce(operator.or_, mask[list(rows)].tolist())
            for identity, rows in origins.makers.items()
            if mask[list(rows)].all()
        }


def run_passes(
    image: Image,
    knowledge: Knowledge,
    demangle: Demangle,
    *,
    assume_threads: bool = False,
    look_elsewhere: LookElsewhere | None = None,
    presumed: Set[str] = frozenset(),
) -> Passes:
    """Threads and frequencies, lock calls, all accesses, recovered objects, attribution.

    Costs what the image is large, and nothing of it depends on the size of a line.  ``Passes.profiled`` goes on from
    here; a caller for whom a program without threads is of no interest stops.
    """
    image = with_slot_calls(with_folded_indexes(without_tls(image)), knowledge)
    image = with_start_calls(with_start_objects(with_object_calls(image)), knowledge, demangle)
    image = with_start_words(image, knowledge)
    image = with_start_records(image, knowledge)
    image = without_waiting_loops(without_runtime(image, knowledge))
    image = with_rare_starts(with_rare_preparations(with_rarity(image, knowledge), knowledge), knowledge)
    calls = callgraph.build(
        image, knowledge, assume_threads=assume_threads, look_elsewhere=look_elsewhere, presumed=presumed
    )
    image = with_given_rows(with_own_elements(image, calls), calls, knowledge)
    shown = readable_names([r.name for r in calls.roots], demangle)
    calls = dataclasses.replace(calls, roots=tuple(dataclasses.replace(r, name=shown[r.name]) for r in calls.roots))
    sites, locks, spins = sites_and_locks(image, calls, knowledge)
    events = np.concatenate([locks.events, spins.taken])
    image = recover(image, sites, events, knowledge, spins.sizes)
    accesses = correlate.collect_accesses(image, calls, spins.without_own(sites), events)
    return Passes(image, calls, locks, sites, accesses, knowledge, demangle, spins)


def sites_and_locks(
    image: Image,
    calls: CallGraph,
    knowledge: Knowledge,
    records: flow.ByEntry | None = None,
    *,
    least: int = 0,
    known: SpinLocks = NO_LOCKS,
) -> tuple[Table, LockCalls, SpinLocks]:
    """All accesses, the calls that lock and unlock, and the locks that code takes by itself.

    ``records``: objects of their types that entries are handed besides.  ``least``: accesses to what lies before are
    not wanted, and the locks there that code takes by itself are ``known``.
    """
    sites = correlate.all_sites(image, knowledge, least)
    handed = flow.objects_by_entry(image, knowledge)
    handed |= {entry: [*handed.get(entry, ()), *more] for entry, more in (records or {}).items()}
    spins = known.plus(spin_locks(image, calls, sites, knowledge, handed, least))
    return sites, spins.joined(flow.lock_calls(image, knowledge, handed)), spins


def without_tls(image: Image) -> Image:
    """Without thread-local variables, which are not shared and whose nominal addresses overlap other sections'."""
    local = [s.index for s in image.sections if s.kind is SectionKind.TLS]
    keep = ~among(image.variables["section"], local)
    if keep.all():
        return image
    place = np.cumsum(keep) - 1
    behind = msgspec.structs.replace(image.behind, own_names=own_names(image, local))
    aliases = {int(place[row]): names for row, names in image.aliases.items() if keep[row]}
    return dataclasses.replace(image, variables=image.variables[keep], aliases=aliases, behind=behind)


def shift_step(image: Image, line_size: int, a: Actor, b: Actor) -> int:
    """By what multiple of bytes an edit elsewhere moves a pair that stays in order: the contribution's alignment.

    The largest alignment that the objects around the pair visibly have: those of their unit where debug
    information tells it, else those within a line of the pair.  gcc aligns objects of 32 bytes and more to 32 on
    x86-64, so a contribution with such an object moves by multiples of 32.
    """
    start, end = a.owner_span
    if a.owner_span == b.owner_span and a.sized and not start % line_size and not (end - start) % line_size:
        return line_size  # one object of whole lines, which begins one: a size is a multiple of the alignment
    table = image.variables
    if a.unit >= 0 and a.unit == b.unit:
        rows = np.flatnonzero(table["unit"] == a.unit)
    else:
        low = min(a.owner_span[0], b.owner_span[0]) - line_size
        high = max(a.owner_span[1], b.owner_span[1]) + line_size
        first, last = np.searchsorted(table["address"], [np.uint64(max(low, 0)), np.uint64(high)])
        rows = np.arange(int(first), int(last))
    section = [s.index for s in image.sections if s.name == a.section]
    rows = rows[among(table["section"][rows], section)] if section else rows
    declared = max(a.alignment, b.alignment)
    return min(max(_visible_alignment(table[rows]), declared, 1), line_size)


def _visible_alignment(rows: Table) -> int:
    """Alignment that all objects of at least that size share: 32, 16 or 8; 4 where nothing is seen."""
    for step in (32, 16, 8):
        big = rows["address"][rows["size"] >= step]
        if len(big) and not (big % np.uint64(step)).any():
            return step
    return 4
