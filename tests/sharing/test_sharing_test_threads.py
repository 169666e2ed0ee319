"""Threads whose entry has a name that speaks of what seldom runs, as those of tests have.

Owns what a number of such threads, and a loop in their entry, say against the name.
"""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.static import callgraph
from tests.builders.image import Builder


@pytest.mark.parametrize(("started", "works", "cold"), [(1, 1, False), (0, 1, True), (1, 0, True)])
def test_an_entry_that_loops_on_several_threads_is_not_cold_for_its_name(started: int, works: int, cold: bool) -> None:
    b = Builder()
    b.variable("mine", 8)
    b.function("main").call("pthread_create", None, None, "burst_test", loop=started)
    b.function("burst_test").rmw("mine", loop=works)
    image = b.image()
    graph = callgraph.build(image, default_knowledge())
    assert bool(graph.cold[image.names.index("burst_test")]) is cold
