"""Local variables and parameters at given instructions, and what the pointers of a program point to.

Owns plain values.  Read from debug information by ``elfscan.debug.locals``; what they say of an access is
``sharing.sampled.reached``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sharing.model.types import TypeTable


@dataclass(frozen=True, slots=True)
class Local:
    """A variable at one instruction: ``register`` (perf's number) plus ``offset`` is its value, or where it is."""

    name: str
    function: str
    type: int  # row of Locals.types
    register: int
    offset: int
    in_memory: bool


@dataclass(frozen=True, slots=True)
class Static:
    """A variable with static storage."""

    name: str
    address: int
    type: int


@dataclass(frozen=True, slots=True)
class Around:
    """A function around an instruction.

    ``call`` is where it calls the one that is inlined in it, file:line:column; "" of the innermost, or unknown.
    ``gives_memory``: it is asked for a number of bytes and returns an address of no type.
    """

    name: str
    call: str = ""
    gives_memory: bool = False


@dataclass(frozen=True, slots=True)
class Locals:
    """Of one file.  ``at`` is by link-time address of an instruction, the innermost function's variables first.

    ``pointees``: the row of what a type of pointers points to, by that type's row.  ``language`` as debug information
    calls it, "" where the units of the instructions are in several.  ``results``: the row of the type of pointers that
    the function returns which begins at an address.
    """

    at: Mapping[int, tuple[Local, ...]] = field(default_factory=dict)
    statics: tuple[Static, ...] = ()  # by address
    types: TypeTable = field(default_factory=TypeTable)
    pointees: Mapping[int, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # of the types
    functions: Mapping[int, tuple[Around, ...]] = field(default_factory=dict)  # as ``at``: inlined ones first
    language: str = ""
    own: tuple[Static, ...] = ()  # of the thread's own storage, by their places from the thread pointer
    results: Mapping[int, int] = field(default_factory=dict)
