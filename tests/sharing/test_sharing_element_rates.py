"""How often a thread is taken to use elements at an index: its own each time, a small table's line as often as not."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, SiteFlag
from sharing.static import callgraph, correlate, flow, numbers
from tests.builders.image import Builder, threads

_STRIDE = 24


def _share(size: int, flags: SiteFlag) -> tuple[float, float]:
    """(of the rate of its thread, of what ranks in the program) of a change of an element of ``size`` bytes in all."""
    b = Builder()
    threads(b, "worker")
    b.function("worker").access(AccessKind.RMW, "array", 8, loop=1, stride=_STRIDE, flags=flags).rmw("single", loop=1)
    b.variable("array", size)
    b.variable("single", 8)
    image, knowledge = b.image(), default_knowledge()
    graph, locks = callgraph.build(image, knowledge), flow.lock_calls(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), locks.events)
    assert accesses.once is not None
    element = np.flatnonzero(accesses.sites["stride"] == _STRIDE)[0]
    other = np.flatnonzero(accesses.sites["stride"] == 0)[0]
    return (
        float(accesses.once[element] / accesses.once[other]),
        float(accesses.weight[element] / accesses.weight[other]),
    )


@pytest.mark.parametrize("size", [2 * _STRIDE, 100 * _STRIDE])
def test_a_threads_own_element_is_the_same_each_time(size: int) -> None:
    assert _share(size, SiteFlag.OWN) == pytest.approx((1.0, numbers.INDEXED_WEIGHT))


@pytest.mark.parametrize(
    ("size", "share"),
    [
        (2 * _STRIDE, 1.0),  # on one line
        (5 * _STRIDE, 64 / (5 * _STRIDE)),  # on about two
        (100 * _STRIDE, numbers.INDEXED_WEIGHT),  # on many
    ],
)
def test_of_a_small_table_each_line_has_its_part(size: int, share: float) -> None:
    assert _share(size, SiteFlag.ATOMIC) == pytest.approx((share, numbers.INDEXED_WEIGHT))
