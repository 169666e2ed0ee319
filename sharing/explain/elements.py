"""Elements of one array that meet, or part: records that became smaller or larger, or that begin elsewhere in a line.

Owns the geometry of neighbouring elements in both builds.  Two members of one element are ``linepairs``', which sees
the first element of each array; what a rule says of elements is the rule's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.explain.activity import Activity
from sharing.explain.identity import Ids, Objects
from sharing.explain.linepairs import BuildView, LinePair, Relaid, busiest, thread_names
from sharing.explain.match import Matching
from sharing.model.arrays import picked
from sharing.model.comparison import LineMates
from sharing.model.finding import Severity
from sharing.model.image import Image, SiteFlag
from sharing.model.profile import Actor, Heat
from sharing.rules.line.base import Context, Draft, by_several

MAX_EXAMINED = 120  # arrays whose actors are looked at, the largest change of an element first
MAX_ELEMENTS = 64  # of one array that are laid beside each other: their places repeat after a line's worth
FAR = 65535  # a stride that is more than its field holds


@dataclass(frozen=True, slots=True)
class _Array:
    """An array of one build: the bytes in use of an element, from its start, and what its last and first ones are."""

    address: int
    stride: int
    count: int
    start: int
    end: int
    last: Actor
    first: Actor
    busiest: Actor


def element_pairs(
    matching: Matching, here: Activity, there: Activity, line_size: int, *, new_side: bool
) -> list[LinePair]:
    """Neighbouring elements that threads use and that share a line here, and not there."""
    if here.context is None or there.context is None or not (here.threaded and there.threaded):
        return []
    mine, theirs = (matching.new, matching.old) if new_side else (matching.old, matching.new)
    columns = ("new", "old") if new_side else ("old", "new")
    rows, others = (matching.pairs[column].astype(np.int64) for column in columns)
    strides = _strides(here.image)[rows], _strides(there.image)[others]
    both = (strides[0] > 0) & (strides[1] > 0) & (strides[0] < FAR) & (strides[1] < FAR)
    apart = (mine.address[rows] - theirs.address[others]).view(np.int64) % line_size != 0
    chosen = np.flatnonzero(both & ((strides[0] != strides[1]) | (apart & (strides[0] >= line_size))))
    chosen = chosen[np.argsort(-np.abs(strides[0] - strides[1])[chosen], kind="stable")][:MAX_EXAMINED]
    out = []
    for at in chosen.tolist():
        one = _array(here, mine, int(rows[at]), int(strides[0][at]))
        other = _array(there, theirs, int(others[at]), int(strides[1][at]))
        if one is None or other is None or _meeting(other, line_size) is not None:
            continue
        if (first := _meeting(one, line_size)) is not None:
            out.append(_pair(here, mine, int(rows[at]), one, other, first, line_size))
    return out


def elements_of(view: BuildView, row: int, draft: Draft) -> LinePair | None:
    """Neighbouring elements of an array that is reported here alone: it is new, or threads write them newly."""
    here, objects = view.activity, view.here
    one = _array(here, objects, row, int(_strides(here.image)[row]) or draft.actors[0].stride)
    first = _meeting(one, view.line_size) if one is not None else None
    if one is None or first is None:
        return None
    pair = _pair(here, objects, row, one, one, first, view.line_size)
    new = view.partner[row] < 0
    added = (objects.label(row),) if new and view.told[row] else ()
    threads = here.context.thread_mask if here.context is not None else 0
    users = busiest(a for a in one.busiest.accesses if a.weight > 0 and a.mask & threads and not a.cold)
    said = msgspec.structs.replace(pair.mates, finding=draft.rule, severity=draft.severity.value)
    return replace(
        pair, mates=said, severity=draft.severity, matched=not new, added=added, used=not new, busy_users=(users, users)
    )


def _strides(image: Image) -> Ids:
    """The bytes between the elements of each variable that code chooses among, 0 where it does not."""
    sites = image.sites
    out = np.zeros(len(image.variables), np.int64)
    sites = picked(sites, ((sites["flags"] & SiteFlag.INDEXED) != 0) & (sites["stride"] > 0))
    row = image.variables_at(sites["target"])
    np.maximum.at(out, row[row >= 0], sites["stride"][row >= 0].astype(np.int64))
    return out


def _array(activity: Activity, objects: Objects, row: int, stride: int) -> _Array | None:
    """None where no threads that may run at one time write elements of it.

    What has no symbol has two elements at least: an index chooses among them.
    """
    assert activity.profiler is not None
    assert activity.context is not None
    address, size = (int(activity.image.variables[field][row]) for field in ("address", "size"))
    used = [a for a in activity.profiler.actors(row) if any(x.stride and x.weight > 0 for x in a.accesses)]
    writing = [a for a in used if _written_by_several(a, activity.context)]
    count = max(size // max(stride, 1), 2 if objects.inferred[row] else 1)
    if not writing or count < 2 or stride <= 0:
        return None
    spans = [
        ((start - address) % stride, min(end - start, stride), number)
        for number, actor in enumerate(used)
        for start, end in (*actor.hot, *actor.read_hot)
    ]
    if not spans:
        return None
    start, _, first = min(spans)
    end, last = max((at + extent, number) for at, extent, number in spans)
    busiest = max(writing, key=lambda a: a.write_weight)
    return _Array(address, stride, count, start, end, used[last], used[first], busiest)


def _written_by_several(actor: Actor, context: Context) -> bool:
    return not actor.guards and by_several((access for access in actor.writers if access.stride), context)


def _meeting(array: _Array, line_size: int) -> int | None:
    """The first element that shares a line with the next one, by the bytes in use."""
    number = np.arange(min(array.count, MAX_ELEMENTS) - 1)
    last = (array.address + number * array.stride + array.end - 1) // line_size
    following = (array.address + (number + 1) * array.stride + array.start) // line_size
    found: npt.NDArray[np.int64] = np.flatnonzero(following <= last)
    return int(found[0]) if len(found) else None


def _pair(
    here: Activity, objects: Objects, row: int, one: _Array, other: _Array, first: int, line_size: int
) -> LinePair:
    actor, label = one.busiest, objects.label(row)
    names = _named(one.last, label, first, one.stride), _named(one.first, label, first + 1, one.stride)
    at = one.address + (first + 1) * one.stride + one.start
    line = at - at % line_size
    before = (
        max(one.address + first * one.stride + one.start - line, 0),
        one.address + first * one.stride + one.end - line,
    )
    behind = (at - line, min(at + one.end - one.start - line, line_size))
    start = one.address - one.address % line_size
    draft = next((d for d in here.drafts(start) if len(d.actors) == 1 and d.actors[0].owner == actor.owner), None)
    severity = draft.severity if draft is not None else Severity.LOW if actor.write_heat is Heat.HOT else Severity.NOTE
    weight = round(actor.write_weight, 3)
    role = actor.kind or actor.role.value
    mates = LineMates(
        names[0], names[1], f"{line:#x}", line_size, before, behind, weight, actor.heat is Heat.HOT, certain=True,
        first_role=role, second_role=role, functions=tuple(sorted(actor.functions))[:6],
        finding=draft.rule if draft is not None else "", severity=severity.value, users=len(actor.functions),
    )  # fmt: skip
    places = [(first + 1) * array.stride + array.start for array in (one, other)]
    relaid = Relaid(names[1], label, places[0], places[1])
    users = (actor.functions, actor.functions)
    anew = (relaid,) if relaid.here != relaid.there else ()
    threads = thread_names(here, actor.accesses)
    return LinePair(
        mates, (row, row), severity, matched=True, together=False, users=users, relaid=anew, threads=threads
    )


def _named(actor: Actor, label: str, number: int, stride: int) -> str:
    """The element's name, made of the first one's."""
    if "[0]" in actor.name:
        return actor.name.replace("[0]", f"[{number}]", 1)
    return f"{label}+{number * stride:#x}" if number else label
