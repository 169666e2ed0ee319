"""Variables that are not as they were: added, removed, resized, re-aligned, renamed, moved, reordered.

Owns the list and its order: busiest first, then the largest.
"""

from __future__ import annotations

import numpy as np

from sharing.explain.activity import Activity
from sharing.explain.identity import Objects
from sharing.explain.match import How, Matching
from sharing.explain.shifts import Shifts
from sharing.model.comparison import ChangeKind, SymbolChange


def changes(matching: Matching, shifts: Shifts, activity: Activity) -> list[SymbolChange]:
    """Every change, one row each.  Sizes that were only inferred are no resizing."""
    old, new = matching.old, matching.new
    out: list[tuple[int, SymbolChange]] = []
    for row in np.flatnonzero((matching.of_old < 0) & matching.told_old).tolist():
        out.append((int(old.size[row]), _change(ChangeKind.REMOVED, old, row, new, -1)))
    for row in np.flatnonzero((matching.of_new < 0) & matching.told_new).tolist():
        out.append((int(new.size[row]), _change(ChangeKind.ADDED, old, -1, new, row)))
    row_old, row_new = matching.pairs["old"].astype(np.int64), matching.pairs["new"].astype(np.int64)
    sized = ~old.inferred[row_old] & ~new.inferred[row_new]
    resized = sized & (old.size[row_old] != new.size[row_new])
    one, other = old.align[row_old], new.align[row_new]
    realigned = (one > 0) & (other > 0) & (one != other)
    section = old.section[row_old] != new.section[row_new]
    renamed = np.isin(matching.pairs["how"], [How.SUFFIX, How.ACCESS]) & (old.name[row_old] != new.name[row_new])
    renamed &= (old.name[row_old] >= 0) & (new.name[row_new] >= 0)
    kept = np.zeros(len(row_old), bool)
    kept[shifts.order[shifts.kept]] = True
    for mask, kind in (
        (resized, ChangeKind.RESIZED),
        (realigned, ChangeKind.REALIGNED),
        (section, ChangeKind.MOVED),
        (renamed, ChangeKind.RENAMED),
        (~kept & ~section, ChangeKind.REORDERED),
    ):
        for pair in np.flatnonzero(mask).tolist():
            a, b = int(row_old[pair]), int(row_new[pair])
            weight = abs(int(new.size[b]) - int(old.size[a])) if kind is ChangeKind.RESIZED else int(new.size[b])
            out.append((weight, _change(kind, old, a, new, b)))
    busy = _busy(activity)
    order = {kind: number for number, kind in enumerate(ChangeKind)}
    out.sort(key=lambda item: (-busy.get(item[1].name, 0.0), -item[0], order[item[1].kind], item[1].name))
    return [change for _, change in out]


def _busy(activity: Activity) -> dict[str, float]:
    """Weight of written bytes by variable name."""
    if activity.profiler is None:
        return {}
    slots = activity.slots
    rows, inverse = np.unique(slots["row"], return_inverse=True)
    total = np.bincount(inverse, weights=slots["write"], minlength=len(rows))
    return {activity.profiler.variable_name(int(r)): float(w) for r, w in zip(rows, total, strict=True) if w > 0}


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
