"""Functions that libraries call: on which threads they run, how often, and what they are handed."""

from __future__ import annotations

import pytest

from sharing.knowledge import Knowledge, default_knowledge
from sharing.model import AccessKind, Vocabulary
from sharing.model.vocabulary import CallbackRow, CallbackThread
from sharing.static import callgraph, flow
from tests.builders.image import Builder, Param


def reached_by(b: Builder, name: str, knowledge: Knowledge | None = None) -> set[str]:
    image = b.image()
    graph = callgraph.build(image, knowledge or default_knowledge())
    return set(graph.root_names(int(graph.mask[image.names.index(name)])))


def server(loop: str = "event_base_loop") -> Builder:
    """Main listens, workers run their loops: libevent calls ``ready``."""
    b = Builder()
    b.function("main").call("pthread_create", None, None, "worker").call("setup")
    b.function("worker").call(loop)
    return b


class TestLoops:
    def test_a_callback_runs_on_the_threads_that_run_the_loop(self) -> None:
        b = server()
        b.function("setup").call("event_assign", None, None, None, None, "ready")
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready") == {"worker"}

    def test_of_several_loops_any_may_call_it(self) -> None:
        b = server()
        b.function("setup").call("event_set", None, None, None, "ready").call("event_base_dispatch")
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready") == {"main", "worker"}

    def test_the_loop_of_another_library_does_not(self) -> None:
        b = server("uv_run")
        b.function("setup").call("event_assign", None, None, None, None, "ready")
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready") == set()

    def test_an_argument_that_is_no_callback_is_not_called(self) -> None:
        b = server()
        b.function("setup").call("event_assign", None, None, None, "ready")
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready") == set()

    def test_each_of_a_buffers_callbacks_is_called(self) -> None:
        b = server()
        b.function("setup").call("bufferevent_setcb", None, "on_read", "on_write", "on_event")
        for name in ("on_read", "on_write", "on_event"):
            b.function(name).rmw("hits")
        b.variable("hits", 8)
        assert [reached_by(b, name) for name in ("on_read", "on_write", "on_event")] == [{"worker"}] * 3

    def test_wrappers_pass_the_callback_on(self) -> None:
        b = server()
        b.function("setup").call("watch", None, "ready")
        b.function("watch").call("event_assign", None, None, None, None, Param(1))
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready") == {"worker"}

    def test_a_loop_calls_again_and_again_but_a_timer_seldom(self) -> None:
        def often(callback: str, descriptor: int = 5) -> float:
            b = server()
            b.function("setup").call("event_assign", None, None, descriptor, None, callback)
            b.function("ready").rmw("hits")
            b.function("other").rmw("hits")
            b.variable("hits", 8)
            image = b.image()
            graph = callgraph.build(image, default_knowledge())
            return float(graph.frequency[image.names.index("ready")])

        assert often("ready") > often("ready", -1) > often("other")

    def test_a_project_names_its_own_loop(self) -> None:
        own = Knowledge(Vocabulary(callback=(CallbackRow("my_on_read", 1, loop=("my_loop_run",)),)))
        b = server("my_loop_run")
        b.function("setup").call("my_on_read", None, "ready")
        b.function("ready").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "ready", own) == {"worker"}
        assert reached_by(b, "ready") == set()


class TestOtherThreads:
    def test_what_is_called_once_runs_on_the_calling_thread_and_hardly_ever(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker")
        b.function("worker").call("pthread_once", "flag", "prepare", loop=1).call("serve", loop=1)
        b.function("prepare").rmw("hits")
        b.function("serve").rmw("hits")
        b.variable("hits", 8)
        b.variable("flag", 4)
        image = b.image()
        graph = callgraph.build(image, default_knowledge())
        prepare, serve = image.names.index("prepare"), image.names.index("serve")
        assert graph.root_names(int(graph.mask[prepare])) == ("worker",)
        assert graph.frequency[prepare] < graph.frequency[serve] / 100

    def test_a_signal_handler_is_no_thread(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker").call("signal", None, "stop")
        b.function("worker").rmw("hits")
        b.function("stop").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "stop") == set()

    def test_a_caller_calls_at_once(self) -> None:
        row = CallbackRow("each", 1, thread=CallbackThread.CALLER)
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker")
        b.function("worker").call("each", None, "visit")
        b.function("visit").rmw("hits")
        b.variable("hits", 8)
        assert reached_by(b, "visit", Knowledge(Vocabulary(callback=(row,)))) == {"worker"}


@pytest.mark.parametrize(("parameter", "found"), [(2, True), (0, False)])
def test_a_callback_changes_what_it_is_handed(parameter: int, found: bool) -> None:
    """libevent hands the data as the third argument: (descriptor, events, data)."""
    b = server()
    b.function("setup").call("event_assign", None, None, None, None, "ready", "state")
    b.function("ready").through(parameter, 8, AccessKind.STORE)
    state = b.variable("state", 64)
    sites = flow.through_starts(b.image(), default_knowledge())
    assert [int(t) for t in sites["target"]] == ([state + 8] if found else [])
