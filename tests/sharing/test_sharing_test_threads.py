"""Threads whose entry has a name that speaks of what seldom runs.

Owns what a number of such threads, and a loop in their entry that waits or does not, say against the name.
"""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.static import callgraph
from tests.builders.image import Builder


def _is_cold(name: str, *, started: int, works: int, waits: bool) -> bool:
    """Of an entry of threads that are started in so many loops and count in so many, with what may wait or without."""
    b = Builder()
    b.variable("mine", 8)
    b.function("main").call("pthread_create", None, None, name, loop=started)
    entry = b.function(name).rmw("mine", loop=works)
    if waits:
        entry.call("someone_elses", loop=works)
    image = b.image()
    graph = callgraph.build(image, default_knowledge())
    return bool(graph.cold[image.names.index(name)])


@pytest.mark.parametrize(("started", "works", "cold"), [(1, 1, False), (0, 1, True), (1, 0, True)])
def test_an_entry_that_loops_on_several_threads_is_not_cold_for_its_name(started: int, works: int, cold: bool) -> None:
    assert _is_cold("burst_cleanup", started=started, works=works, waits=True) is cold


def test_an_entry_whose_loop_waits_for_nothing_is_not_cold_for_its_name() -> None:
    assert not _is_cold("burst_cleanup", started=0, works=1, waits=False)


@pytest.mark.parametrize("name", ["burst_test", "benchmark", "run_benchmark_once"])
@pytest.mark.parametrize("started", [0, 1])
def test_words_of_tests_say_nothing_of_what_threads_are_started_for(name: str, started: int) -> None:
    assert not _is_cold(name, started=started, works=1, waits=True)


def test_words_of_the_end_beside_those_of_tests_do() -> None:
    assert _is_cold("cleanup_test", started=0, works=1, waits=True)
