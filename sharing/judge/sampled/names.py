"""What the bytes of a sampled line are called: variables with members where a file says so.

Owns the naming of items as ``Actor`` values, which remedies and reports know.  Decides nothing about them.  Memory
without a declaration is ``memorynames``'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sharing.basics.naming import without_internals
from sharing.basics.sourcepath import in_project
from sharing.judge import numbers
from sharing.judge.sampled.memorynames import nameless, of_block, of_object, role_of_item
from sharing.knowledge import Knowledge
from sharing.model.image import Image, VariableFlag
from sharing.model.profile import Actor, Role
from sharing.sampled.heap import Allocation
from sharing.sampled.lineuse.blame import Item, Range
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.objects import SeenObject
from sharing.static.roles import role_of
from sharing.static.shapes import LockMember, Shapes

_UNSIZED = int(VariableFlag.SIZE_INFERRED | VariableFlag.RECOVERED)
Actors = Callable[[int, int], tuple[Actor, ...]]
Heap = Callable[[LineUse, int], Allocation | None]  # what a byte of a line was allocated with
Objects = Callable[[LineUse, int, int], SeenObject | None]  # what bytes of a line are


class Names:
    """Names for the lines of one image, and of memory that belongs to no file.

    ``actors`` gives those that the code of the image makes busy, with bytes in a range of addresses of one variable;
    ``heap`` the allocation of a byte of other memory, ``objects`` the object that bytes of it are.
    ``others`` has the names of another file's variables, by its path.
    """

    def __init__(
        self,
        image: Image | None = None,
        knowledge: Knowledge | None = None,
        actors: Actors | None = None,
        heap: Heap | None = None,
        objects: Objects | None = None,
        others: Callable[[str], Names | None] | None = None,
    ):
        self._image, self._knowledge = image, knowledge
        self._heap: Heap = heap or (lambda use, at: None)
        self._object_at: Objects = objects or (lambda use, start, end: None)
        self._others = others or (lambda path: None)
        self._actors: Actors = actors or (lambda start, size: ())
        self._shapes = Shapes(image, knowledge) if image is not None and knowledge is not None else None

    def together(self, use: LineUse) -> tuple[Range, ...]:
        """Runs of bytes of the line that are one thing each: locks by their ABI, members by their type."""
        out: list[Range] = []
        if self._static(use):
            for start, end in self._objects(use):
                for actor in self._actors(start, end - start):
                    spans = actor.hot + actor.read_hot if actor.is_lock else (actor.span,)
                    low, high = min(a for a, _ in spans), max(b for _, b in spans)
                    if actor.is_lock or (high - low <= numbers.MAX_TOGETHER and not _is_array(actor)):
                        out.append((low - use.link, high - use.link))
                out.extend(self._typed_locks(start, use))
        if not out:
            out.extend(_called_locks(use))
        return tuple(dict.fromkeys(out))

    def actor(self, item: Item, use: LineUse) -> Actor:
        """The variable, member or piece of memory that an item is."""
        if self._static(use):
            start, end = use.link + item.start, use.link + item.end
            known = [a for a in self._actors(start, end - start) if a.span[0] < end and start < a.span[1]]
            if known:
                nearest = min(known, key=lambda a: (not a.is_lock, a.span[1] - a.span[0], a.span))
                return _as_seen(_element(nearest, start, end), item)
        if (named := self._declared(item, use)) is not None:
            return named
        block = self.allocation(item, use)
        if (seen := self.object(item, use)) is not None:
            return of_object(seen, item, use, block)
        if block is not None:
            return of_block(block, item, use)
        return nameless(item, use)

    def _declared(self, item: Item, use: LineUse) -> Actor | None:
        """The variable around an item, of the file that the line is in."""
        names = self if self._static(use) else self._others(use.module) if use.link >= 0 else None
        if names is None or names._image is None:
            return None
        found = names._image.variable_at(use.link + item.start)
        return names._of_variable(found, item, use) if found >= 0 else None

    def allocation(self, item: Item, use: LineUse) -> Allocation | None:
        """What an item was allocated with, where that was noted."""
        return self._heap(use, item.start) if use.link < 0 else None

    def object(self, item: Item, use: LineUse) -> SeenObject | None:
        """The object around an item of memory without a declaration, where the code's variables lead to it."""
        return self._object_at(use, item.start, item.end) if use.link < 0 else None

    def _static(self, use: LineUse) -> bool:
        return self._image is not None and use.target and use.link >= 0

    def _objects(self, use: LineUse) -> list[Range]:
        """Parts of the line by variable: [start, end) addresses."""
        assert self._image is not None
        table = self._image.variables
        ends = np.array([use.link, use.link + use.size], np.uint64)
        first, end_row = np.searchsorted(table["address"], ends).tolist()
        around = self._image.variable_at(use.link)  # one that begins before the line
        out = []
        for row in range(around if around >= 0 else first, end_row):
            address, size = int(table["address"][row]), int(table["size"][row])
            start, end = max(address, use.link), min(address + max(size, 1), use.link + use.size)
            if start < end:
                out.append((start, end))
        return out

    def _typed_locks(self, address: int, use: LineUse) -> list[Range]:
        assert self._image is not None
        assert self._shapes is not None
        row = self._image.variable_at(address)
        variable = self._image.variables[row]
        base = int(variable["address"]) - use.link
        return [
            (base + place.offset + min(a for a, _ in spans), base + place.offset + max(b for _, b in spans))
            for place in self._shapes.locks(int(variable["type"]))
            if not place.stride and (spans := place.hot + place.read)
        ]

    def _of_variable(self, row: int, item: Item, use: LineUse) -> Actor:
        """A variable that no code is known to make busy: named by its type."""
        start, end = use.link + item.start, use.link + item.end
        assert self._image is not None
        assert self._shapes is not None
        assert self._knowledge is not None
        image, variable = self._image, self._image.variables[row]
        base, size, kind = int(variable["address"]), int(variable["size"]), int(variable["type"])
        name = image.variable_name(row)
        offset = start - base
        lock = next((p for p in self._shapes.locks(kind) if p.offset <= offset < p.offset + p.size), None)
        leaf = None if lock is not None else self._shapes.leaf(kind, offset)
        span, path, type_name, role = (start, end), f"+{offset:#x}" if offset else "", "", role_of_item(item)
        stride = count = 0
        if lock is not None:
            span, path, type_name, role = _lock_span(lock, base), lock.path, lock.type_name, Role.LOCK
        elif leaf is not None:
            role = role_of(leaf, (), self._knowledge)
            role = role_of_item(item) if role is Role.CONSTANT else role
            stride, count = leaf.stride, leaf.count
            path, first = leaf.path_at(without_internals(leaf.path, leaf.via), offset), base + leaf.begin(offset)
            span, type_name = (first, first + leaf.extent), leaf.type_name
        file, unit = int(variable["file"]), int(variable["unit"])
        section = next((s.name for s in image.sections if s.index == variable["section"]), "")
        return Actor(
            name=name if not path else f"{name}{path}" if path[0] in "[+" else f"{name}.{path}",
            owner=name,
            owner_span=(base, base + max(size, 1)),
            span=span,
            hot=((start, end),),
            role=role,
            kind=self._knowledge.locks[lock.row].kind if lock is not None else "",
            type_name=type_name,
            owner_type=image.types.name(kind) if kind >= 0 else "",
            source=f"{image.files[file]}:{int(variable['line'])}" if file >= 0 else "",
            file=in_project(image.files[file], unit, image.units) if file >= 0 else "",
            language=image.units[unit].language if unit >= 0 else "",
            section=section,
            unit=unit,
            sized=not int(variable["flags"]) & _UNSIZED,
            stride=stride,
            count=max(count, 1),
            identity=image.identities.get(base, ""),
        )


