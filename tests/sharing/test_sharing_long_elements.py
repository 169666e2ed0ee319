"""Members of elements that are longer than a line: on how many lines of an array an index may lead to one."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind
from sharing.static import callgraph, correlate, flow, numbers
from tests.builders.image import Builder, threads


def weight(size: int, stride: int, kind: AccessKind, loop: int) -> float:
    """Of an access to a word at an unknown index of an array of ``size`` bytes."""
    b = Builder()
    threads(b, "worker")
    b.function("worker").access(kind, "array+8", 8, loop=loop, stride=stride)
    b.variable("array", size)
    image, knowledge = b.image(), default_knowledge()
    graph, locks = callgraph.build(image, knowledge), flow.lock_calls(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), locks.events)
    (found,) = accesses.weight[np.flatnonzero(accesses.sites["stride"] == stride)].tolist()
    return float(found)


@pytest.mark.parametrize("kind", [AccessKind.STORE, AccessKind.LOAD])
@pytest.mark.parametrize(
    ("size", "stride", "lines"),
    [
        (2 * 65600, 65535, 1),  # two elements, further apart than is told
        (2 * 20480, 20480, 1),
        (1024 * 128, 128, 1024),  # many elements, of which each has the word on one line of two
        (4096 * 8, 8, 512),  # small ones, which may be on any line
        (4032 * 65, 65, 4032),  # a little longer than a line
    ],
)
def test_a_member_of_long_elements_is_on_one_line_of_each(kind: AccessKind, size: int, stride: int, lines: int) -> None:
    assert weight(size, stride, kind, 1) == pytest.approx(10.0 * numbers.INDEXED_WEIGHT / lines)
