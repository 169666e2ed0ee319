"""The small programs of which pairs are built, and the edits that a pair makes in them.

Owns the form of ``projects/NAME/project.toml``: units in link order, flags, which data is busy, edits of source.
Building is ``building``'s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

SOURCES = Path(__file__).parent / "projects"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of source: in ``file``, ``old`` (which it holds once) becomes ``new``."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Busy:
    """A variable that threads use all the time: ``bytes`` of it, from its start, on behalf of ``owner``.

    Two of one owner are used together; two of different owners on one line take it from each other.
    """

    name: str
    owner: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Project:
    """A program or a shared library.  ``names``: what an explanation of an edit has to name."""

    compiler: str
    units: tuple[str, ...]
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    edits: dict[str, tuple[Edit, ...]]
    names: dict[str, str]
    busy: tuple[Busy, ...] = ()
    name: str = ""

    @property
    def library(self) -> bool:
        return "-shared" in self.flags


def projects() -> dict[str, Project]:
    """All projects, by name."""
    found = {}
    for path in sorted(SOURCES.glob("*/project.toml")):
        made = msgspec.toml.decode(path.read_bytes(), type=Project)
        found[path.parent.name] = replace(made, name=path.parent.name)
    return found
