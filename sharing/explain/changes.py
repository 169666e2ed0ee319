"""Variables that changed: added, removed, resized, re-aligned, renamed, moved, reordered.

Owns the list and its order (busiest first, then the largest), and what is counted before the list is cut.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain.activity import Activity
from sharing.explain.identity import Ids, Objects
from sharing.explain.match import MatchBasis, Matching
from sharing.explain.shifts import Shifts
from sharing.model.comparison import ChangeKind, SectionMove, SymbolChange
from sharing.model.linkage import is_table_of_class


@dataclass(frozen=True, slots=True)
class Changes:
    """The first changes, how many there are in all, and of all of them which sections were left for which.

    ``tables`` is how many of all are tables of classes, which compilers make: they come last.
    """

    shown: tuple[SymbolChange, ...] = ()
    total: int = 0
    tables: int = 0
    between: tuple[SectionMove, ...] = ()


def changes(matching: Matching, shifts: Shifts, activity: Activity, limit: int) -> Changes:
    """The first ``limit`` changes, and counts of all.  Sizes that were only inferred are no resizing."""
    old, new = matching.old, matching.new
    gone = np.flatnonzero((matching.of_old < 0) & matching.absence_shows_old)
    come = np.flatnonzero((matching.of_new < 0) & matching.absence_shows_new)
    row_old, row_new = matching.pairs["old"].astype(np.int64), matching.pairs["new"].astype(np.int64)
    sized = ~old.inferred[row_old] & ~new.inferred[row_new]
    one, other = old.align[row_old], new.align[row_new]
    section = old.section[row_old] != new.section[row_new]
    renamed = np.isin(matching.pairs["how"], [MatchBasis.SUFFIX, MatchBasis.ACCESS, MatchBasis.RENAME]) & (
        old.name[row_old] != new.name[row_new]
    )
    kept = np.zeros(len(row_old), bool)
    kept[shifts.order[shifts.kept]] = True
    masks = (
        (ChangeKind.RESIZED, sized & (old.size[row_old] != new.size[row_new])),
        (ChangeKind.REALIGNED, (one > 0) & (other > 0) & (one != other)),
        (ChangeKind.MOVED, section),
        (ChangeKind.RENAMED, renamed & (old.name[row_old] >= 0) & (new.name[row_new] >= 0)),
        (ChangeKind.REORDERED, ~kept & ~section),
    )
    nothing = np.full(len(gone), -1, np.int64)
    rows = [(ChangeKind.REMOVED, gone, nothing), (ChangeKind.ADDED, np.full(len(come), -1, np.int64), come)]
    rows += [(kind, row_old[mask], row_new[mask]) for kind, mask in masks]
    kinds = list(ChangeKind)
    kind = np.concatenate([np.full(len(a), kinds.index(k)) for k, a, _ in rows])
    a, b = np.concatenate([a for _, a, _ in rows]), np.concatenate([b for _, _, b in rows])
    size_old, size_new = _sizes(old, a), _sizes(new, b)
    resized = kind == kinds.index(ChangeKind.RESIZED)
    bytes_ = np.where(resized, np.abs(size_new - size_old), np.where(b >= 0, size_new, size_old))
    tables = _tables(old, a, new, b)
    order = np.lexsort((b, a, kind, -bytes_, -_busy(activity, len(new))[b], tables))
    shown = tuple(_change(kinds[int(kind[i])], old, int(a[i]), new, int(b[i])) for i in order[:limit])
    return Changes(shown, len(order), int(tables.sum()), _between(old, row_old[section], new, row_new[section]))


def _tables(old: Objects, one: Ids, new: Objects, other: Ids) -> npt.NDArray[np.bool_]:
    """Which of the changed are tables of classes, by their names on the side that has them."""
    sides = zip(one.tolist(), other.tolist(), strict=True)
    names = (new.label(b) if b >= 0 else old.label(a) for a, b in sides)
    return np.fromiter((is_table_of_class(name) for name in names), bool, len(one))


def _between(old: Objects, one: Ids, new: Objects, other: Ids) -> tuple[SectionMove, ...]:
    """How many went from which section to which, the most first."""
    pairs = ((old.section_name(a), new.section_name(b)) for a, b in zip(one.tolist(), other.tolist(), strict=True))
    found = sorted(Counter(pairs).items(), key=lambda item: (-item[1], item[0]))
    return tuple(SectionMove(left, entered, many) for (left, entered), many in found)


def _sizes(objects: Objects, rows: Ids) -> Ids:
    """Sizes in bytes, 0 for row -1."""
    return np.append(objects.size, np.uint64(0))[rows].view(np.int64)


def _busy(activity: Activity, variables: int) -> npt.NDArray[np.float64]:
    """Weight of writes by row of the new side; the last entry, of row -1, is 0."""
    slots = activity.slots
    total = np.bincount(slots["row"], weights=slots["write"], minlength=variables + 1) if len(slots) else None
    return np.zeros(variables + 1) if total is None else total[: variables + 1].astype(np.float64)


def _change(kind: ChangeKind, old: Objects, a: int, new: Objects, b: int) -> SymbolChange:
    detail = ""
    if kind is ChangeKind.REALIGNED:
        detail = f"aligned to {int(old.align[a])}, now to {int(new.align[b])} bytes"
    elif kind is ChangeKind.RENAMED:
        detail = f"was {old.label(a)}"
    side, row = (new, b) if b >= 0 else (old, a)
    return SymbolChange(
        kind=kind,
        name=side.label(row),
        old_address=f"{int(old.image.variables['address'][a]):#x}" if a >= 0 else "",
        new_address=f"{int(new.image.variables['address'][b]):#x}" if b >= 0 else "",
        old_size=int(old.size[a]) if a >= 0 else 0,
        new_size=int(new.size[b]) if b >= 0 else 0,
        old_section=old.section_name(a) if a >= 0 else "",
        new_section=new.section_name(b) if b >= 0 else "",
        source=side.place(row),
        detail=detail,
    )