def _is_array(actor: Actor) -> bool:
    """Several things of one kind: each may be another thread's."""
    return actor.count > 1 or any(a.stride for a in actor.accesses)


def _element(actor: Actor, start: int, end: int) -> Actor:
    """The one element of a typed array that bytes [start, end) are in, or the actor as it is."""
    if actor.is_lock or actor.count < 2 or actor.stride <= 0 or "[" in actor.name:
        return actor
    if actor.span[1] - actor.span[0] < actor.count * actor.stride:
        return actor  # a member of an element, which is not known
    first, last = (start - actor.span[0]) // actor.stride, (end - 1 - actor.span[0]) // actor.stride
    if first != last or first < 0:
        return actor
    at = actor.span[0] + first * actor.stride
    return replace(actor, name=f"{actor.name}[{first}]", span=(at, at + actor.stride), hot=((start, end),))


def _as_seen(actor: Actor, item: Item) -> Actor:
    """The actor, but no data that is never written where the item was: code may choose an element by an index."""
    return replace(actor, role=role_of_item(item)) if actor.role is Role.CONSTANT and item.writers else actor


def _lock_span(lock: LockMember, base: int) -> Range:
    return (base + lock.offset, base + lock.offset + lock.size)


def _called_locks(use: LineUse) -> list[Range]:
    """Bytes that functions of locks touch, close ones joined: fields of one lock."""
    out: list[Range] = []
    for start, end in sorted({(t.start, t.end) for t in use.touches if t.lock_call}):
        if out and start <= out[-1][1] + numbers.LOCK_GAP:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out
