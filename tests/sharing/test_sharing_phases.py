"""Phases: what runs before the first thread starts or after the last was joined meets no other thread."""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag
from sharing.static import callees, callgraph, correlate, flow
from tests.builders.image import Builder


def weights(b: Builder, variable: str) -> dict[str, float]:
    """Weight of the accesses to a variable by function; 0 for sequential ones."""
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    events = flow.lock_events(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), events)
    wanted = image.variables["name"][accesses.variable] == image.names.index(variable)
    out: dict[str, float] = {}
    for row, weight, mask in zip(
        accesses.sites["function"][wanted].tolist(),
        accesses.weight[wanted].tolist(),
        accesses.mask[wanted].tolist(),
        strict=True,
    ):
        name = callees.function_name(image, row)
        out[name] = out.get(name, 0.0) + (weight if mask else 0.0)
    return out


def program() -> Builder:
    b = Builder()
    b.variable("counter", 8)
    return b


def test_what_main_does_before_the_first_thread_is_sequential() -> None:
    b = program()
    b.function("main").store("counter", loop=1).call("pthread_create", None, None, "worker").load("counter", loop=1)
    b.function("worker").rmw("counter", loop=1)
    (store, load) = b.functions["main"].sites
    found = weights(b, "counter")
    assert found["worker"] > 0
    b.functions["main"].sites = [load]
    assert weights(b, "counter")["main"] > 0
    b.functions["main"].sites = [store]
    assert weights(b, "counter")["main"] == 0


def test_what_main_does_after_the_last_join_is_sequential() -> None:
    b = program()
    main = b.function("main").call("pthread_create", None, None, "worker").call("pthread_join").load("counter", loop=1)
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter")["main"] == 0
    main.call("pthread_join")
    assert weights(b, "counter")["main"] > 0  # between two joins a thread may still run


def test_a_thread_that_is_started_after_the_last_join_ends_the_phase() -> None:
    b = program()
    main = b.function("main").call("pthread_create", None, None, "once").call("pthread_join")
    main.call("pthread_create", None, None, "worker").load("counter", loop=1)
    b.function("once")
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter")["main"] > 0
    main.call("pthread_join")
    assert weights(b, "counter")["main"] > 0
    main.sites.clear()
    main.load("counter", loop=1)
    assert weights(b, "counter")["main"] == 0


def test_a_join_before_the_creation_ends_nothing() -> None:
    b = program()
    b.function("main").call("pthread_join").call("pthread_create", None, None, "worker").load("counter", loop=1)
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter")["main"] > 0


def test_the_order_of_blocks_counts_before_that_of_addresses() -> None:
    """A compiler may put the block that runs last first."""
    b = program()
    b.function("main").load("counter", loop=1, order=2).call("pthread_create", None, None, "worker", order=1)
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter")["main"] > 0


def test_a_helper_of_start_up_alone_is_sequential() -> None:
    b = program()
    b.function("main").call("fill").call("pthread_create", None, None, "worker")
    b.function("fill").store("counter", loop=1)
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter") == {"fill": 0, "worker": pytest.approx(10.0)}


def test_what_a_helper_of_start_up_calls_is_sequential_too() -> None:
    b = program()
    b.function("main").call("fill").call("pthread_create", None, None, "worker")
    b.function("fill").call("row", loop=1)
    b.function("row").store("counter")
    b.function("worker").rmw("counter", loop=1)
    assert weights(b, "counter")["row"] == 0


def test_a_helper_of_both_sides_runs_on_the_thread_only() -> None:
    """Its call from start-up adds neither a root nor weight."""
    b = program()
    b.function("main").call("bump", loop=3).call("pthread_create", None, None, "worker").call("pthread_join")
    b.function("worker").call("bump")
    b.function("bump").rmw("counter")
    image = b.image()
    graph = callgraph.build(image, default_knowledge())
    assert graph.root_names(int(graph.mask[image.names.index("bump")])) == ("worker",)
    assert weights(b, "counter")["bump"] > 0


def test_a_helper_called_while_threads_run_is_mains_as_well() -> None:
    b = program()
    b.function("main").call("pthread_create", None, None, "worker").call("bump").call("pthread_join")
    b.function("worker").call("bump")
    b.function("bump").rmw("counter")
    image = b.image()
    graph = callgraph.build(image, default_knowledge())
    assert set(graph.root_names(int(graph.mask[image.names.index("bump")]))) == {"main", "worker"}


def test_a_function_whose_address_is_taken_may_run_at_any_time() -> None:
    b = program()
    b.function("main").call("fill").call("pthread_create", None, None, "worker")
    b.function("fill", FunctionFlag.ADDRESS_TAKEN).store("counter", loop=1)
    b.function("worker").rmw("counter", loop=1).call(None)
    assert weights(b, "counter")["fill"] > 0


def test_constructors_and_what_they_alone_call_are_sequential() -> None:
    b = program()
    b.function("main").call("pthread_create", None, None, "worker")
    b.function("_GLOBAL__sub_I_table", FunctionFlag.INIT | FunctionFlag.EXPORTED).call("fill").store("counter")
    b.function("fill").store("counter", loop=2)
    b.function("worker").rmw("counter", loop=1)
    found = weights(b, "counter")
    assert (found["_GLOBAL__sub_I_table"], found["fill"]) == (0, 0)
    assert found["worker"] > 0


def test_the_thread_may_be_started_deep_below_main() -> None:
    b = program()
    b.function("main").store("counter").call("serve").load("counter")
    b.function("serve").store("counter").call("spawn").load("counter")
    b.function("spawn").call("pthread_create", None, None, "worker")
    b.function("worker").rmw("counter", loop=1)
    for name in ("main", "serve"):
        before, after = b.functions[name].sites
        b.functions[name].sites = [before]
        assert weights(b, "counter")[name] == 0
        b.functions[name].sites = [after]
        assert weights(b, "counter")[name] > 0
        b.functions[name].sites = [before, after]
