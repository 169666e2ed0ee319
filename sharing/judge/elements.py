"""Elements of threads that are lines long: the end of one and the beginning of the next are on one line.

Owns which elements of an array are judged so, and where the next one begins: those that are threads' own, and those
with a lock each, which are locked apart in order to be used apart.  Elements below a line are a rule's on lines
(``rules.line.thread_slots``), which sees one element: this needs two.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from sharing.basics.positions import steps_lost
from sharing.judge import numbers
from sharing.judge.passes import Profiled
from sharing.judge.severitylimit import limited
from sharing.model.arrays import among
from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED, AccessKind, Image, SiteFlag
from sharing.model.profile import COMPANIONS, Actor, Heat, LineProfile
from sharing.rules.line.base import Context, Draft, describe, evidence_of, grade, pair_score, who
from sharing.rules.line.thread_slots import RULE
from sharing.rules.meeting import said_at_most

MOST = Severity.MEDIUM  # how many of them threads use is not known
MOST_OF_MANY = Severity.LOW  # of many elements with a lock two threads seldom take neighbours at one time

_WRITES = (AccessKind.STORE, AccessKind.RMW)


class _Array(NamedTuple):
    """The variable of this row: elements of ``size`` bytes, of which threads change their own, or ``locked`` ones."""

    row: int
    begin: int
    size: int
    borders: tuple[int, ...]  # bytes of a line before a place where one ends and the next begins, each that is known
    locked: bool = False  # each with a lock of its own
    most: Severity = MOST


class _Met(NamedTuple):
    severity: Severity
    score: float
    end: Actor  # of an element
    next: Actor  # the beginning of the one behind it
    share: float
    border: int


def elements_meet(profiled: Profiled, ctx: Context) -> list[Draft]:
    """One of each array, about what threads use most at its elements' ends."""
    drafts = []
    for array in _arrays(profiled, ctx.line_size):
        actors = profiled.profiler.actors(array.row)
        met = max(_meetings(actors, array, ctx), key=lambda one: _order(one, ctx), default=None)
        if met is not None:
            drafts.append(_draft(met, array, ctx))
    return limited(drafts, ctx)


def _order(met: _Met, ctx: Context) -> tuple[int, int, int, float]:
    """The one that is named comes last: that of which most can be said, of equals where both are written."""
    written = sum(one.write_heat is not Heat.COLD for one in (met.end, met.next))
    return said_at_most(met.severity, met.end, met.next, ctx), met.severity.rank, written, met.score * met.share


def _arrays(profiled: Profiled, line_size: int) -> Iterator[_Array]:
    image, accesses = profiled.passes.image, profiled.passes.accesses
    sites = accesses.sites
    used = (sites["flags"] & SiteFlag.INDEXED != 0) & (accesses.mask != 0) & (accesses.variable >= 0)
    own = used & (sites["flags"] & SiteFlag.OWN != 0) & (sites["stride"] >= line_size) & among(sites["kind"], _WRITES)
    locked = used & (accesses.lock >= 0) & ~accesses.cold & ~among(accesses.variable, accesses.variable[own])
    for chosen in (own, locked):
        for row in np.unique(accesses.variable[chosen]).tolist():
            sizes = set(sites["stride"][chosen & (accesses.variable == row)].tolist())
            size = sizes.pop()
            if sizes or element_size(image, row) != size:
                continue
            borders = _borders(image, row, size, line_size)
            if any(borders) and chosen is own:
                yield _Array(row, int(image.variables["address"][row]), size, borders)
            elif any(borders) and size % line_size and (size > line_size or _is_allocated(image, row)):
                few = not _is_allocated(image, row) and len(borders) < numbers.FEW_LOCKED
                most = MOST if few else MOST_OF_MANY
                yield _Array(row, int(image.variables["address"][row]), size, borders, locked=True, most=most)


def _is_allocated(image: Image, row: int) -> bool:
    return int(image.variables["section"][row]) in image.phases


def element_size(image: Image, row: int) -> int:
    """Of a variable that is an array of records by its type; 0 of others."""
    return image.types.record_step(int(image.variables["type"][row]))


