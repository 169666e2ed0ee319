"""Edits of a layout, and where everything is after them.

Owns the arithmetic: a line starts where an edit says so, and what is behind moves up.  A variable with an edit fills
whole lines, so that it is put where nothing else is; the others stay where they are, as close as before.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

import msgspec

from sharing.basics.geometry import round_up
from sharing.judge.remedies.paths import Step, outside_array, path_text
from sharing.model.profile import Actor, Range

_REGION = 1 << 40  # between variables that were moved; no variable is as large

Variable = tuple[str, Range]


class Kind(Enum):
    """Whole lines for a variable, for each element of an array, for a member; or another place for a member."""

    WHOLE = "whole"
    ELEMENTS = "elements"
    MEMBER = "member"
    ELSEWHERE = "elsewhere"


class Edit(msgspec.Struct, frozen=True):
    """One change of a declaration, for the sake of ``actor``.

    ``steps`` lead to the member or element that starts a line, () without types: then the actor's own bytes do.
    Of a member that goes ELSEWHERE, ``behind`` is the member that will stand before it, and ``places`` are where all
    members of its record are then: (start, end, new start), offsets in the variable.
    """

    kind: Kind
    actor: Actor
    steps: tuple[Step, ...] = ()
    behind: str = ""
    places: tuple[tuple[int, int, int], ...] = ()

    @property
    def variable(self) -> Variable:
        return variable_of(self.actor)

    @property
    def place(self) -> tuple[object, ...]:
        """Equal for edits that are the same in the source, whichever element they were found in."""
        inside = tuple((s.name, s.holder, s.stride) for s in self.steps)
        own = self.actor.span if self.kind is not Kind.WHOLE and not self.steps else ()
        return (self.kind, self.variable, inside, own, self.behind)

    @property
    def moved(self) -> str:
        """The full name of what gets a place of its own: the variable, its array, or its member."""
        if self.kind is Kind.WHOLE:
            return self.actor.owner
        if self.kind is Kind.ELEMENTS:
            return path_text(self.actor.owner, outside_array(self.steps))
        return path_text(self.actor.owner, self.steps) if self.steps else self.actor.name

    def starts(self, elements: Sequence[int]) -> Iterable[int]:
        """Offsets in the variable at which a line starts; of arrays on the way, in these of their elements."""
        size = self.actor.owner_span[1] - self.actor.owner_span[0]
        yield 0
        yield size
        if self.kind is Kind.WHOLE:
            return
        if not self.steps:
            start, end = (at - self.actor.owner_span[0] for at in self.actor.span)
            stride = stride_of(self.actor)
            if self.kind is Kind.ELEMENTS and stride > 0:
                for at in elements:
                    index = max((at - start) // stride, 0)
                    yield from (start + index * stride, start + (index + 1) * stride)
            yield from (start, end)
            return
        for offset in {0, *_distances(self.steps, elements)}:
            for step in self.steps[:-1]:
                yield from (step.start + offset, step.end + offset)
            last = self.steps[-1]
            yield last.start + offset
            yield (last.following if self.kind is Kind.MEMBER else last.end) + offset
        for step in self.steps:
            if step.of_array:
                yield from step.held


def variable_of(actor: Actor) -> Variable:
    return (actor.owner, actor.owner_span)


def stride_of(actor: Actor) -> int:
    """Bytes of an element.  Code may take several of a plain array in one step (vectors, unrolled loops); of a table
    or of an object without a type, the largest step is what one thread has."""
    size = actor.owner_span[1] - actor.owner_span[0]
    if actor.stride > 0 and actor.owner_type.endswith(f"[{size // actor.stride}]") and actor.owner_type.count("[") == 1:
        return actor.stride
    return max([actor.stride, *(a.stride for a in actor.accesses)])


def _distances(steps: Sequence[Step], offsets: Sequence[int]) -> set[int]:
    """How far the elements that hold ``offsets`` are from the one that the steps lead through (outermost array)."""
    array = next((s for s in steps if s.of_array), None)
    if array is None:
        return set()
    low, high = array.held
    found = {(at - low) // array.stride * array.stride + low - array.start for at in offsets if low <= at < high}
    next_ones = {d + array.stride for d in found if array.start + d + 2 * array.stride <= high}
    return found | next_ones


class Layout:
    """The addresses of actors after edits."""

    def __init__(self, edits: Sequence[Edit], actors: Iterable[Actor], line_size: int) -> None:
        self._line = line_size
        self._edits: dict[Variable, list[Edit]] = defaultdict(list)
        for edit in edits:
            self._edits[edit.variable].append(edit)
        offsets: dict[Variable, set[int]] = defaultdict(set)
        for actor in actors:
            offsets[variable_of(actor)].add(actor.span[0] - actor.owner_span[0])
        self._starts: dict[Variable, list[int]] = {}
        self._moved: dict[Variable, list[int]] = {}
        self._bases = {variable: (at + 1) * _REGION for at, variable in enumerate(self._edits)}
        for variable, own in self._edits.items():
            aligned = [e for e in own if e.kind is not Kind.ELSEWHERE]
            starts = sorted({at for e in aligned for at in e.starts(sorted(offsets[variable]))}) or [0]
            moved, last = [], 0
            for number, start in enumerate(starts):
                last = round_up(last + start - (starts[number - 1] if number else 0), self._line)
                moved.append(last)
            self._starts[variable], self._moved[variable] = starts, moved

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What was changed."""
        return tuple(self._edits)

    def size(self, variable: Variable) -> int:
        """Bytes of a variable that was changed."""
        return max(self._at(variable, variable[1][1] - variable[1][0]), self._line)

    def after(self, actor: Actor) -> Actor:
        """The actor where it is now; itself where nothing moved it."""
        variable = variable_of(actor)
        if variable not in self._edits:
            return actor
        elsewhere = next((e for e in self._edits[variable] if e.kind is Kind.ELSEWHERE), None)
        if elsewhere is not None:
            return _put(actor, elsewhere)
        base, start = self._bases[variable], actor.owner_span[0]

        def moved(ranges: Iterable[Range]) -> tuple[Range, ...]:
            return tuple((base + self._at(variable, a - start), base + self._at(variable, b - 1 - start) + 1)
                         for a, b in ranges)  # fmt: skip

        strides = {s: self._stride(variable, actor, s) for s in {actor.stride, *(a.stride for a in actor.accesses)}}
        after = actor.placed(
            span=moved((actor.span,))[0],
            owner_span=(base, base + self.size(variable)),
            hot=moved(actor.hot),
            read_hot=moved(actor.read_hot),
            alignment=max(actor.alignment, self._line),
            stride=strides[actor.stride],
        )
        if all(stride == before for before, stride in strides.items()):
            return after
        accesses = (msgspec.structs.replace(a, stride=strides[a.stride]) if a.stride else a for a in actor.accesses)
        return replace(after, accesses=tuple(accesses))

    def _at(self, variable: Variable, offset: int) -> int:
        starts = self._starts[variable]
        before = bisect.bisect_right(starts, offset) - 1
        return self._moved[variable][before] + offset - starts[before]

    def _stride(self, variable: Variable, actor: Actor, stride: int) -> int:
        """How far elements that were ``stride`` bytes apart are now, beginning with the one the actor is in."""
        if not stride:
            return 0
        size = actor.owner_span[1] - actor.owner_span[0]
        if stride % max(size, 1) == 0:
            return self.size(variable) * (stride // max(size, 1))  # one object of a row of them on the heap
        inside = [e for e in self._edits[variable] if e.kind in (Kind.ELEMENTS, Kind.MEMBER)]
        for edit in inside:
            array = next((s for s in edit.steps if s.of_array), None)
            each = array.stride if array is not None else stride_of(edit.actor) if not edit.steps else 0
            if not each or stride % each:
                continue
            low = array.held[0] if array is not None else edit.actor.span[0] - actor.owner_span[0]
            at = low + max(actor.span[0] - actor.owner_span[0] - low, 0) // each * each
            return (self._at(variable, at + each) - self._at(variable, at)) * (stride // each)
        return stride


def _put(actor: Actor, edit: Edit) -> Actor:
    """Where a part of a record is after its members changed places."""
    base = actor.owner_span[0]
    found = [(new - old) for old, end, new in edit.places if old <= actor.span[0] - base < end]
    if not found or not found[0]:
        return actor
    by = found[0]

    def moved(ranges: Iterable[Range]) -> tuple[Range, ...]:
        return tuple((a + by, b + by) for a, b in ranges)

    return actor.placed(span=moved((actor.span,))[0], hot=moved(actor.hot), read_hot=moved(actor.read_hot))


def touched(actor: Actor) -> tuple[Range, ...]:
    return tuple(sorted(actor.hot + actor.read_hot)) or (actor.span,)
