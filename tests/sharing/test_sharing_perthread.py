"""How often a thread uses what: its entry's loops are its life, far calls and calls through pointers count little."""

from __future__ import annotations

import pytest

from sharing.basics.costs import busy_rate
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag
from sharing.model.profile import Often
from sharing.static import callgraph, correlate, flow
from sharing.static.perthread import sure_rate
from tests.sharing.builder import Builder, threads


def estimate(b: Builder, variable: str, root: str = "worker") -> float:
    """Uses of a variable per million instructions of a thread."""
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    accesses = correlate.gather(image, graph, correlate.all_sites(image, knowledge), flow.lock_events(image, knowledge))
    assert graph.by_thread is not None
    assert accesses.once is not None
    names = [image.names[v["name"]] for v in image.variables]
    rows = accesses.variable == names.index(variable)
    uses = graph.by_thread.uses(accesses.sites[rows], accesses.once[rows]).sum(axis=1)
    return float(uses[[r.name for r in graph.roots].index(root)])


def program() -> Builder:
    b = Builder()
    threads(b, "worker")
    for name in ("seldom", "word", "other"):
        b.variable(name, 8)
    return b


def test_what_a_thread_does_before_its_loop_it_does_once() -> None:
    b = program()
    b.function("worker").store("seldom").rmw("word", loop=1)
    assert estimate(b, "seldom") == 0.0
    assert estimate(b, "word") >= sure_rate()


def test_what_is_called_before_the_loop_runs_once_and_what_is_called_in_it_does_not() -> None:
    b = program()
    b.function("worker").call("prepare").call("work", loop=1)
    b.function("prepare").store("seldom")
    b.function("work").rmw("word")
    assert estimate(b, "seldom") == 0.0
    assert estimate(b, "word") >= sure_rate()


def test_what_is_called_at_both_places_is_not_once() -> None:
    b = program()
    b.function("worker").call("work").call("work", loop=1)
    b.function("work").rmw("word")
    assert estimate(b, "word") >= sure_rate()


def test_the_loop_of_a_function_that_runs_once_is_the_threads_life() -> None:
    b = program()
    b.function("worker").call("serve")
    b.function("serve").store("seldom").rmw("word", loop=1)
    assert estimate(b, "seldom") == 0.0
    assert estimate(b, "word") >= sure_rate()


def test_a_thread_without_a_loop_does_everything_once() -> None:
    b = program()
    b.function("worker").rmw("word")
    assert estimate(b, "word") == 0.0


def test_a_longer_chain_of_calls_is_taken_less_often() -> None:
    b = program()
    b.function("worker").call("near", loop=1)
    b.function("near").rmw("word").call("middle")
    b.function("middle").call("far")
    b.function("far").rmw("other")
    assert 0 < estimate(b, "other") < estimate(b, "word") / 3


def test_an_unlikely_path_counts_by_its_chance() -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).store("other", loop=1, rarity=16)
    assert estimate(b, "other") == pytest.approx(estimate(b, "word") / 16)


def test_of_many_functions_whose_address_is_stored_none_is_busy_for_a_call_through_a_pointer() -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call(None, loop=1)
    for number in range(40):
        handler = b.function(f"handler{number}", flags=FunctionFlag.ADDRESS_TAKEN)
        if not number:
            handler.rmw("other")
    assert estimate(b, "word") >= sure_rate()
    assert 0 < estimate(b, "other") < busy_rate()


def test_work_that_touches_nothing_makes_the_rest_rare() -> None:
    """A thread that computes for long between two uses of a word uses it seldom."""
    quick, slow = program(), program()
    for b in (quick, slow):
        b.function("worker").rmw("word", loop=1).call("compute", loop=1)
    quick.function("compute")
    inner = slow.function("compute")
    for _ in range(60):
        inner.load("other", loop=3)
    assert estimate(slow, "word") < estimate(quick, "word") / 10


def test_masks_tell_who_writes_and_who_uses() -> None:
    b = program()
    b.function("worker").load("word", loop=1).rmw("other", loop=1)
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    accesses = correlate.gather(image, graph, correlate.all_sites(image, knowledge), flow.lock_events(image, knowledge))
    assert graph.by_thread is not None
    assert accesses.once is not None
    bit = 1 << [r.name for r in graph.roots].index("worker")
    names = [image.names[v["name"]] for v in image.variables]
    read = accesses.variable == names.index("word")
    written = accesses.variable == names.index("other")
    assert graph.by_thread.often(accesses.sites[read], accesses.once[read]) == Often(0, bit, 0, bit)
    assert graph.by_thread.often(accesses.sites[written], accesses.once[written]) == Often(bit, bit, bit, bit)
