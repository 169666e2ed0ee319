"""Which roots reach each function: by calls, and by calls through pointers.

Owns who may be called through a pointer by whom.  Whose record a function is kept in is not known, so that what is
called through pointers may be called by whoever makes such calls.  A function that only tables of virtual functions
keep is called through such a table: by calls that load their target as far behind some pointer, or nobody sees from
where; so is a callback that is only stored in records.  Where this image has no such call a library makes it, on any
thread.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, picked
from sharing.model.image import FunctionFlag, Image, SlotKind
from sharing.static.edges import Edges
from sharing.static.pointercalls import KeptFunctions
from sharing.static.roots import ThreadStructure
from sharing.static.slotnumbers import HALF_BITS, kind_of, place_of
from sharing.static.stretches import Stretches

MAX_ROOTS = 62  # one bit each in a 64-bit mask; later roots share the last bit
ANYWHERE = -1  # nothing says where a call loads its target from
NO_TABLE = -2  # not from a table of virtual functions

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]


class Pointed(msgspec.Struct, frozen=True):
    """Functions that are called through pointers, and who makes such calls, as rows of functions.

    ``any`` may be called by each of ``callers``, ``virtual`` by calls that load from as far behind a pointer: bytes
    ``behind`` and ``at``, which are in order.  ``registered`` of them, callbacks in records, may be called by
    ``others`` as well: calls that load from where nobody is seen to store a function, as of a record within another.
    Those that are ``known`` call what is told beside them.
    """

    any: Ints
    virtual: Ints
    behind: Ints
    callers: Ints
    at: Ints
    registered: Bools
    others: Bools
    known: Bools


def pointed(image: Image, kept: KeptFunctions, chosen: Bools) -> Pointed:
    """Who of the functions that are ``chosen`` may be called through which pointers."""
    calls, slots = kept.calls()
    kind = kind_of(slots)
    at = np.where(kind == SlotKind.UNKNOWN, ANYWHERE, np.where(kind == SlotKind.RECORD, place_of(slots), NO_TABLE))
    (virtual, behind), (registered, places) = kept.only_virtual(), kept.registered()
    stored = np.arange(len(virtual) + len(registered)) >= len(virtual)
    virtual, behind = np.append(virtual, registered), np.append(behind, places)
    called = among(behind, at)
    # Source tells a place for each class whose objects have the function: calls are seen of some of these as a rule.
    once = called | among(virtual, virtual[called & (image.functions["flags"][virtual] & FunctionFlag.VIRTUAL != 0)])
    # So do binaries of families of classes: of each distance there may be several places.
    apart = virtual << HALF_BITS | kept.distances(behind)
    once |= among(apart, apart[called])
    sure = chosen[virtual] & ~among(virtual, virtual[~once])
    others = chosen.copy()
    others[virtual[sure]] = False
    order = np.argsort(at, kind="stable")
    callers: Ints = calls["function"].astype(np.int64)[order]
    empty = (at >= 0) & ~among(at, np.append(behind, place_of(kept.stored_places())))
    known = kept.is_resolved(picked(calls, order)) & (image.origins is None)
    sure &= called
    callees = np.flatnonzero(others), virtual[sure], behind[sure]
    return Pointed(*callees, callers, at[order], stored[sure], empty[order], known)


def reach(
    image: Image, edges: Edges, threads: ThreadStructure, met: Pointed | None, stretches: Stretches | None = None
) -> Masks:
    """Per function the roots that reach it; ``met`` is only needed where there are threads.

    Of an entry with ``stretches``, what each of them reaches is its own.
    """
    seeds = np.zeros(edges.functions, np.uint64)
    own = np.zeros(edges.functions, np.uint64)  # what an entry calls is of one of its stretches
    for function, callees, bit in stretches.calls(image, edges) if stretches is not None else ():
        seeds[callees[callees >= 0]] |= np.uint64(1 << bit)
        own[function] |= np.uint64(1 << bit)
    for i, root in enumerate(threads.roots):
        if stretches is not None and stretches.parted >> i & 1:
            continue
        begins = np.array([root.function]) if root.function >= 0 else np.flatnonzero(threads.base)
        seeds[begins] |= np.uint64(1 << min(i, MAX_ROOTS))
    mask = edges.spread(seeds) | own
    if met is not None:
        _through_pointers(mask, edges, met)
    return mask


def _through_pointers(mask: Masks, edges: Edges, met: Pointed) -> None:
    """Adds the roots that come to functions through pointers, until who is called so calls nobody else."""
    begins = np.flatnonzero(np.diff(met.at, prepend=NO_TABLE - 1))
    while True:
        callers = np.where(met.known, np.uint64(0), mask[met.callers]) if len(met.callers) else mask
        everyone = np.bitwise_or.reduce(callers) if len(callers) else np.uint64(0)
        roots = [(everyone, met.any)]
        if len(met.virtual):
            by_place = np.bitwise_or.reduceat(callers, begins)
            unseen = by_place[met.at[begins] == ANYWHERE]
            of_table = by_place[np.searchsorted(met.at[begins], met.behind)] | (unseen[0] if len(unseen) else 0)
            of_table[met.registered] |= np.bitwise_or.reduce(callers[met.others], initial=0)
            roots += [(bits, met.virtual[of_table == bits]) for bits in np.unique(of_table)]
        seeds = np.zeros_like(mask)
        for bits, rows in roots:
            seeds[rows] |= bits
        more = edges.spread(seeds) & ~mask
        if not more.any():
            return
        mask |= more
