"""How often a thread uses what: its entry's loops are its life, far calls and calls through pointers count little."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.basics.costs import busy_rate
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, ImageKind
from sharing.model.image import Image, SlotKind
from sharing.model.profile import FrequentUse
from sharing.static import callgraph, correlate, flow
from sharing.static.perthread import sure_rate
from sharing.static.threaduses import InRounds, Uses
from tests.builders.image import Builder, Param, threads


def collected(b: Builder) -> tuple[Image, callgraph.CallGraph, correlate.Accesses]:
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    sites, locks = correlate.all_sites(image, knowledge), flow.lock_events(image, knowledge)
    return image, graph, correlate.collect_accesses(image, graph, sites, locks)


def estimate(b: Builder, variable: str, root: str = "worker") -> float:
    """Uses of a variable per million instructions of a thread."""
    image, graph, accesses = collected(b)
    assert graph.by_thread is not None
    assert accesses.once is not None
    rows = accesses.variable == [image.names[v["name"]] for v in image.variables].index(variable)
    of_rows = Uses(graph.by_thread, accesses.sites[rows], accesses.once[rows], accesses.mask[rows])
    uses = of_rows.each(np.arange(np.count_nonzero(rows))).sum(axis=1)
    return float(uses[[r.name for r in graph.roots].index(root)])


def often(b: Builder, variable: str) -> FrequentUse:
    """Who uses a variable how often, as the rules are told; bit 0 is main's."""
    image, graph, accesses = collected(b)
    assert graph.by_thread is not None
    assert accesses.once is not None
    rows = accesses.variable == [image.names[v["name"]] for v in image.variables].index(variable)
    uses = Uses(graph.by_thread, accesses.sites, accesses.once, accesses.mask)
    return uses.often(np.flatnonzero(rows).tolist())


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


@pytest.mark.parametrize(("in_round", "sure"), [(12, False), (8, True), (0, True)])
def test_what_each_round_does_is_sure_however_seldom_the_loop_is_come_to(in_round: int, *, sure: bool) -> None:
    b = program()
    b.function("worker").store("word", loop=1, rarity=12)
    _, graph, accesses = collected(b)
    assert graph.by_thread is not None
    assert accesses.once is not None
    rarity = np.full(len(accesses.sites), in_round, np.uint8)
    uses = Uses(graph.by_thread, accesses.sites, accesses.once, accesses.mask, InRounds(rarity))
    assert bool(uses.often([0]).sure_writes) is sure


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


def test_what_the_loop_leads_to_is_not_once_for_being_called_at_the_end_as_well() -> None:
    """The slow path of a lock, and its spinning, would otherwise be the life of each thread that takes the lock."""
    b = program()
    b.function("worker").rmw("word", loop=1).call("send", loop=1).call("lock")
    b.function("send").call("lock")
    b.function("lock").call("wait")
    b.function("wait").rmw("other", loop=3)
    assert estimate(b, "other") < 9 * estimate(b, "word")
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


