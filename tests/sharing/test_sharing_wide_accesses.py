"""One instruction to several members of a record: compilers join what code does to neighbours."""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, SiteFlag
from sharing.static import callgraph, correlate, flow
from tests.builders.image import Builder, threads


def reached(offset: int, size: int, *, kind: AccessKind = AccessKind.STORE, flags: int = 0) -> list[tuple[int, int]]:
    """(offset, bytes) of what an access to a record with two numbers, a hole and two words is to."""
    b = Builder()
    threads(b, "worker")
    number, word = b.base("unsigned int", 4), b.base("unsigned long", 8)
    record = b.struct("record", 40, ("a", 0, number), ("b", 4, number), ("c", 16, word), ("d", 24, word))
    b.variable("one", 40, type=record)
    b.function("worker").access(kind, f"one+{offset}", size, loop=1, flags=flags)
    image, knowledge = b.image(), default_knowledge()
    graph, locks = callgraph.build(image, knowledge), flow.lock_calls(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), locks.events)
    begin = int(image.variables["address"][image.variable_at(int(accesses.sites["target"][0]))])
    return [(target - begin, size) for target, size in accesses.sites[["target", "size"]].tolist()]


@pytest.mark.parametrize(
    ("offset", "size", "parts"),
    [
        (16, 16, [(16, 8), (24, 8)]),  # two counters as a vector
        (0, 8, [(0, 4), (4, 4)]),  # two numbers as one
        (4, 16, [(4, 4), (16, 4)]),  # padding is nobody's
        (16, 8, [(16, 8)]),
        (18, 4, [(18, 4)]),
    ],
)
def test_an_access_is_to_each_member_that_it_has_bytes_of(offset: int, size: int, parts: list[tuple[int, int]]) -> None:
    assert reached(offset, size) == parts
    assert reached(offset, size, kind=AccessKind.LOAD) == parts


def test_what_is_atomic_is_one_thing() -> None:
    assert reached(16, 16, kind=AccessKind.RMW, flags=SiteFlag.ATOMIC) == [(16, 16)]


def test_a_copy_of_more_than_a_line_is_to_its_beginning() -> None:
    assert reached(0, 4096) == [(0, 4096)]


def test_members_that_overlap_are_not_told_apart() -> None:
    b = Builder()
    threads(b, "worker")
    word, half = b.base("unsigned long", 8), b.base("unsigned int", 4)
    b.variable("one", 16, type=b.struct("record", 16, ("low", 0, half), ("both", 2, word), ("high", 12, half)))
    b.function("worker").store("one", 16, loop=1)
    image, knowledge = b.image(), default_knowledge()
    graph, locks = callgraph.build(image, knowledge), flow.lock_calls(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), locks.events)
    assert accesses.sites["size"].tolist() == [16]
