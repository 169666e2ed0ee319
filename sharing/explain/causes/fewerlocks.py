"""Suspect: fewer locks.  An array of locks, of which threads take one or another, is smaller now, or became one lock.

Owns which locks of two builds stand for each other, and how many there are to choose among.  No line is to blame and no
padding cures it: threads that took locks of their own wait for the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.basics.naming import readable_names
from sharing.explain import numbers
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, Verdicts, first_of, quoted
from sharing.explain.contention import CONFIRM
from sharing.explain.identity import Ids
from sharing.model.comparison import Cause, CauseKind
from sharing.model.finding import Confidence
from sharing.model.plural import count
from sharing.model.profile import COMPANIONS, Actor, Heat, Role
from sharing.rules.line.base import Context, by_several

MAX_EXAMINED = 100  # variables with a lock of one build, the most often taken first
MAX_CAUSES = 3


@dataclass(frozen=True, slots=True)
class Locks:
    """A variable with locks that several threads take: how many these choose among, 0 several of unknown number."""

    row: int
    name: str
    many: int
    heat: Heat
    functions: frozenset[str]


def ask(builds: Builds) -> Verdicts:
    """A cause each, of what became worse and what became better."""
    matching = builds.variables
    pairs = matching.pairs
    old_row, new_row = pairs["old"], pairs["new"]
    resized = matching.old.size[old_row] != matching.new.size[new_row]
    old, new = (
        _locks(activity, np.where(of >= 0, resized[of], True) if len(resized) else of < 0)
        for activity, of in ((builds.old, matching.of_old), (builds.new, matching.of_new))
    )
    causes = []
    for one, other in _partners(builds, old, new):
        if are_fewer(one.many, other.many):
            causes.append(cause_of(builds, one, other, improves=False))
        elif are_fewer(other.many, one.many):
            causes.append(cause_of(builds, one, other, improves=True))
    causes.sort(key=lambda cause: (cause.improves, -cause.strength))
    return Verdicts(tuple(causes[:MAX_CAUSES]))


def are_fewer(before: int, after: int) -> bool:
    """Half as many or less.  Of two unknown numbers nothing is known."""
    if not before or not after:
        return not before and after == 1
    return after * numbers.FEWER_LOCKS <= before


def _locks(activity: Activity, changed: npt.NDArray[np.bool_]) -> dict[int, Locks]:
    """By row of the variable, of those that are not in the other build as large as here."""
    profiler, context = activity.profiler, activity.context
    if profiler is None or context is None or not activity.threaded:
        return {}
    atomic, of = activity.slots["atomic"], activity.slots["row"]
    slots = activity.slots[atomic & changed[of]]
    order = (-slots["write"]).argsort(kind="stable")
    rows = list(dict.fromkeys(slots["row"][order].tolist()))[:MAX_EXAMINED]
    found = ((row, _taken(profiler.actors(row), context)) for row in rows)
    sizes = activity.image.variables["size"]
    return {row: _made(row, actor, int(sizes[row])) for row, actor in found if actor is not None}


def _taken(actors: Iterable[Actor], context: Context) -> Actor | None:
    """The lock of a variable that several threads take, None where it has none or several different ones."""
    locks = [a for a in actors if a.role is Role.LOCK and a.kind not in COMPANIONS and a.lockers]
    return locks[0] if len(locks) == 1 and by_several(locks[0].lockers, context) else None


def _made(row: int, lock: Actor, size: int) -> Locks:
    chosen = [a for a in lock.lockers if a.weight > 0 and not a.cold and a.mask]
    stride = max((a.stride for a in chosen), default=0)
    many = 1
    if stride and not lock.sized:
        many = 0
    elif stride and all(a.stride for a in chosen):
        many = max(size // stride, 1)
    return Locks(row, lock.owner, many, lock.heat, lock.functions)


def _partners(builds: Builds, old: dict[int, Locks], new: dict[int, Locks]) -> list[tuple[Locks, Locks]]:
    """Which locks stand for which: the same variable; else those that one build lacks and the same functions take."""
    pairs = builds.variables.pairs
    out = [
        (old[one], new[other])
        for one, other in zip(pairs["old"].tolist(), pairs["new"].tolist(), strict=True)
        if one in old and other in new
    ]
    gone = _without_partner(old, builds.variables.of_old)
    come = _without_partner(new, builds.variables.of_new)
    for one in gone:
        same = [other for other in come if one.functions & other.functions]
        if len(same) == 1:
            out.append((one, same[0]))
        elif len(gone) == len(come) == 1 and not builds.variables.old.named[one.row]:
            out.append((one, come[0]))  # of stripped files, whose functions have no names either
    return out


def _without_partner(locks: dict[int, Locks], of: Ids) -> list[Locks]:
    return [one for row, one in locks.items() if of[row] < 0]


def cause_of(builds: Builds, old: Locks, new: Locks, *, improves: bool) -> Cause:
    shown = readable_names(sorted(new.functions), builds.demangle)
    functions = [shown[name] for name in sorted(new.functions)]
    before, after = (count(side.many, "lock") if side.many else "several locks" for side in (old, new))
    became = f"{quoted(old.name)} is {after}, before {before}"
    if old.name != new.name:
        became = f"{before} of {quoted(old.name)} became {after}, {quoted(new.name)}"
    means = "threads that took locks of their own now wait for the same, which no padding cures"
    if improves:
        means = "threads that waited for the same take locks of their own"
    again = builds.runs[1].timed
    hot = min(old.heat, new.heat) is Heat.HOT
    return Cause(
        kind=CauseKind.CONTENTION,
        confidence=Confidence.STATIC,
        strength=numbers.FEWER_LOCKS_HOT if hot else numbers.FEWER_LOCKS_WARM,
        summary=f"{became}: {means}; taken by {first_of(functions)}",
        symbols=tuple(dict.fromkeys((old.name, new.name, *functions)))[:MAX_EXAMINED],
        evidence=(f"{old.name}: {before}", f"{new.name}: {after}"),
        improves=improves,
        confirm=CONFIRM,
        refute=(f"rebuild with {before} again", f"{again}: still slow"),
    )