def test_of_few_functions_whose_address_is_stored_a_call_through_a_pointer_runs_one() -> None:
    """A pool's tasks: the thread's own loop takes one after another and calls it."""
    b = program()
    b.function("worker").call(None, loop=1)
    b.function("send", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other")
    b.function("receive", flags=FunctionFlag.ADDRESS_TAKEN)
    assert estimate(b, "other") >= busy_rate()
    assert not often(b, "other").sure_writes


def test_of_many_functions_those_that_are_handed_to_a_pool_are_what_its_loop_calls() -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call(None, loop=1)
    b.function("accept").call("add_task", "receive")
    b.function("add_task")
    b.function("receive", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other")
    for number in range(40):
        b.function(f"handler{number}", flags=FunctionFlag.ADDRESS_TAKEN).rmw("seldom")
    assert estimate(b, "other") >= busy_rate() > estimate(b, "seldom") > 0


def test_a_call_through_a_pointer_before_the_loop_is_made_once() -> None:
    b = program()
    b.function("worker").call(None).rmw("word", loop=1)
    b.function("prepare", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other")
    assert estimate(b, "other") < busy_rate()


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
    bit = 1 << [r.name for r in collected(b)[1].roots].index("worker")
    assert often(b, "word") == FrequentUse(0, bit, 0, bit, 0, bit, 0, bit)
    assert often(b, "other") == FrequentUse(bit, bit, bit, bit, bit, bit, bit, bit)


def test_only_what_the_threads_own_loop_does_each_time_is_sure() -> None:
    b = program()
    b.variable("far", 8)
    b.function("worker").rmw("word", loop=1).store("seldom", loop=1, rarity=16).call("work", loop=1)
    b.variable("inlined", 8)
    b.function("work").rmw("other").call("helper").call("small").call("small", rarity=16)
    b.function("helper").rmw("far").statements = 100
    b.function("small").rmw("inlined")  # a compiler that optimises makes it a part of its caller
    assert often(b, "word").sure_writes
    assert often(b, "other").sure_writes
    assert not often(b, "seldom").sure_writes
    assert often(b, "inlined").sure_writes
    assert often(b, "far").writes
    assert not often(b, "far").sure_writes


@pytest.mark.parametrize(
    ("name", "loop", "rarity", "maybe", "writes", "sure"),
    [
        pytest.param("sleep", 1, 0, False, False, False, id="sleeps for seconds each time: nothing is often"),
        pytest.param("sigwait", 1, 0, False, False, False, id="waits for a signal each time: those come seldom"),
        pytest.param("usleep", 1, 0, True, False, False, id="sleeps for some time: a sleep is longer than much work"),
        pytest.param("nanosleep", 2, 0, True, False, False, id="sleeps again when a signal ends the sleep"),
        pytest.param("_ZNSt11this_thread9sleep_forIlSt5ratioILl1ELl1EEEEvv", 1, 0, True, False, False, id="C++"),
        pytest.param("usleep", 2, 0, True, True, False, id="sleeps until there is work: nothing is sure"),
        pytest.param("usleep", 1, 4, True, True, False, id="sleeps where there is nothing to do"),
        pytest.param("usleep", 1, 16, True, True, True, id="sleeps on a path that is rarely taken"),
        pytest.param("sched_yield", 1, 0, True, True, True, id="does not sleep"),
    ],
)
def test_a_thread_that_sleeps(name: str, loop: int, rarity: int, maybe: bool, writes: bool, sure: bool) -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call(name, loop=loop, rarity=rarity)
    found = often(b, "word")
    assert (bool(found.maybe_writes), bool(found.writes), bool(found.sure_writes)) == (maybe, writes, sure)


@pytest.mark.parametrize(("name", "far"), [("usleep", False), ("sched_yield", True)])
def test_what_a_thread_does_between_its_sleeps_is_never_far_too_often(name: str, far: bool) -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call(name, loop=2)
    found = often(b, "word")
    assert found.writes
    assert (bool(found.far_writes), bool(found.far_uses)) == (far, far)


@pytest.mark.parametrize(
    ("name", "loop", "rarity", "often_still"),
    [
        pytest.param("usleep", 0, 0, False, id="each time it runs"),
        pytest.param("nanosleep", 1, 0, False, id="each time, and again when a signal ends the sleep"),
        pytest.param("usleep", 1, 0, True, id="until there is work"),
        pytest.param("usleep", 0, 16, True, id="on a path that is rarely taken"),
        pytest.param("sched_yield", 0, 0, True, id="never"),
    ],
)
def test_who_calls_a_function_that_sleeps_sleeps(name: str, loop: int, rarity: int, often_still: bool) -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call("rest", loop=1)
    b.function("rest").call(name, loop=loop, rarity=rarity)
    assert bool(often(b, "word").writes) is often_still


def test_a_library_that_compresses_a_block_is_most_of_the_work() -> None:
    quick, slow = program(), program()
    quick.function("worker").rmw("word", loop=1).call("time", loop=1)
    slow.function("worker").rmw("word", loop=1).call("BZ2_bzBuffToBuffCompress", loop=1)
    assert estimate(quick, "word") >= sure_rate()
    assert estimate(slow, "word") < busy_rate()


def library(exported: int) -> Builder:
    """A library of so many functions that others call: the first one counts, the rest computes."""
    b = Builder(kind=ImageKind.SHARED)
    b.variable("word", 8)
    b.variable("own", 8)
    b.function("count", flags=FunctionFlag.EXPORTED).rmw("word")
    for number in range(exported - 1):
        body = b.function(f"compute{number}", flags=FunctionFlag.EXPORTED)
        for _ in range(100):
            body.load("own", loop=2)
    return b


def test_a_library_is_taken_to_be_called_alike_at_all_its_functions_and_never_surely() -> None:
    small, large = often(library(1), "word"), often(library(200), "word")
    assert small.writes
    assert not large.writes
    assert not small.sure_writes


def test_callers_of_a_library_do_far_too_often_what_they_would_do_at_a_tenth_as_well() -> None:
    counted = [often(library(functions), "word") for functions in range(1, 9)]
    far = [bool(use.far_writes) for use in counted]
    assert far == sorted(far, reverse=True)
    assert far[0]
    assert any(use.writes and not use.far_writes for use in counted)


def test_of_many_functions_a_loop_calls_those_that_are_kept_where_it_has_its_pointer_from() -> None:
    """A pool and an event loop: each loop calls what is handed over to it, and not what is handed to the other."""
    b = program()
    b.function("worker").rmw("word", loop=1).call(None, loop=1, slot=(SlotKind.RECORD, 8))
    start = b.function("start").call("add_task", "receive")
    b.function("add_task").keep(Param(0), SlotKind.RECORD, 8)
    b.function("watch").keep(Param(0), SlotKind.RECORD, 24)
    b.function("receive", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other")
    for number in range(40):
        start.call("watch", f"handler{number}")
        b.function(f"handler{number}", flags=FunctionFlag.ADDRESS_TAKEN).rmw("seldom")
    assert estimate(b, "other") >= busy_rate() > estimate(b, "seldom") > 0


@pytest.mark.parametrize(("where", "busy"), [(8, True), (16, False)])
def test_what_a_helper_of_the_loop_calls_through_a_known_place_is_the_threads_work(where: int, busy: bool) -> None:
    b = program()
    b.function("worker").rmw("word", loop=1).call("run_one", loop=1)
    b.function("run_one").rmw("count").call(None, slot=(SlotKind.RECORD, 8))
    b.function("make").keep("task", SlotKind.RECORD, where)
    b.function("task", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other")
    for number in range(40):
        b.function(f"handler{number}", flags=FunctionFlag.ADDRESS_TAKEN).rmw("seldom")
    assert (estimate(b, "other") >= busy_rate()) is busy


def boxed(methods: int, rarity: int = 0) -> Builder:
    """A thread that calls the method of what it was handed, one of so many, which counts ``other`` in a loop."""
    b = program()
    b.function("worker").call(None, slot=(SlotKind.RECORD, 32), rarity=rarity)
    make = b.function("make")
    for number in range(methods):
        make.keep(f"run{number}", SlotKind.RECORD, 32)
        b.function(f"run{number}", flags=FunctionFlag.ADDRESS_TAKEN).rmw("other" if not number else "word", loop=1)
    for number in range(40):
        b.function(f"handler{number}", flags=FunctionFlag.ADDRESS_TAKEN)
    return b


def test_the_loop_of_a_method_that_a_thread_calls_once_is_perhaps_its_life() -> None:
    b = boxed(2)
    assert estimate(b, "other") >= sure_rate()
    assert estimate(b, "word") >= sure_rate()
    use = often(b, "other")
    assert use.far_writes
    assert not use.sure_writes


@pytest.mark.parametrize("b", [boxed(30), boxed(2, rarity=16)], ids=["one of many", "seldom called"])
def test_a_method_of_which_that_is_not_known_is_not(b: Builder) -> None:
    assert estimate(b, "other") < sure_rate()


def named(*names: str) -> Builder:
    """A loop that calls what is kept 8 bytes behind a pointer: one function of each name, of which the first counts."""
    b = program()
    b.function("worker").call(None, loop=1, slot=(SlotKind.RECORD, 8))
    make = b.function("make")
    for number, name in enumerate(names):
        make.keep(name, SlotKind.RECORD, 8)
        one = b.function(name, flags=FunctionFlag.ADDRESS_TAKEN)
        if not number:
            one.rmw("other")
    return b


LIBRARYS = [f"<std::io::Kind{n} as core::fmt::Debug>::fmt" for n in range(20)]
PROGRAMS = [f"<server::Kind{n} as server::Stage>::step" for n in range(20)]


def test_a_loop_calls_the_programs_own_functions_rather_than_those_of_libraries() -> None:
    assert estimate(named("<server::Parser as server::Stage>::step", *LIBRARYS), "other") >= sure_rate()


def test_of_many_of_the_programs_own_none_is_busy_and_a_librarys_are_where_there_is_no_other() -> None:
    assert estimate(named("<server::Parser as server::Stage>::step", *PROGRAMS), "other") < busy_rate()
    assert estimate(named(*LIBRARYS[:3]), "other") >= busy_rate()


@pytest.mark.parametrize(
    ("others", "often"),
    [
        pytest.param("_ZN4Task{}D0Ev", True, id="destructors of virtual tables"),
        pytest.param("_ZNSt17_Function_handlerIFviEZ4mainEUliE{}_E10_M_managerERSt9_Any_data", True, id="managers"),
        pytest.param("_ZN4core3ptr13drop_in_place{}E", True, id="destructors of Rust"),
        pytest.param("_ZNSt3__110__function6__funcIZ4mainE3$_{}FviEE7__cloneEv", True, id="copies of libc++"),
        pytest.param(
            "_ZNSt17_Function_handlerIFviEZ4mainEUliE{}_E9_M_invokeERKSt9_Any_dataOi", False, id="other tasks"
        ),
        pytest.param("_ZN4Task{}runEv", False, id="methods"),
    ],
)
def test_a_loop_runs_one_of_few_tasks_however_many_functions_end_or_copy_objects(others: str, often: bool) -> None:
    b = program()
    b.function("worker").call(None, loop=1)
    b.function("task", flags=FunctionFlag.ADDRESS_TAKEN).rmw("word", loop=1)
    for number in range(20):
        b.function(others.format(number), flags=FunctionFlag.ADDRESS_TAKEN)
    assert (estimate(b, "word") >= busy_rate()) is often
