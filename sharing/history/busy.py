"""The busy, named variables of one build: where they are and which bytes of them are in use.

Owns what of a build's layout is kept for comparing many builds.  Who is busy is the judgement's.
"""

from __future__ import annotations

import msgspec
import numpy as np

from sharing.basics.naming import Demangle
from sharing.explain.activity import Activity, observe
from sharing.knowledge import Knowledge
from sharing.model.image import Image, SectionKind
from sharing.model.linkage import as_written
from sharing.model.profile import Actor, Heat

MOST = 400  # actors of one build; the least busy are left out
MOST_LOOKED_AT = 4000  # slots


class Busy(msgspec.Struct, frozen=True):
    """One actor: a variable or a member.  ``used`` are [start, end) addresses, ``written`` whether code writes it."""

    name: str
    variable: str
    address: int
    used: tuple[tuple[int, int], ...]
    written: float
    weight: float
    hot: bool


class Layout(msgspec.Struct, frozen=True):
    """What is kept of one build.  ``threaded``: it starts a second thread.  ``notes`` say what could not be read.

    ``loads`` is a digest of all that is loaded of it.
    """

    busy: tuple[Busy, ...]
    threaded: bool
    line_size: int
    pair_size: int
    known: bool
    loads: str
    incomplete: bool = False
    notes: tuple[str, ...] = ()


def layout_of(
    image: Image, knowledge: Knowledge, line_size: int, pair_size: int, demangle: Demangle, loads: str
) -> Layout:
    """The layout of a build's busy variables.  ``loads`` is the digest of what it loads."""
    activity = observe(image, knowledge, line_size, pair_size, demangle)
    actors = _actors(activity)
    return Layout(
        tuple(_busy(actor) for actor in actors),
        activity.threaded,
        line_size,
        pair_size,
        activity.known,
        loads,
        image.incomplete,
        image.notes[:10],
    )


def _actors(activity: Activity) -> list[Actor]:
    """The busiest, by weight; of two with one name the busier."""
    slots = activity.slots
    write, read = slots["write"], slots["read"]
    weight = write + read
    found: dict[str, Actor] = {}
    for at in np.argsort(-weight, kind="stable")[:MOST_LOOKED_AT].tolist():
        if weight[at] <= 0 or len(found) >= MOST:
            break
        actor = activity.actor_at(int(slots["row"][at]), int(slots["offset"][at]))
        if actor is not None and actor.heat is not Heat.COLD:
            found.setdefault(actor.name, actor)
    return sorted(found.values(), key=lambda a: (-a.weight, a.name))


def _busy(actor: Actor) -> Busy:
    return Busy(
        actor.name,
        actor.owner,
        actor.owner_span[0],
        tuple(sorted((*actor.hot, *actor.read_hot))),
        round(actor.write_weight, 3),
        round(actor.weight, 3),
        actor.heat is Heat.HOT,
    )


def whole_variable(image: Image, name: str, demangle: Demangle) -> Busy | None:
    """A variable that is not busy, with all of its bytes; None without such a name, or with several."""
    name = as_written(name)
    local = {s.index for s in image.sections if s.kind is SectionKind.TLS}
    table = image.variables
    rows = [row for row in range(len(table)) if int(table["section"][row]) not in local]
    texts = [image.names[int(table["name"][row])] if table["name"][row] >= 0 else "" for row in rows]
    shown = texts if name in texts else demangle(texts)
    found = [row for row, text in zip(rows, shown, strict=True) if text == name]
    if len(found) != 1:
        return None
    start, size = int(table["address"][found[0]]), max(int(table["size"][found[0]]), 1)
    return Busy(name, name, start, ((start, start + size),), 0.0, 0.0, False)


def placed(layout: Layout, name: str) -> tuple[Busy, ...]:
    """The busy parts of a variable, or the one member of that name; of what is no record here, the variable."""
    name = as_written(name)
    exact = tuple(b for b in layout.busy if b.name == name)
    outer = name.rpartition(".")[0]
    plain = tuple(b for b in layout.busy if b.name == b.variable == outer)
    return exact or tuple(b for b in layout.busy if b.variable == name) or plain


def meet(first: tuple[Busy, ...], second: tuple[Busy, ...], line_size: int) -> bool:
    """Whether bytes in use of both are on one line."""
    return not _lines(first, line_size).isdisjoint(_lines(second, line_size))


def _lines(parts: tuple[Busy, ...], line_size: int) -> set[int]:
    out: set[int] = set()
    for part in parts:
        for start, end in part.used:
            # Of a large range the ends are enough to meet a small one at, and bound the work.
            last = (end - 1) // line_size
            out.update(range(start // line_size, min(last, start // line_size + 4096) + 1))
            out.add(last)
    return out
