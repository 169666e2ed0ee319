"""What is true of the programs of one shape each, and which files they are.

Owns the form of ``truth.json``.  Builds nothing and judges nothing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
_OWNER = re.compile(r"(\\b\w+\\b)\.\*")


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One program: ``positive`` where two threads meet on a line, ``negative`` where they only seem to.

    ``shape`` says how threads start, where the data is, how code gets there, and what tells threads which is theirs.
    ``a`` and ``b`` are patterns of what a report may call the sides of a positive one; without ``b`` they are elements
    of one array or objects of one type, and ``a`` is for all of them.  ``doubt`` is what the author was not sure of.
    """

    kind: Literal["positive", "negative"]
    shape: str
    why: str
    a: tuple[str, ...] = ()
    b: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def one(self) -> bool:
        return not self.b

    @property
    def owners(self) -> tuple[str, ...]:
        """Patterns of the types whose members the sides are, and of the variables that have them."""
        return tuple(found[1] for pattern in self.a + self.b if (found := _OWNER.match(pattern)))


def read() -> dict[str, Shape]:
    """The programs by name."""
    return msgspec.json.decode((HERE / "truth.json").read_bytes(), type=dict[str, Shape])


def sources(name: str) -> list[Path]:
    """What is compiled of a program: a file of its name, or those of its folder."""
    return sorted([*PROGRAMS.glob(f"{name}.c*"), *PROGRAMS.glob(f"{name}/*.c*")])


def flags(files: list[Path]) -> tuple[str, ...]:
    """What compilers need to be told of them."""
    standard = ("-std=c++20",) if any(path.suffix == ".cc" for path in files) else ()
    return (*standard, "-fopenmp") if any("#pragma omp" in path.read_text() for path in files) else standard
