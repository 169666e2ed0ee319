"""What is true of the planted programs: which pairs shared a line under their load, by counting.

Owns the form of ``truth.json``.  Counts nothing and judges nothing.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


class Side(msgspec.Struct, frozen=True):
    """One side of a pair.

    ``names`` are patterns of what a report may call it, ``bytes`` (symbol, first byte, bytes) where it is in static
    storage, ``lines`` FILE:PATTERN of the source that uses it, ``per_million`` how often they ran per million
    instructions of the thread that did so most.
    """

    names: tuple[str, ...]
    lines: tuple[str, ...]
    per_million: int
    bytes: tuple[tuple[str, int, int], ...] = ()


class Pair(msgspec.Struct, frozen=True):
    """Two things that threads used on one line; ``one``: elements of one array, which a finding may name alone.

    ``not_in`` are kinds of builds in which the trace did not find them on one line, or too seldom.
    """

    name: str
    kind: str
    one: bool
    a: Side
    b: Side
    not_in: tuple[str, ...] = ()


class Program(msgspec.Struct, frozen=True):
    """``part`` says which author's it is, ``plausible`` are patterns of two sides that a reader may accept.

    These were not counted as true.  ``flags`` are given to the compiler besides the standard.
    """

    what: str
    part: str
    standard: str
    rounds: int
    pairs: tuple[Pair, ...]
    plausible: tuple[tuple[str, str], ...]
    harmless: tuple[str, ...]
    flags: tuple[str, ...] = ()


def read() -> dict[str, Program]:
    """The programs by name."""
    return msgspec.json.decode((HERE / "truth.json").read_bytes(), type=dict[str, Program])


def sources(name: str) -> list[Path]:
    """What is compiled of a program."""
    return sorted(path for path in (PROGRAMS / name).iterdir() if path.suffix in (".c", ".cc", ".cpp"))
