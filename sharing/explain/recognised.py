"""How much of two builds was recognised in each other, and whether that is enough to rule anything out.

Owns what counts as not recognised: objects without a partner whose absence on the other side would not show, as in
stripped files.  Named objects that came or went are recognised: they are changes (``changes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.activity import Activity
from sharing.explain.behaviour import mixed
from sharing.explain.identity import Ids, Objects
from sharing.explain.match import Matching
from sharing.model.image import FunctionFlag, SectionKind

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """The rows of both sides that are not recognised, of how many objects, and whether they are few enough."""

    old: Ids
    new: Ids
    of_old: int
    of_new: int
    few: bool

    @property
    def most(self) -> tuple[int, int]:
        """(not recognised, of how many) of the side with more of them."""
        return max((len(self.old), self.of_old), (len(self.new), self.of_new))


def variables(matching: Matching, functions: Matching, old: Activity, new: Activity) -> Unrecognised:
    """Of the variables that a program writes.

    Where all its functions do what they did, a variable at the same place and of the same size is the same one.
    """
    candidates = _writable(matching.old), _writable(matching.new)
    none = np.zeros(len(functions.old)), np.zeros(len(functions.new))
    code = _unrecognised(functions, (_own_code(functions.old), _own_code(functions.new)), none, _alike(functions))
    alike = _same_place(matching) if not len(code.old) and not len(code.new) else None
    weights = _traffic(old, matching.old), _traffic(new, matching.new)
    return _unrecognised(matching, candidates, weights, alike)


def functions(matching: Matching, weights: tuple[Weights, Weights]) -> Unrecognised:
    """Of the functions that are code of the program's own.  ``weights``: estimated executions, by row."""
    candidates = _own_code(matching.old), _own_code(matching.new)
    return _unrecognised(matching, candidates, weights, _alike(matching))


def _unrecognised(
    matching: Matching,
    candidates: tuple[npt.NDArray[np.bool_], ...],
    weights: tuple[Weights, Weights],
    alike: tuple[npt.NDArray[np.bool_], ...] | None = None,
) -> Unrecognised:
    rows, few = [], True
    sides = (
        (matching.old, matching.of_old, matching.absence_shows_old),
        (matching.new, matching.of_new, matching.absence_shows_new),
    )
    for side, ((objects, of, told), mine, weight) in enumerate(zip(sides, candidates, weights, strict=True)):
        missing = mine & (of < 0) & ~told
        if alike is not None:
            missing &= ~alike[side]
        rows.append(np.flatnonzero(missing))
        for measure in (np.ones(len(objects)), objects.size.astype(np.float64), weight):
            total = float(measure[mine].sum())
            few &= float(measure[missing].sum()) <= (1 - numbers.RECOGNISED) * total
    return Unrecognised(rows[0], rows[1], int(candidates[0].sum()), int(candidates[1].sum()), bool(few))


def _alike(matching: Matching) -> tuple[npt.NDArray[np.bool_], ...]:
    """Functions without a partner of which both sides have equally many that do the same: which is which is open.

    What does nothing that is known (no access, no call) is alike at the same address and of the same size.
    """
    sides = ((matching.old, matching.of_old), (matching.new, matching.of_new))
    keys, left = [], []
    for objects, of in sides:
        keys.append(
            np.where(objects.body != 0, objects.body, mixed(objects.address ^ mixed(objects.size)).view(np.int64))
        )
        left.append(of < 0)
    one, counts_one = np.unique(keys[0][left[0]], return_counts=True)
    other, counts_other = np.unique(keys[1][left[1]], return_counts=True)
    common, at, there = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    common = common[counts_one[at] == counts_other[there]]
    return tuple(np.isin(key, common) & without for key, without in zip(keys, left, strict=True))


def _same_place(matching: Matching) -> tuple[npt.NDArray[np.bool_], ...]:
    keys = [mixed(o.address ^ mixed(o.size ^ mixed(o.section.view(np.uint64)))) for o in (matching.old, matching.new)]
    return np.isin(keys[0], keys[1]), np.isin(keys[1], keys[0])


def _writable(objects: Objects) -> npt.NDArray[np.bool_]:
    image = objects.image
    kinds = [s.index for s in image.sections if s.kind is SectionKind.WRITABLE]
    return np.isin(image.variables["section"], kinds)


def _own_code(objects: Objects) -> npt.NDArray[np.bool_]:
    table: Any = objects.image.functions
    own: npt.NDArray[np.bool_] = ((table["flags"] & FunctionFlag.STUB) == 0) & (objects.size > 0)
    return own


def _traffic(activity: Activity, objects: Objects) -> Weights:
    slots = activity.slots
    if not len(slots):
        return np.zeros(len(objects))
    row, write, read = slots["row"], slots["write"], slots["read"]
    return np.bincount(row, weights=write + read, minlength=len(objects)).astype(np.float64)
