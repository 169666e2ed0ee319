"""Which edits to propose: those after which nothing is left of a finding, the cheapest of them.

Owns the search.  An edit is tried in memory (``editedlayout``), the caller judges the lines that come out of
it again, and what is still wrong gets a further edit.  Where that does not end, nothing is proposed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import msgspec

from sharing.basics.geometry import round_up
from sharing.judge import conflicts as graph
from sharing.judge import numbers
from sharing.judge.remedies.editedlayout import Edit, Kind, Layout, stride_of, variable_of
from sharing.judge.remedies.membermoves import elsewhere
from sharing.judge.remedies.paths import Paths, Step, common
from sharing.model.image import ALLOCATED
from sharing.model.profile import Actor

MAX_EDITS = 8  # of one finding; a line of 64 bytes has eight words
MAX_TRIED = 6  # actors of a line that are tried for one edit


class Conflict(msgspec.Struct, frozen=True):
    """What is wrong on a line: ``actors`` in order of blame, ``separate`` those that an edit should move.

    ``free`` are those whose own edit takes no room: these are tried first.  ``newcomers`` came to the line by the
    change that is reviewed: one of them moves, whatever else does.
    """

    actors: tuple[Actor, ...]
    separate: tuple[Actor, ...]
    split: bool = False  # one object lies on two lines
    free: tuple[Actor, ...] = ()
    newcomers: tuple[Actor, ...] = ()


class Cost(msgspec.Struct, frozen=True):
    """``each`` bytes in each of ``objects`` (0: as many as are allocated), and ``once`` for the start of a line."""

    each: int
    objects: int = 1
    once: int = 0

    @property
    def total(self) -> int:
        return self.each * max(self.objects, 1) + self.once


# What is left of a finding, of several lines no more than it takes to come to a number of actors: then it is of no use.
Left = Callable[[Layout, int], Sequence[Conflict]]


def choose(conflict: Conflict, left: Left, paths: Paths, line_size: int) -> tuple[Edit, ...]:
    """Edits after which ``left`` finds nothing any more, () where none are known.

    A member that moves changes who else is on a line: where that has no end, only what fills lines is tried.
    """
    return _chosen(conflict, left, paths, line_size, moves=True) or (
        _chosen(conflict, left, paths, line_size, moves=False)
    )


def _chosen(conflict: Conflict, left: Left, paths: Paths, line_size: int, *, moves: bool) -> tuple[Edit, ...]:
    """As ``choose``, with members that move elsewhere or without."""
    edits: list[Edit] = []
    todo: Sequence[Conflict] = (conflict,)
    seen = dict.fromkeys(conflict.actors)
    while todo and len(edits) < MAX_EDITS:
        options = [e for e in _options(todo[0], paths, line_size) if moves or e.kind is not Kind.ELSEWHERE]
        if not edits:  # later conflicts are of what the newcomers came to
            options = [edit for edit in options if edit.actor in conflict.newcomers] or options
        places = {known.place for known in edits}
        new = [edit for edit in options if edit.place not in places]
        best: tuple[int, Edit, Sequence[Conflict]] | None = None
        for edit in sorted(new, key=lambda edit: _dear(edit, line_size)):
            after = left(Layout([*edits, edit], seen, line_size), best[0] if best is not None else sys.maxsize)
            actors = _actors_of(after)
            if best is None or actors < best[0]:
                best = (actors, edit, after)
            if not actors:
                break  # nothing is left, and what follows costs no less
        if best is None:
            return ()
        edits.append(best[1])
        todo = best[2]
        seen.update(dict.fromkeys(a for c in todo for a in c.actors))
    if todo:
        return ()
    fixed = [edit for edit in edits if edit.actor in conflict.newcomers]
    needed = _without_needless(edits, fixed, left, seen, line_size)
    named = [variable_of(actor) for actor in conflict.actors[:2]]
    return tuple(sorted(needed, key=lambda edit: edit.variable not in named))  # a reader knows these


def _actors_of(conflicts: Sequence[Conflict]) -> int:
    return sum(len(conflict.actors) for conflict in conflicts)


def _without_needless(
    edits: Sequence[Edit], fixed: Sequence[Edit], left: Left, actors: dict[Actor, None], line_size: int
) -> tuple[Edit, ...]:
    """Each edit is needed, or ``fixed``: one that was first may be covered by what came after it."""
    kept = list(edits)
    for edit in edits:
        others = [e for e in kept if e is not edit]
        if edit not in fixed and others and not left(Layout(others, actors, line_size), 1):
            kept = others
    return tuple(kept)


def cost_of(edit: Edit, line_size: int) -> Cost:
    """What the edit adds to the program's memory."""
    actor = edit.actor
    size = actor.owner_span[1] - actor.owner_span[0]
    heap = actor.section == ALLOCATED
    before = max(line_size - max(actor.alignment, 1), 0)  # at most: what already starts a line needs none
    if edit.kind is Kind.ELSEWHERE:
        return Cost(0, _objects(edit.steps, heap))
    if edit.kind is Kind.WHOLE:
        return Cost(round_up(max(size, 1), line_size) - size, 0 if heap else 1, 0 if heap else before)
    if edit.kind is Kind.ELEMENTS:
        stride = edit.steps[-1].stride if edit.steps else stride_of(actor) or max(size, 1)
        count = _objects(edit.steps, heap=False) if edit.steps else max(size // stride, 1)
        return Cost(round_up(stride, line_size) - stride, count, before)
    if not edit.steps:
        return Cost(2 * line_size - (actor.span[1] - actor.span[0]) % line_size, 0 if heap else 1)
    inner = max((at for at, s in enumerate(edit.steps) if s.of_array), default=-1)
    low, high = (edit.steps[inner].start, edit.steps[inner].end) if inner >= 0 else (0, size)
    grown = _grown(edit.steps[inner + 1 :], low, high, line_size) - (high - low)
    objects = _objects(edit.steps[: inner + 1], heap)
    return Cost(grown, objects, 0 if heap else before)


def _grown(steps: Sequence[Step], low: int, high: int, line_size: int) -> int:
    """Bytes of [low, high) after the last of the steps starts a line, and what is behind it the next.

    Padding at the end of a record is none of its content: the next multiple of a line may take its place.
    """
    padding = [(s.filled, s.held[1]) for s in steps if not s.of_array and s.filled]
    starts = {low, high, *(at for s in steps[:-1] for at in (s.start, s.end))}
    starts |= {steps[-1].start, steps[-1].following} if steps else set()
    at = new = low
    for start in sorted(starts):
        empty = sum(max(min(b, start) - max(a, at), 0) for a, b in padding)
        new = low + round_up(new - low + start - at - empty, line_size)
        at = start
    return new - low


def _objects(steps: Sequence[Step], heap: bool) -> int:
    count = 0 if heap else 1
    for step in steps:
        count *= step.count if step.of_array else 1
    return count


def _dear(edit: Edit, line_size: int) -> int:
    """Bytes in all, 0 for what is little enough not to matter; of objects on the heap there may be any number."""
    cost = cost_of(edit, line_size)
    if not cost.objects:
        return cost.each * 2 * numbers.ALIKE_LINES
    return cost.total if cost.total > numbers.ALIKE_LINES * line_size else 0


def _options(conflict: Conflict, paths: Paths, line_size: int) -> Iterator[Edit]:
    """Edits worth trying, the customary first."""
    actors = conflict.actors
    if len(actors) == 1:
        yield from _alone(actors[0], paths, split=conflict.split)
        return
    first = list(dict.fromkeys([*conflict.newcomers, *conflict.free, *_movers(conflict)]))
    for actor in [*first, *(a for a in actors if a not in first)][:MAX_TRIED]:
        others = [a for a in actors if a is not actor]
        inside = [o for o in others if variable_of(o) == variable_of(actor)]
        if len(inside) < len(others):
            yield Edit(Kind.WHOLE, actor)
        for other in inside[:MAX_TRIED]:
            yield from _apart(actor, other, paths, line_size)


def _movers(conflict: Conflict) -> list[Actor]:
    """The fewest that end all conflicts of a line, as far as pairs tell."""
    separate = conflict.separate
    if len(separate) < 2:
        return list(separate)
    names = {f"{at} {a.name}": a for at, a in enumerate(separate)}
    pairs = [(x, y, min(names[x].weight, names[y].weight)) for at, x in enumerate(names) for y in list(names)[at + 1 :]]
    return [names[name] for name in graph.fewest_to_move(list(names), pairs)]


def _alone(actor: Actor, paths: Paths, *, split: bool) -> Iterator[Edit]:
    """An array whose elements disturb each other, or an object on two lines."""
    steps = paths.steps(actor)
    if split:
        if actor.span == actor.owner_span or not steps:
            yield Edit(Kind.WHOLE, actor)
        yield from _members(actor, steps)
        return
    for level in range(len(steps), 0, -1):
        if steps[level - 1].of_array and steps[level - 1].stride >= _step(actor):
            yield Edit(Kind.ELEMENTS, actor, steps[:level])
            return
    if steps and not steps[-1].of_array and (inner := paths.elements(steps[-1].type, steps[-1].start)):
        yield Edit(Kind.ELEMENTS, actor, (*steps, *inner))
    elif not steps and 0 < stride_of(actor) < actor.owner_span[1] - actor.owner_span[0]:
        yield Edit(Kind.ELEMENTS, actor, _own_elements(actor, paths))
    elif stride_of(actor):
        # What only the steps of code show has the length of one element: the array around it has to be found.
        yield Edit(Kind.WHOLE if actor.sized or actor.section == ALLOCATED else Kind.ELEMENTS, actor)


def _step(actor: Actor) -> int:
    """What a thread's own part is at least: several of a plain array may be taken at a time."""
    return min(stride_of(actor), max(actor.stride, 1)) if actor.stride else 1


def _own_elements(actor: Actor, paths: Paths) -> tuple[Step, ...]:
    """The elements of a variable that is an array as far as its type says; () without a type."""
    found = paths.elements(paths.home(actor).type, 0)
    return found if found and found[-1].stride >= stride_of(actor) else ()


def _apart(actor: Actor, other: Actor, paths: Paths, line_size: int) -> Iterator[Edit]:
    """Edits that part two members of one variable where their ways part."""
    mine, theirs = paths.steps(actor), paths.steps(other)
    level = common(mine, theirs)
    if level >= len(mine):
        if not mine:
            yield from _members(actor, ())
        return
    if mine[level].of_array:
        yield Edit(Kind.ELEMENTS, actor, mine[: level + 1])
        return
    yield from _members(actor, mine[: level + 1])
    if level < len(theirs):
        found = elsewhere(paths.types, mine[: level + 1], theirs[level], line_size)
        for behind, places in found:
            yield Edit(Kind.ELSEWHERE, actor, mine[: level + 1], behind, places)


def _members(actor: Actor, steps: Sequence[Step]) -> Iterator[Edit]:
    if not steps or not steps[-1].of_array:
        yield Edit(Kind.MEMBER, actor, tuple(steps))
