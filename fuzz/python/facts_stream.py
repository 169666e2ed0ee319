"""Streams of facts (``analyzer.stream``), the program that they are merged to, and its images (``sharing.source``).

Owns the streams that the target starts with.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from fuzz.python.engine.target import Target, input_file
from linemate.options import CheckOptions
from linemate.source import images, read_streams
from sharing.knowledge import default_knowledge
from sharing.model.facts import FACTS_SCHEMA, FactsEnd, FactsFailure, FactsHeader, FactsNote
from tests.builders.units import LONG, MUTEX, UnitMaker, access, call, lock


def _unit() -> UnitMaker:
    unit = UnitMaker("/src/a.c")
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG, static=True)
    record = unit.record("s", ("a", 0, LONG), ("b", 8, LONG), size=16)
    unit.variable("table", record)
    unit.function("work", lock("lock"), access("rmw", "head@/src/a.c", size=8, loop=1), lock("lock", "unlock"))
    unit.function("main", call("pthread_create", (3, 0), (3, 0), (4, "work"), loop=1))
    return unit


def _seeds() -> Iterable[bytes]:
    unit = _unit().build()
    head, end = FactsHeader(FACTS_SCHEMA, "linemate-facts", "19"), FactsEnd(1, 0, 0)
    rest = (FactsFailure("b.c", "no such file"), FactsNote("a note"))
    yield b"".join(msgspec.json.encode(line) + b"\n" for line in (head, unit, *rest, end))
    yield b"".join(msgspec.json.encode(line) + b"\n" for line in (head, FactsEnd(0, 0, 0)))


def one(data: bytes) -> None:
    program = read_streams((input_file(data),))
    for _ in images(program, CheckOptions(), default_knowledge()):
        pass


TARGET = Target(
    "streams of facts", one, _seeds, (b'"kind":"unit"', b'"kind":"end"', b'"symbols":[', b"\\ud800"), max_bytes=8192
)