def _borders(image: Image, row: int, size: int, line_size: int) -> tuple[int, ...]:
    variable = image.variables[row]
    begin, end, section = int(variable["address"]), int(variable["address"] + variable["size"]), variable["section"]
    if int(section) in image.phases:  # an allocator's choice, as far as it promises nothing
        step = math.gcd(size, image.phases[int(section)], line_size)
        return tuple(range(0, line_size, max(step, 1)))
    return tuple((begin + at) % line_size for at in range(size, end - begin, size))


def _meetings(actors: Iterable[Actor], array: _Array, ctx: Context) -> Iterator[_Met]:
    used = [a for a in actors if a.heat is not Heat.COLD and a.kind not in COMPANIONS]
    for end in used:
        for begin in used:
            if (end is begin and not array.locked) or not ctx.concurrent(end.mask(writers=True), begin.mask()):
                continue
            if not (_is_changed(end, array) or _is_changed(begin, array)) or _under_one_lock(end, begin):
                continue
            borders = [at for at in array.borders if _on_line(end, begin, array, at, ctx.line_size)]
            if not borders:
                continue
            share = len(borders) / len(array.borders)
            severity = max(
                (grade(a.write_heat, b.heat) for a, b in ((end, begin), (begin, end))), key=lambda one: one.rank
            )
            severity = min(severity, array.most, key=lambda one: one.rank).lowered(steps_lost(share))
            yield _Met(severity, max(pair_score(end, begin), pair_score(begin, end)), end, begin, share, borders[0])


def _is_changed(actor: Actor, array: _Array) -> bool:
    """By threads, each in an element of its own, or in one that it chose."""
    of_elements = (a for a in actor.writers if a.stride == array.size and a.weight > 0 and not a.cold)
    return any(a.own or array.locked for a in of_elements)


def _under_one_lock(end: Actor, begin: Actor) -> bool:
    """Of an element's own lock the other element has another one."""
    return any(not name.startswith(f"{end.owner}[") for name in end.guards & begin.guards)


def _on_line(end: Actor, begin: Actor, array: _Array, border: int, line_size: int) -> bool:
    last, first = array.begin + array.size, array.begin
    return bool(end.touched_on(last - border, last)) and bool(begin.touched_on(first, first + line_size - border))


def _draft(met: _Met, array: _Array, ctx: Context) -> Draft:
    known = met.end.section != ALLOCATED
    at = 1 + array.borders.index(met.border) if known else 1
    end = _moved(met.end, (at - 1) * array.size, at - 1)
    begin = _moved(met.next, at * array.size, at)
    address = array.begin + at * array.size - met.border
    line = LineProfile(address, ctx.line_size, (end, begin), (), "" if known else "a line")
    each = -(-array.size // ctx.line_size) * ctx.line_size
    changed = met.end if _is_changed(met.end, array) else met.next
    apart = "with a lock each" if array.locked else f"of which each thread changes its own ({who(changed.writers)})"
    share = f"; they do so at {met.share:.0%} of the places where one ends" if met.share < 1 else ""
    return Draft(
        rule=RULE.id,
        severity=met.severity,
        verdict=Verdict.FALSE_SHARING,
        line=line,
        actors=(end, begin),
        separate=(),
        message=(
            f"{array.size} bytes are an element of {met.end.owner}, {apart}: {describe(end, begin)} at the end of one "
            f"and {describe(begin, end)} at the beginning of the next share a line{share}: align the type of the "
            f"elements to {ctx.line_size} bytes, which rounds it up to {each}"
        ),
        evidence=evidence_of(end, (begin,), ctx),
        score=met.score * met.share,
    )


def _moved(actor: Actor, by: int, element: int) -> Actor:
    """The same of another element."""
    span = actor.span[0] + by, actor.span[1] + by
    hot, read = (tuple((a + by, b + by) for a, b in ranges) for ranges in (actor.hot, actor.read_hot))
    name = actor.name.replace("[0]", f"[{element}]", 1)
    return dataclasses.replace(actor, name=name, span=span, hot=hot, read_hot=read)
