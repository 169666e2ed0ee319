"""Lines of a binary as a map: who owns which byte, without any verdict.  The result document of ``lines``."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from sharing.model.finding import Target

LINES_SCHEMA = "linemate-lines-1"


class SpanKind(StrEnum):
    """What a run of bytes is.  Every byte of a line is exactly one of these."""

    MEMBER = "member"  # a leaf of a typed variable
    VARIABLE = "variable"  # a variable without a type, or the part of one that its type does not describe
    HOLE = "hole"  # inside a typed variable, between members or behind the last one
    PADDING = "padding"  # between variables, there for alignment
    UNKNOWN = "unknown"


class LayoutMember(msgspec.Struct, frozen=True):
    """One of several members that have bytes in common.  ``offset`` is where it begins within its object.

    Functions are those whose accesses are as large as this member alone and begin where it does.
    """

    name: str
    offset: int
    size: int
    type: str = ""
    lockers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()


class LayoutSpan(msgspec.Struct, frozen=True):
    """[start, end) offsets within the line.  ``offset`` is where the span begins within its ``object``.

    ``name`` is the variable or member, "" for padding and unknown bytes; for a hole it is the variable.
    ``split``: one element continues on a neighbouring line, so that a single access can touch both.  ``members`` are
    those of a union, or of what overlaps otherwise; the span's own functions are then those that fit none of them.
    ``updaters`` are the functions, of all that touch it, that do so atomically.
    """

    start: int
    end: int
    kind: SpanKind
    name: str = ""
    object: str = ""
    offset: int = 0
    type: str = ""
    split: bool = False
    lockers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    members: tuple[LayoutMember, ...] = ()
    updaters: tuple[str, ...] = ()

    @property
    def users(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """All that lock, read and write it, also through one of its members."""
        parts = (self, *self.members)
        lockers, readers, writers = (
            tuple(dict.fromkeys(name for part in parts for name in getattr(part, verb)))
            for verb in ("lockers", "readers", "writers")
        )
        return lockers, readers, writers


class LayoutLine(msgspec.Struct, frozen=True):
    """One line: spans cover [0, size) in order.  ``section`` names those whose objects it holds."""

    address: str
    size: int
    section: str
    spans: tuple[LayoutSpan, ...]


class LayoutObject(msgspec.Struct, frozen=True):
    """One variable.  ``lines`` is how many it is on.  ``size_inferred``: up to the next object, for want of a size.

    ``lockers``, ``readers`` and ``writers`` name functions, most sites first; ``takers`` those that take its address.
    """

    name: str
    address: str
    size: int
    section: str
    lines: int
    type: str = ""
    source: str = ""
    aliases: tuple[str, ...] = ()
    size_inferred: bool = False
    lockers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    takers: tuple[str, ...] = ()


class LayoutInstance(msgspec.Struct, frozen=True):
    """An object of a record type in static storage.  ``line_offset`` is where on a line it begins."""

    name: str
    address: str
    line_offset: int


class EmptyMember(msgspec.Struct, frozen=True):
    """A member without bytes.  ``offset`` is the byte of the record at which it begins."""

    name: str
    offset: int


class RecordFacts(msgspec.Struct, frozen=True):
    """What a record is as a whole.  ``holes`` of ``hole_bytes`` lie before its last member, ``tail_bytes`` behind it.

    ``empty`` are members without bytes, such as flexible arrays.  ``handed`` counts the functions that an argument
    hands a pointer to such an object, ``pointers`` are static variables that lead to one; accesses through these are
    shown.
    """

    holes: int = 0
    hole_bytes: int = 0
    tail_bytes: int = 0
    empty: tuple[EmptyMember, ...] = ()
    handed: int = 0
    pointers: tuple[str, ...] = ()


class Excerpt(msgspec.Struct, frozen=True):
    """The lines around one object, or around an address on no object.  ``omitted`` lines follow unshown.

    ``record``: a type was asked for.  Then the lines are those of one object that begins a line, with the accesses of
    all ``instances``, of which ``instances_omitted`` more are not listed, and through arguments that point to one.
    """

    wanted: str
    object: LayoutObject | None
    lines: tuple[LayoutLine, ...]
    omitted: int = 0
    record: bool = False
    instances: tuple[LayoutInstance, ...] = ()
    instances_omitted: int = 0
    facts: RecordFacts | None = None


class SectionSummary(msgspec.Struct, frozen=True):
    """One writable section.  ``shared_lines`` hold two objects or more; ``straddling`` objects would fit one line."""

    name: str
    address: str
    size: int
    lines: int
    objects: int
    shared_lines: int
    straddling: int


class CrowdedLine(msgspec.Struct, frozen=True):
    """A line with many objects, in the order of their addresses."""

    address: str
    section: str
    objects: tuple[str, ...]


class Layout(msgspec.Struct, frozen=True):
    """One image: excerpts where symbols were asked for, else the summary of its writable sections."""

    target: Target
    excerpts: tuple[Excerpt, ...] = ()
    sections: tuple[SectionSummary, ...] = ()
    crowded: tuple[CrowdedLine, ...] = ()
    notes: tuple[str, ...] = ()


class LayoutReport(msgspec.Struct, frozen=True):
    """The document: one layout per file, or per archive member that has the symbols."""

    schema: str
    command: str
    layouts: tuple[Layout, ...]
