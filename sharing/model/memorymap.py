"""All writable memory of an image as columns: variables, members, who accesses which bytes, what is hot.

Owns the values that a page draws its map from.  They are columns of plain numbers and not a struct for each variable,
since a kernel has a hundred thousand.  Places are offsets within their section, where they are ascending as distances,
each from the one before: small numbers, and addresses of a kernel are no numbers that a browser can hold.
"""

from __future__ import annotations

from enum import IntFlag

import msgspec


class Verb(IntFlag):
    """What a function does to bytes.  SERIES: to one or another of several elements, the first is told."""

    READS = 1
    WRITES = 2
    ATOMIC = 4
    LOCKS = 8
    SERIES = 16


class MapVariables(msgspec.Struct, frozen=True):
    """One row a variable, by address.  ``types`` are indexes of ``MemoryMap.types``, -1 unknown."""

    names: list[str]
    distances: list[int]
    sizes: list[int]
    types: list[int]
    sources: list[str]  # file:line, "" unknown


class MapAccesses(msgspec.Struct, frozen=True):
    """One row for what a function does to a range of bytes, by address.  ``functions`` are indexes.

    ``weights`` are estimated executions that two threads may make at once: 8 * log2 of one more than they are.
    """

    distances: list[int]
    sizes: list[int]
    functions: list[int]
    verbs: list[int]
    weights: list[int]


class MapHeat(msgspec.Struct, frozen=True):
    """Bytes in use, by address; ``writes`` and ``reads`` are ranks of ``sharing.model.profile.Heat``."""

    distances: list[int]
    writes: list[int]
    reads: list[int]


class MapSection(msgspec.Struct, frozen=True):
    """A section that several threads can write."""

    name: str
    address: str
    size: int
    variables: MapVariables
    accesses: MapAccesses
    heat: MapHeat


class MapMember(msgspec.Struct, frozen=True, array_like=True):
    """A leaf of a type; of an array of records ``count`` elements, ``stride`` bytes apart."""

    path: str
    offset: int
    size: int
    type: str
    stride: int
    count: int


class MapType(msgspec.Struct, frozen=True):
    """``members`` is empty for a scalar, and cut for giants.

    Of the first ``told`` bytes they are all: what none of them has there is a hole, behind there may be more.
    """

    name: str
    members: list[MapMember]
    told: int = 0


class SampledTouch(msgspec.Struct, frozen=True, array_like=True):
    """What one thread was seen to do to bytes [start, end) of a line; ``samples`` are those with that place."""

    thread: str
    function: str
    start: int
    end: int
    verbs: int
    samples: int


class SampledMapLine(msgspec.Struct, frozen=True):
    """A line of static storage in a profile: its share of the program's time, and who touched what.

    ``gain`` says in words what keeping its data apart would give, "" where nothing is known.
    """

    address: str
    share: float
    gain: str
    touches: list[SampledTouch]


class CodeLine(msgspec.Struct, frozen=True, array_like=True):
    """An instruction as people read it."""

    address: str
    text: str


class Excerpt(msgspec.Struct, frozen=True):
    """An access of a function to ``address``: its place in source with the text there, and the instructions there.

    ``source`` is file:line, "" unknown; ``first`` is the number of the first line of ``text``.  ``ip`` is the address
    of the instruction that accesses, one of ``code``.
    """

    address: str
    function: str
    source: str = ""
    first: int = 0
    text: list[str] = []
    ip: str = ""
    code: list[CodeLine] = []


class MemoryMap(msgspec.Struct, frozen=True):
    """One image.  ``target`` is its name in findings of several, else "".

    ``threads`` are what starts each of them; ``thread_sets`` are sets of their indexes, and ``reached`` has one for
    each function.  ``omitted`` counts accesses left out beyond the bound.
    """

    target: str
    line_size: int
    sections: list[MapSection]
    types: list[MapType]
    functions: list[str]
    threads: list[str]
    thread_sets: list[list[int]]
    reached: list[int]
    omitted: int = 0
    sampled: list[SampledMapLine] = []
    excerpts: list[Excerpt] = []
