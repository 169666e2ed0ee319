"""What a thread does once in a round in which it waits for another thread: sure, and no oftener than they hand over."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.knowledge import default_knowledge
from sharing.model.profile import FrequentUse
from sharing.static import callgraph, correlate, flow
from sharing.static.threaduses import InRounds, Uses
from tests.builders.image import Builder, threads


def often(b: Builder, variable: str) -> FrequentUse:
    """Who uses a variable how often; bit 1 is that of the worker."""
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    sites, locks = correlate.all_sites(image, knowledge), flow.lock_events(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, sites, locks)
    assert graph.by_thread is not None
    assert accesses.once is not None
    waiting = graph.by_thread.waiting.among(image, accesses.sites) if graph.by_thread.waiting is not None else None
    uses = Uses(graph.by_thread, accesses.sites, accesses.once, accesses.mask, InRounds(waiting=waiting))
    rows = accesses.variable == [image.names[v["name"]] for v in image.variables].index(variable)
    return uses.often(np.flatnonzero(rows).tolist())


def program() -> Builder:
    b = Builder()
    threads(b, "worker")
    for name in ("word", "other"):
        b.variable(name, 8)
    return b


WAITS = ("pthread_cond_wait", "cnd_timedwait", "sem_wait", "pthread_barrier_wait", "pthread_join", "uv_sem_wait")
NONE = ("pthread_cond_signal", "sem_post", "sem_trywait", "pthread_mutex_lock", "write")


@pytest.mark.parametrize(("called", "paced"), [*((name, True) for name in WAITS), *((name, False) for name in NONE)])
def test_what_the_round_does_that_waits_is_paced(called: str, *, paced: bool) -> None:
    b = program()
    b.function("worker").call(called, loop=2).rmw("word", loop=1)
    found = often(b, "word")
    assert found.sure_writes
    assert bool(found.paced_writes & found.paced_uses) is paced


def test_a_loop_within_the_round_runs_as_long_as_it_likes() -> None:
    b = program()
    b.function("worker").call("pthread_cond_wait", loop=2).rmw("word", loop=2).rmw("other", loop=1)
    assert often(b, "other").paced_writes
    found = often(b, "word")
    assert found.sure_writes
    assert not found.paced_writes


def test_a_wait_before_the_loop_or_on_a_seldom_way_is_of_no_round() -> None:
    b = program()
    b.function("worker").call("pthread_barrier_wait").call("pthread_cond_wait", loop=1, rarity=20).rmw("word", loop=1)
    found = often(b, "word")
    assert found.sure_writes
    assert not found.paced_writes


def test_who_calls_a_function_that_waits_waits() -> None:
    b = program()
    b.function("worker").call("pop", loop=1).rmw("word", loop=1)
    b.function("pop").call("pthread_cond_wait", loop=1).rmw("other")
    assert often(b, "word").paced_writes
    assert often(b, "other").paced_writes


def test_what_is_called_once_in_such_a_round_is_paced_and_its_loops_are_not() -> None:
    b = program()
    b.function("worker").call("pthread_cond_wait", loop=2).call("note", loop=1)
    b.function("note").rmw("word").rmw("other", loop=1)
    assert often(b, "word").paced_writes
    found = often(b, "other")
    assert found.sure_writes
    assert not found.paced_writes


def test_what_another_loop_calls_as_well_is_not() -> None:
    b = program()
    threads(b, "busy")
    b.function("worker").call("pthread_cond_wait", loop=2).call("note", loop=1)
    b.function("busy").call("note", loop=1)
    b.function("note").rmw("word")
    found = often(b, "word")
    assert found.sure_writes
    assert not found.paced_writes


def test_what_is_done_as_often_in_another_place_is_not() -> None:
    b = program()
    b.function("worker").call("pthread_cond_wait", loop=2).rmw("word", loop=1).rmw("word", loop=2)
    assert not often(b, "word").paced_writes
