"""How far every variable moved, and which insertion, growth or padding moved it: the arithmetic of two layouts.

Owns the account.  Along a section, two neighbours that both builds have in the same order move apart by exactly what
came between them, less what went: sizes of objects plus padding.  So every change of shift is a sum of contributions,
and what no symbol covers is a contribution of its own, never rounded away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain.identity import Ids, Objects, Words
from sharing.explain.match import Matching
from sharing.explain.order import longest_increasing
from sharing.explain.sections import SectionShift

# A run of matched variables, next to each other in the new build, that all moved by the same distance.
RUN_DTYPE = np.dtype(
    [
        ("first", "<i8"),  # position in Shifts.order
        ("count", "<i8"),
        ("shift", "<i8"),  # bytes
        ("jump", "<i8"),  # its shift less that of what precedes it: of the section as a whole, for the first
        ("kept", "?"),  # in the same section and order as before; else it was moved on its own
    ]
)


@dataclass(frozen=True, slots=True)
class Account:
    """One side's rows in order of (section, address), with what each adds to the addresses behind it.

    ``own`` bytes are the object's that none before it covers, ``padding`` those after it up to the next object,
    ``explained`` where alignment of the next object accounts for the padding, ``by_place`` where only the alignment of
    its place on this side does, a larger one than it has on the other side.  ``kept`` are the positions in ``rows`` of
    the objects that are in the same order on both sides: position i here is the same variable as position i there.
    """

    rows: Ids
    own: Ids
    padding: Ids
    explained: npt.NDArray[np.bool_]
    by_place: npt.NDArray[np.bool_]
    kept: Ids

    def section_start(self, objects: Objects, position: int) -> int:
        """Position of the first row of the section that the row at ``position`` is in."""
        section = objects.section[self.rows]
        return int(np.searchsorted(section, section[position], "left"))


@dataclass(frozen=True, slots=True)
class Shifts:
    """Shift of every matched variable, and the account of each change of shift.

    ``order`` are pairs (rows of ``Matching.pairs``) by new section and address, ``shift`` in that order, ``kept`` the
    positions in it of the variables that are in the same section and order in both builds.
    """

    matching: Matching
    order: Ids
    shift: Ids
    kept: Ids
    old: Account
    new: Account
    runs: npt.NDArray[Any]
    sections: dict[int, SectionShift]  # by section id

    def kept_number(self, pair: int) -> int:
        """Number among the kept objects of a row of ``Matching.pairs``, -1 where it was moved on its own."""
        position = int(np.flatnonzero(self.order == pair)[0])
        k = int(np.searchsorted(self.kept, position))
        return k if k < len(self.kept) and self.kept[k] == position else -1


def account_for(matching: Matching, sections: dict[int, SectionShift], *, same_compiler: bool = True) -> Shifts:
    """Lay both sides along each other.  ``sections``: how far each section as a whole moved."""
    old, new, pairs = matching.old, matching.new, matching.pairs
    line_old, line_new = _line(old), _line(new)
    place_old, place_new = _places(line_old), _places(line_new)
    row_old, row_new = pairs["old"].astype(np.int64), pairs["new"].astype(np.int64)
    order = np.argsort(place_new[row_new], kind="stable")
    row_old, row_new = row_old[order], row_new[order]
    shift = (new.address[row_new] - old.address[row_old]).view(np.int64)
    # Equal shifts in a row are in order among themselves: only blocks of them need comparing.
    candidate = np.flatnonzero(old.section[row_old] == new.section[row_new])
    kept = candidate[_in_order(place_old[row_old[candidate]], shift[candidate], old.section[row_old[candidate]])]
    account_old = _account(
        old, line_old, place_old[row_old[kept]], matching, old_side=True, same_compiler=same_compiler
    )
    account_new = _account(
        new, line_new, place_new[row_new[kept]], matching, old_side=False, same_compiler=same_compiler
    )
    runs = _runs(shift, kept, old.section[row_old], new.section[row_new], sections)
    return Shifts(matching, order, shift, kept, account_old, account_new, runs, sections)


def _line(objects: Objects) -> Ids:
    return np.lexsort((objects.size, objects.address, objects.section))


def _places(line: Ids) -> Ids:
    out = np.zeros(len(line), np.int64)
    out[line] = np.arange(len(line))
    return out


def _in_order(place: Ids, shift: Ids, section: Ids) -> Ids:
    """Positions of the heaviest subsequence whose old places grow; heavy is many objects.

    Blocks are neighbours on both sides, so that either direction of a comparison sees the same ones.
    """
    if not len(place):
        return place
    rank = np.zeros(len(place), np.int64)
    rank[np.argsort(place, kind="stable")] = np.arange(len(place))
    breaks = np.ones(len(place), bool)
    breaks[1:] = (shift[1:] != shift[:-1]) | (section[1:] != section[:-1]) | (rank[1:] != rank[:-1] + 1)
    first = np.flatnonzero(breaks)
    last = np.append(first[1:], len(place)) - 1
    weight = last - first + 1
    chosen = longest_increasing(place[first], place[last], weight)
    keep = np.zeros(len(first), bool)
    keep[chosen] = True
    return np.flatnonzero(keep[np.cumsum(breaks) - 1])


def _account(
    objects: Objects, line: Ids, kept_places: Ids, matching: Matching, *, old_side: bool, same_compiler: bool
) -> Account:
    address, size, section = objects.address[line], objects.size[line], objects.section[line]
    n = len(line)
    own, padding = np.zeros(n, np.int64), np.zeros(n, np.int64)
    explained, by_place = np.ones(n, bool), np.zeros(n, bool)
    if n:
        end = address + size
        # Objects may overlap: what lies inside of an earlier one adds nothing.
        reach = _running_end(end, section)
        following = np.append(section[1:] == section[:-1], False)
        ahead = np.append(address[1:], np.uint64(0))
        padding = np.where(following & (ahead > reach), (ahead - reach).view(np.int64), 0)
        advance = np.where(following, (ahead - address).view(np.int64), 0)
        own = advance - padding
        # Nothing follows the last one of a section: it adds what it is longer than all before it.
        own = np.where(following, own, np.maximum((reach - address).view(np.int64), 0))
        bound = np.append(
            _alignment(objects, line, matching, old_side=old_side, same_compiler=same_compiler)[1:], np.uint64(1)
        )
        explained = padding.astype(np.uint64) < bound
        here = np.append(_lowest_bit(address, objects.bound[line])[1:], np.uint64(1))
        by_place = ~explained & (padding.astype(np.uint64) < here)
    return Account(line, own, padding, explained, by_place, kept_places)


def _running_end(end: Words, section: Ids) -> Words:
    """The furthest end so far, restarting at each section."""
    out = end.copy()
    starts = np.flatnonzero(np.append(True, section[1:] != section[:-1]))
    for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(end)], strict=True):
        out[first:last] = np.maximum.accumulate(end[first:last])
    return out


def _alignment(objects: Objects, line: Ids, matching: Matching, *, old_side: bool, same_compiler: bool) -> Words:
    """The largest alignment that each object of the line can have: what divides all addresses it is known at.

    Of two compilers, what the other one did says nothing.
    """
    own = objects.address[line]
    other = matching.new if old_side else matching.old
    pair = (matching.of_old if old_side else matching.of_new)[line]
    there = matching.pairs["new" if old_side else "old"][np.maximum(pair, 0)] if len(matching.pairs) else None
    seen = own if there is None or not same_compiler else np.where(pair >= 0, own | other.address[there], own)
    return _lowest_bit(seen, objects.bound[line])


def _lowest_bit(address: Words, bound: Words) -> Words:
    lowest = address & (~address + np.uint64(1))
    return np.where(lowest == 0, bound, np.minimum(lowest, bound))


def _runs(
    shift: Ids, kept: Ids, old_section: Ids, new_section: Ids, sections: dict[int, SectionShift]
) -> npt.NDArray[Any]:
    """Maximal stretches of equal shift; they partition the matched variables."""
    n = len(shift)
    is_kept = np.zeros(n, bool)
    is_kept[kept] = True
    starts = np.ones(n, bool)
    if n:
        starts[1:] = (
            (shift[1:] != shift[:-1])
            | (new_section[1:] != new_section[:-1])
            | (old_section[1:] != old_section[:-1])
            | (is_kept[1:] != is_kept[:-1])
        )
    first = np.flatnonzero(starts)
    runs = np.zeros(len(first), RUN_DTYPE)
    runs["first"] = first
    runs["count"] = np.diff(np.append(first, n))
    runs["shift"] = shift[first]
    runs["kept"] = is_kept[first]
    runs["jump"] = runs["shift"] - _shift_before(first, shift, kept, new_section, sections)
    return runs


def _shift_before(first: Ids, shift: Ids, kept: Ids, section: Ids, sections: dict[int, SectionShift]) -> Ids:
    """For each run, the shift of the last kept variable before it in its section, else of the section's start."""
    here = section[first]
    known = sorted(sections)
    base = np.array([sections[number].shift for number in known] + [0], np.int64)
    at = np.searchsorted(np.array(known, np.int64), here)
    found = np.isin(here, np.array(known, np.int64))
    start = np.where(found, base[np.where(found, at, -1)], 0)
    if not len(kept):
        return start
    previous = np.searchsorted(kept, first, "left") - 1
    row = kept[np.maximum(previous, 0)]
    before: Ids = np.where((previous >= 0) & (section[row] == here), shift[row], start)
    return before
