"""Stretches: what barriers, latches and regions that are waited for put in a row never runs at one time."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, ImageKind
from sharing.static import callgraph, correlate, flow
from sharing.static.stretches import MAX_CALLS
from tests.builders.image import Body, Builder


def program(*workers: str) -> Builder:
    """``main`` that starts several threads of each worker; a barrier, and variables to tell places apart by."""
    b = Builder()
    b.variable("barrier", 32)
    for name in ("first", "second", "third"):
        b.variable(name, 8)
    main = b.function("main")
    for worker in workers:
        main.call("pthread_create", None, None, worker, loop=1)
    return b


def passes(body: Body, **where: int) -> Body:
    return body.call("pthread_barrier_wait", "barrier", **where)


def meet(b: Builder) -> Callable[[str, str], bool]:
    """May accesses to the two variables run at one time?"""
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    events = flow.lock_events(image, knowledge)
    accesses = correlate.collect_accesses(image, graph, correlate.all_sites(image, knowledge), events)

    def mask(name: str) -> int:
        rows = image.variables["name"][accesses.variable] == image.names.index(name)
        return functools.reduce(int.__or__, accesses.mask[rows].tolist(), 0)

    return lambda one, other: graph.concurrent(mask(one), mask(other))


def test_what_lies_before_a_barrier_meets_nothing_behind_it() -> None:
    b = program("worker")
    passes(b.function("worker").rmw("first", loop=1)).rmw("second", loop=1)
    met = meet(b)
    assert not met("first", "second")
    assert not met("second", "first")
    assert met("first", "first")
    assert met("second", "second")


def test_without_the_barrier_they_meet() -> None:
    b = program("worker")
    b.function("worker").rmw("first", loop=1).rmw("second", loop=1)
    assert meet(b)("first", "second")


def test_in_a_loop_with_the_barrier_they_meet_once_a_round() -> None:
    b = program("worker")
    passes(b.function("worker").rmw("first", loop=1), loop=1).rmw("second", loop=1)
    assert meet(b)("first", "second")


def rounds(body: Body, *, barrier: str | None = "barrier", **where: int) -> Body:
    """A loop in which all threads wait between the first and the second, and behind the second."""
    call = "pthread_barrier_wait", barrier
    return body.rmw("first", loop=1).call(*call, loop=1, **where).rmw("second", loop=1).call(*call, loop=1)


@pytest.mark.parametrize("barrier", ["barrier", None])
def test_two_barriers_in_a_round_part_what_is_between_them_from_the_rest(barrier: str | None) -> None:
    """Be the barrier in static storage, or in a record that the thread was given."""
    b = program("worker")
    rounds(b.function("worker"), barrier=barrier).rmw("third", loop=1)
    met = meet(b)
    assert not met("first", "second")
    assert not met("second", "third")
    assert met("first", "third")  # the third is followed by the next round's first
    assert met("first", "first")


def test_rounds_of_a_long_inner_loop_are_parted_however_rare_they_are() -> None:
    b = program("one", "other")
    passes(passes(b.function("one").rmw("first", loop=2), loop=1, rarity=53), loop=1, rarity=53)
    passes(passes(b.function("other"), loop=1, rarity=49).rmw("second", loop=2), loop=1, rarity=53)
    assert not meet(b)("first", "second")
    passes(passes(b.function("beside").rmw("third", loop=2), loop=1, rarity=53), loop=1, rarity=53)
    b.functions["main"].call("pthread_create", None, None, "beside", loop=1)
    assert meet(b)("first", "third")


def test_arms_of_a_round_pass_barriers_of_their_own() -> None:
    """A compiler makes two calls of the barrier behind ``if (leader) first++;``, one for each arm."""
    b = program("worker")
    body = passes(b.function("worker").store("first", loop=1, order=1), loop=1, rarity=4, order=1)
    passes(body, loop=1, rarity=4, order=2)
    passes(body.store("second", loop=1, order=3), loop=1, order=3)
    b.arms["worker"] = (1, 2)
    assert not meet(b)("first", "second")


def test_on_an_arm_with_more_barriers_than_another_anybody_may_be_met() -> None:
    b = program("worker")
    body = passes(b.function("worker").store("first", loop=1, order=1), loop=1, rarity=4, order=1)
    passes(passes(body, loop=1, rarity=4, order=2), loop=1, rarity=4, order=2)
    passes(body.store("second", loop=1, order=3), loop=1, order=3)
    b.arms["worker"] = (1, 2)
    assert meet(b)("first", "second")


def test_a_barrier_that_some_rounds_leave_out_parts_nothing() -> None:
    b = program("worker")
    rounds(b.function("worker"), rarity=40)
    assert meet(b)("first", "second")


def test_what_is_outside_of_the_rounds_meets_all_of_them() -> None:
    b = program("worker")
    rounds(b.function("worker")).rmw("third")
    met = meet(b)
    assert met("third", "first")
    assert met("third", "second")


def test_rounds_of_two_kinds_of_threads_at_one_barrier_are_one() -> None:
    b = program("one", "other")
    rounds(b.function("one"))
    passes(passes(b.function("other"), loop=1).rmw("third", loop=1), loop=1)
    met = meet(b)
    assert not met("first", "third")
    assert met("second", "third")


def test_rounds_at_other_barriers_are_not() -> None:
    b = program("one", "other")
    rounds(b.function("one"), barrier=None)
    passes(passes(b.function("other"), loop=1).rmw("third", loop=1), loop=1)
    met = meet(b)
    assert met("first", "third")
    assert met("second", "third")


def test_each_of_several_barriers_parts_what_is_around_it() -> None:
    b = program("worker")
    passes(passes(b.function("worker").rmw("first")).rmw("second")).rmw("third")
    met = meet(b)
    assert not any((met("first", "second"), met("second", "third"), met("first", "third")))


def test_more_calls_than_any_program_has_part_nothing() -> None:
    """Each is compared with the others: a hostile file has as many as it likes."""
    b = program("worker")
    body = b.function("worker").rmw("first")
    for _ in range(MAX_CALLS + 1):
        passes(body)
    body.rmw("second")
    assert meet(b)("first", "second")


def test_what_a_stretch_calls_is_of_it() -> None:
    b = program("worker")
    passes(b.function("worker").call("prepare")).call("work", loop=1)
    b.function("prepare").rmw("first")
    b.function("work").rmw("second")
    assert not meet(b)("first", "second")
    b.functions["worker"].call("prepare")
    assert meet(b)("first", "second")


def test_threads_of_two_kinds_that_pass_one_barrier_are_parted() -> None:
    b = program("one", "other")
    passes(b.function("one").rmw("first")).rmw("third")
    passes(b.function("other")).rmw("second")
    met = meet(b)
    assert not met("first", "second")
    assert met("third", "second")


def test_a_thread_that_does_not_pass_the_barrier_meets_both() -> None:
    b = program("worker", "other")
    passes(b.function("worker").rmw("first")).rmw("second")
    b.function("other").rmw("third")
    met = meet(b)
    assert met("third", "first")
    assert met("third", "second")


def test_a_leader_and_the_others_wait_on_two_arms() -> None:
    b = program("worker")
    worker = passes(b.function("worker").store("first", order=1), order=1)
    passes(worker, order=2).store("second", order=2).store("third", order=3)
    b.arms["worker"] = (1, 2)
    met = meet(b)
    assert not met("first", "third")
    assert not met("first", "second")  # the other arm has waited, too


def test_a_way_around_the_barrier_is_not_behind_it() -> None:
    b = program("worker")
    passes(b.function("worker").store("first", order=0), order=1).store("third", order=1).store("second", order=2)
    b.arms["worker"] = (1, 2)
    met = meet(b)
    assert met("first", "second")
    assert not met("first", "third")


@pytest.mark.parametrize("where", ["helper", "unknown"])
def test_a_barrier_that_somebody_else_passes_as_well_parts_nothing(where: str) -> None:
    b = program("worker")
    passes(b.function("worker").rmw("first")).rmw("second").call("helper")
    passes(b.function("helper")) if where == "helper" else b.function("helper")
    if where == "unknown":
        b.functions["worker"].calls = [c for c in b.functions["worker"].calls if c[1] != "pthread_barrier_wait"]
        b.functions["worker"].call("pthread_barrier_wait", None)
    assert meet(b)("first", "second")


def test_an_entry_that_is_called_as_a_function_too_is_in_any_stretch() -> None:
    b = program("worker", "other")
    passes(b.function("worker").rmw("first")).rmw("second")
    b.function("other").call("worker")
    assert meet(b)("first", "second")


def test_an_entry_that_main_runs_behind_the_starts_as_well_is_one_more_thread() -> None:
    b = program("worker")
    passes(b.function("worker").rmw("first")).rmw("second")
    b.functions["main"].call("worker")
    assert not meet(b)("first", "second")


def test_who_waits_at_a_latch_comes_after_those_who_count_down() -> None:
    b = program("worker")
    b.function("worker").rmw("first").call("_ZNSt5latch10count_downEl", "barrier").rmw("second")
    b.functions["main"].call("_ZNKSt5latch4waitEv", "barrier").rmw("third")
    met = meet(b)
    assert not met("third", "first")
    assert met("third", "second")
    assert met("first", "second")  # nobody who counts down waits


def test_two_who_wait_at_a_latch_do_not_wait_for_each_other() -> None:
    b = program("worker", "waiter")
    b.function("worker").call("_ZNSt5latch10count_downEl", "barrier")
    b.function("waiter").rmw("first").call("_ZNKSt5latch4waitEv", "barrier").rmw("second")
    assert meet(b)("first", "second")


class TestRegions:
    def region(self, start: str = "GOMP_parallel") -> Builder:
        b = Builder()
        b.variable("first", 8), b.variable("second", 8), b.variable("third", 8)
        b.function("main").rmw("first").call(start, "one").rmw("first").call(start, "other")
        b.function("one").rmw("second")
        b.function("other").rmw("third")
        return b

    def test_main_waits_for_what_it_starts(self) -> None:
        met = meet(self.region())
        assert not met("first", "second")
        assert not met("second", "third")
        assert met("second", "second")

    def test_a_start_that_does_not_wait_overlaps(self) -> None:
        met = meet(self.region("GOMP_parallel_start"))
        assert met("first", "second")
        assert met("second", "third")

    def test_a_region_that_a_thread_enters_overlaps_main(self) -> None:
        b = self.region()
        b.functions["main"].call("pthread_create", None, None, "worker")
        b.function("worker").call("GOMP_parallel", "one")
        assert meet(b)("first", "second")

    def test_a_barrier_of_the_region_parts_what_its_threads_do(self) -> None:
        b = self.region()
        b.functions["one"].call("GOMP_barrier").rmw("third")
        b.functions["other"].sites.clear()
        assert not meet(b)("second", "third")

    def test_in_a_library_several_teams_may_run_one_region(self) -> None:
        b = Builder(ImageKind.SHARED)
        b.variable("first", 8), b.variable("second", 8)
        b.function("process", FunctionFlag.EXPORTED).call("GOMP_parallel", "one")
        b.function("one").rmw("first").call("GOMP_barrier").rmw("second")
        assert meet(b)("first", "second")
