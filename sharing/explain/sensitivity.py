"""Which harmless-looking change is next: busy pairs that some move of what is in front of them joins or parts.

Owns the count over all moves that edits elsewhere can make.  Moves are multiples of the contribution's alignment, as
in the rule for pairs that are safe by luck.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain.activity import Activity
from sharing.explain.identity import Ids
from sharing.judge.passes import shift_step
from sharing.model.comparison import Sensitivity
from sharing.model.profile import Actor, Heat, Range
from sharing.static import numbers as static_numbers

MAX_EXAMINED = 400  # pairs of slots, busiest first
MAX_ALIGNMENT = 4096  # bytes, of a section that says nothing
MAX_NEAR = 64  # neighbours of one slot


def sensitivities(activity: Activity, line_size: int, limit: int = 20) -> tuple[Sensitivity, ...]:
    """Busy pairs whose being on one line depends on where both start, the busiest first."""
    slots = activity.slots
    if activity.profiler is None or not len(slots):
        return ()
    first, second, weight = _near(slots, _addresses(activity, slots), line_size)
    order = np.lexsort((second, first, -weight))
    seen: set[tuple[str, str]] = set()
    out: list[Sensitivity] = []
    for at in order[:MAX_EXAMINED].tolist():
        actors = [activity.actor_at(int(slots["row"][i]), int(slots["offset"][i])) for i in (first[at], second[at])]
        a, b = actors
        if a is None or b is None or a.owner == b.owner or (a.name, b.name) in seen:
            continue
        seen.add((a.name, b.name))
        found = _count(activity, a, b, line_size, float(weight[at]))
        if 0 < found.together < found.possible:
            out.append(found)
    out.sort(key=lambda s: (not s.hot, -s.weight, s.first, s.second))
    return tuple(out[:limit])


def _addresses(activity: Activity, slots: npt.NDArray[Any]) -> Ids:
    row, offset = slots["row"], slots["offset"]
    start: Ids = activity.image.variables["address"][row].view(np.int64) + offset
    return start


def _near(slots: npt.NDArray[Any], start: Ids, line_size: int) -> tuple[Ids, Ids, npt.NDArray[np.float64]]:
    """Pairs of slots close enough to be on one line somewhere, of two variables, with what the pair weighs."""
    order = np.argsort(start, kind="stable")
    row, extent, write, read = (slots[name] for name in ("row", "extent", "write", "read"))
    begin, end = start[order], (start + extent)[order]
    found: list[tuple[Ids, Ids]] = []
    for step in range(1, min(MAX_NEAR, len(order))):
        close = begin[step:] - end[:-step] < line_size - 1
        if not close.any():
            break
        at = np.flatnonzero(close)
        found.append((order[at], order[at + step]))
    if not found:
        none = np.zeros(0, np.int64)
        return none, none, np.zeros(0)
    first, second = (np.concatenate(column) for column in zip(*found, strict=True))
    total = write + read
    weight = np.maximum(np.minimum(write[first], total[second]), np.minimum(write[second], total[first]))
    keep = (weight >= static_numbers.WARM_WEIGHT) & (row[first] != row[second])
    return first[keep], second[keep], weight[keep]


def _count(activity: Activity, a: Actor, b: Actor, line_size: int, weight: float) -> Sensitivity:
    step = shift_step(activity.image, line_size, a, b)
    shifts = range(0, line_size, step)
    met = [_together(a, b, shift, line_size) for shift in shifts]
    change = next((shift for shift, together in zip(shifts, met, strict=True) if together != met[0]), 0)
    return Sensitivity(
        a.name,
        b.name,
        sum(met),
        len(met),
        step,
        met[0],
        change,
        round(weight, 3),
        a.heat is Heat.HOT and b.heat is Heat.HOT,
        bool(change) and _absorbs(activity, a, b, change),
    )


def _absorbs(activity: Activity, a: Actor, b: Actor, move: int) -> bool:
    """Whether an object from the first of the pair to the second may have an alignment that forbids the move.

    Declared alignment is part of the step already; where none is declared, the place of an object only bounds it.
    """
    image = activity.image
    low, high = sorted((a.owner_span[0], b.owner_span[0]))
    first, behind = np.searchsorted(image.variables["address"], [np.uint64(low), np.uint64(high + 1)]).tolist()
    section = next((s.alignment for s in image.sections if s.address <= low < s.end), 0) or MAX_ALIGNMENT
    address = image.variables["address"][first:behind].view(np.int64)
    lowest = np.where(address == 0, MAX_ALIGNMENT, address & -address)
    return bool((np.minimum(lowest, section) > (move & -move)).any())


def _together(a: Actor, b: Actor, shift: int, line_size: int) -> bool:
    """Whether bytes in use of both are on one line when everything starts that many bytes later."""
    return bool(_lines(a, shift, line_size) & _lines(b, shift, line_size))


def _lines(actor: Actor, shift: int, line_size: int) -> set[int]:
    ranges: tuple[Range, ...] = (*actor.hot, *actor.read_hot)
    return {(at + shift) // line_size for start, end in ranges for at in (start, end - 1)}
