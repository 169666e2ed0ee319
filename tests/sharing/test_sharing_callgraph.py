"""The call graph: who starts threads, who reaches what, and how often a place is estimated to run."""

from __future__ import annotations

import pytest

from sharing.knowledge import Knowledge, ThreadRow, default_knowledge
from sharing.model import FunctionFlag, Image, ImageKind, Vocabulary
from sharing.static import callgraph, numbers
from sharing.static.callgraph import CallGraph
from sharing.static.coldness import last_component
from tests.builders.image import Builder, Param, threads


def build(b: Builder) -> tuple[Image, CallGraph]:
    image = b.image()
    return image, callgraph.build(image, default_knowledge())


def roots(graph: CallGraph) -> dict[str, bool]:
    """name: started more than once."""
    return {root.name: root.many for root in graph.roots}


def row(image: Image, name: str) -> int:
    return image.names.index(name)


def reached_by(image: Image, graph: CallGraph, name: str) -> set[str]:
    return set(graph.root_names(int(graph.mask[row(image, name)])))


def frequency(image: Image, graph: CallGraph, name: str) -> float:
    return float(graph.frequency[row(image, name)])


class TestThreadRoots:
    @pytest.mark.parametrize(("count", "last"), [(62, "worker61"), (63, "other threads"), (70, "other threads")])
    def test_more_roots_than_bits_share_the_last_bit(self, count: int, last: str) -> None:
        """Main and 62 threads have a bit each: what is beyond still runs, beside all others and itself."""
        b = Builder()
        workers = [f"worker{number}" for number in range(count)]
        threads(b, *workers)
        for name in workers:
            b.function(name).store("data")
        b.variable("data", 8)
        image, graph = build(b)
        assert reached_by(image, graph, "worker0") == {"worker0"}
        assert reached_by(image, graph, workers[-1]) == {last}
        bits = int(graph.mask[row(image, workers[-1])])
        assert graph.concurrent(bits, int(graph.mask[row(image, "worker0")]))
        assert graph.concurrent(bits, bits) is (count > 62)

    def test_one_creation_outside_loops_is_one_thread(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker")
        assert roots(build(b)[1]) == {"main": False, "worker": False}

    def test_a_creation_in_a_loop_is_many(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker", loop=1)
        b.function("worker")
        assert roots(build(b)[1])["worker"]

    def test_two_sites_are_many(self) -> None:
        b = Builder()
        threads(b, "worker", "worker")
        b.function("worker")
        assert roots(build(b)[1])["worker"]

    def test_a_creator_that_is_called_twice_starts_many(self) -> None:
        b = Builder()
        b.function("main").call("start").call("start")
        b.function("start").call("pthread_create", None, None, "worker")
        b.function("worker")
        assert roots(build(b)[1])["worker"]

    def test_a_creator_that_is_called_once_starts_one(self) -> None:
        b = Builder()
        b.function("main").call("start")
        b.function("start").call("pthread_create", None, None, "worker")
        b.function("worker")
        assert not roots(build(b)[1])["worker"]

    @pytest.mark.parametrize("levels", [1, 2, 3])
    def test_wrappers_pass_the_entry_on(self, levels: int) -> None:
        """spawn0(f) calls spawn1(0, f) ... calls pthread_create(.., f): the argument's place may change."""
        b = Builder()
        b.function("main").call("spawn0", "worker")
        for i in range(levels):
            inner = "pthread_create" if i == levels - 1 else f"spawn{i + 1}"
            place = 2 if i == levels - 1 else (i + 1) % 2
            given: list[Param | None] = [None] * place
            b.function(f"spawn{i}").call(inner, *given, Param(i % 2))
        b.function("worker")
        assert set(roots(build(b)[1])) == {"main", "worker"}

    def test_another_argument_is_no_entry(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", "attributes", "attributes", "worker", "context")
        b.function("attributes"), b.function("worker"), b.function("context")
        assert set(roots(build(b)[1])) == {"main", "worker"}

    def test_a_team_starter_starts_many_from_one_site(self) -> None:
        b = Builder()
        b.function("main").call("GOMP_parallel", "main._omp_fn.0")
        b.function("main._omp_fn.0")
        assert roots(build(b)[1])["main._omp_fn.0"]

    def test_a_standard_thread_is_known_by_its_state(self) -> None:
        entry = "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvvEEEEEE6_M_runEv"
        b = Builder()
        b.function("main")
        b.function(entry, FunctionFlag.ADDRESS_TAKEN)
        assert roots(build(b)[1])[entry]

    def test_an_invisible_entry_makes_address_taken_functions_run_on_any_thread(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create")
        b.function("callback", FunctionFlag.ADDRESS_TAKEN)
        b.function("helper")
        image, graph = build(b)
        assert roots(graph) == {"main": False, "functions called through pointers": True}
        assert graph.threaded
        assert reached_by(image, graph, "helper") == set()
        assert "functions called through pointers" in reached_by(image, graph, "callback")

    def test_without_thread_creation_nothing_is_concurrent(self) -> None:
        b = Builder()
        b.function("main").call("work", loop=1)
        b.function("work")
        _, graph = build(b)
        assert not graph.threaded
        assert graph.how == "nothing in this image starts a thread"

    def test_a_project_names_its_own_starter(self) -> None:
        b = Builder()
        b.function("main").call("my_spawn", None, "worker")
        b.function("worker")
        image = b.image()
        graph = callgraph.build(image, Knowledge(Vocabulary(thread=(ThreadRow("my_spawn", 1),))))
        assert set(roots(graph)) == {"main", "worker"}

    def test_main_of_a_stripped_program_is_what_start_up_code_passes(self) -> None:
        b = Builder()
        b.function("start").call("__libc_start_main", "program")
        b.function("program").call("pthread_create", None, None, "worker")
        b.function("worker")
        b.entry_points = ("start",)
        image, graph = build(b)
        assert reached_by(image, graph, "program") == {"main"}
        assert reached_by(image, graph, "worker") == {"worker"}


class TestReach:
    def test_each_side_reaches_its_callees(self) -> None:
        b = Builder()
        threads(b, "worker").call("report")
        b.function("worker").call("step").call("shared")
        b.function("step"), b.function("report").call("shared"), b.function("shared")
        image, graph = build(b)
        assert reached_by(image, graph, "step") == {"worker"}
        assert reached_by(image, graph, "report") == {"main"}
        assert reached_by(image, graph, "shared") == {"main", "worker"}

    def test_recursion_ends(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("walk")
        b.function("walk").call("walk", loop=2).call("worker", loop=2)
        image, graph = build(b)
        assert reached_by(image, graph, "walk") == {"worker"}
        assert frequency(image, graph, "walk") <= numbers.MAX_FREQUENCY

    def test_dispatched_functions_run_on_the_threads_that_call_through_pointers(self) -> None:
        b = Builder()
        threads(b, "worker", "timer")
        b.function("worker").call(None)
        b.function("timer")
        b.function("handler", FunctionFlag.ADDRESS_TAKEN).call("inner")
        b.function("inner")
        image, graph = build(b)
        assert reached_by(image, graph, "handler") == {"worker"}
        assert reached_by(image, graph, "inner") == {"worker"}

    def test_an_entry_is_not_dispatched_for_having_its_address_taken(self) -> None:
        b = Builder()
        threads(b, "worker", "timer")
        b.function("worker", FunctionFlag.ADDRESS_TAKEN)
        b.function("timer").call(None)
        image, graph = build(b)
        assert reached_by(image, graph, "worker") == {"worker"}

    def test_callers_are_listed_once(self) -> None:
        b = Builder()
        b.function("main").call("leaf").call("leaf").call("mid")
        b.function("mid").call("leaf")
        b.function("leaf")
        image, graph = build(b)
        assert graph.callers(row(image, "leaf")) == [row(image, "main"), row(image, "mid")]


class TestLibraries:
    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            (ImageKind.SHARED, "exported functions"),
            (ImageKind.RELOCATABLE, "exported functions"),
            (ImageKind.KERNEL, "kernel entry points"),
            (ImageKind.MODULE, "module entry points"),
        ],
    )
    def test_its_callers_may_be_many_threads(self, kind: ImageKind, name: str) -> None:
        b = Builder(kind)
        b.function("api", FunctionFlag.EXPORTED).call("inner")
        b.function("inner")
        image, graph = build(b)
        assert roots(graph) == {name: True}
        assert graph.threaded
        assert reached_by(image, graph, "inner") == {name}

    def test_what_nothing_calls_in_a_shared_object_does_not_run(self) -> None:
        b = Builder(ImageKind.SHARED)
        b.function("api", FunctionFlag.EXPORTED)
        b.function("unused")
        image, graph = build(b)
        assert reached_by(image, graph, "unused") == set()

    def test_any_function_of_a_kernel_may_be_an_entry(self) -> None:
        b = Builder(ImageKind.KERNEL)
        b.function("asm_entry")
        b.function("setup_arch", FunctionFlag.INIT)
        image, graph = build(b)
        assert reached_by(image, graph, "asm_entry") == {"kernel entry points"}
        assert reached_by(image, graph, "setup_arch") == set()


MAIN, ONE, MANY = 1, 2, 4


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0, MAIN, False),  # what no thread reaches runs beside nothing
        (MANY, 0, False),
        (MAIN, MAIN, False),  # one thread does not race itself
        (ONE, ONE, False),
        (MANY, MANY, True),  # several threads of one entry do
        (MAIN, ONE, True),
        (ONE, MANY, True),
        (MAIN | ONE, MAIN | ONE, True),  # either on each
        (MAIN | ONE, MAIN, True),
        (MAIN | MANY, MAIN, True),
    ],
)
def test_concurrency_of_root_masks(a: int, b: int, expected: bool) -> None:
    program = Builder()
    program.function("main").call("pthread_create", None, None, "one")
    program.functions["main"].call("pthread_create", None, None, "many", loop=1)
    program.function("one"), program.function("many")
    _, graph = build(program)
    assert [r.name for r in graph.roots] == ["main", "one", "many"]
    assert graph.concurrent(a, b) is expected
    assert graph.concurrent(b, a) is expected


class TestFrequency:
    def test_a_loop_multiplies_and_nests_multiply_again(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("flat").call("once", loop=1).call("nest", loop=2)
        b.function("flat"), b.function("once"), b.function("nest")
        image, graph = build(b)
        flat = frequency(image, graph, "flat")
        assert flat == pytest.approx(frequency(image, graph, "worker"))
        assert frequency(image, graph, "once") == pytest.approx(10 * flat)
        assert frequency(image, graph, "nest") == pytest.approx(100 * flat)

    def test_loops_beyond_three_count_like_three(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("three", loop=3).call("seven", loop=7)
        b.function("three"), b.function("seven")
        image, graph = build(b)
        assert frequency(image, graph, "seven") == pytest.approx(frequency(image, graph, "three"))

    def test_a_nest_that_nobody_writes_is_an_unread_switch_and_counts_once(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("none", loop=0).call("eight", loop=8)
        b.function("none"), b.function("eight")
        image, graph = build(b)
        assert frequency(image, graph, "eight") == pytest.approx(frequency(image, graph, "none"))

    def test_four_steps_of_rarity_halve(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("always", loop=1).call("half", loop=1, rarity=4).call("quarter", loop=1, rarity=8)
        b.function("always"), b.function("half"), b.function("quarter")
        image, graph = build(b)
        always = frequency(image, graph, "always")
        assert frequency(image, graph, "half") == pytest.approx(always / 2)
        assert frequency(image, graph, "quarter") == pytest.approx(always / 4)

    def test_call_sites_add_up(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("leaf", loop=1).call("leaf", loop=1)
        b.function("leaf")
        image, graph = build(b)
        assert frequency(image, graph, "leaf") == pytest.approx(20 * frequency(image, graph, "worker"))

    def test_many_threads_run_their_entry_more_often(self) -> None:
        b = Builder()
        threads(b, "single").call("pthread_create", None, None, "pool", loop=1)
        b.function("single"), b.function("pool")
        image, graph = build(b)
        assert frequency(image, graph, "pool") > frequency(image, graph, "single")

    def test_a_function_of_main_called_once_runs_once(self) -> None:
        b = Builder()
        threads(b, "worker").call("summary")
        b.function("worker")
        b.function("summary")
        image, graph = build(b)
        assert frequency(image, graph, "summary") == pytest.approx(1.0)

    def test_a_pointer_call_is_taken_for_frequent(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call(None)
        b.function("handler", FunctionFlag.ADDRESS_TAKEN)
        image, graph = build(b)
        assert frequency(image, graph, "handler") == pytest.approx(numbers.DISPATCHED)

    def test_what_a_library_exports_is_called_again_and_again_but_not_what_only_sets(self) -> None:
        b = Builder(kind=ImageKind.SHARED)
        b.variable("level", 8)
        b.variable("calls", 8)
        b.function("encode", FunctionFlag.EXPORTED).load("level").rmw("calls").call("inner")
        b.function("set_level", FunctionFlag.EXPORTED).store("level")
        b.function("inner")
        image, graph = build(b)
        assert frequency(image, graph, "encode") == pytest.approx(numbers.DISPATCHED)
        assert frequency(image, graph, "inner") == pytest.approx(numbers.DISPATCHED)
        assert frequency(image, graph, "set_level") == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "cold"),
    [
        ("init_cache", True),
        ("cache_init", True),
        ("cacheInit", True),
        ("initial_state", False),  # a word, not its beginning
        ("cache_init_lock", False),  # in the middle it says little
        ("lookup", False),
        ("assert_failed_here", True),
        ("handle_assert_failed", True),  # these count anywhere
        ("_ZN5Cache4initEv", True),
        ("_ZN5Cache6lookupEi", False),
        ("_start", True),
        ("frame_dummy", True),
    ],
)
def test_names_that_speak_of_start_up_or_failure_are_cold(name: str, cold: bool) -> None:
    b = Builder()
    threads(b, name, "worker")
    b.function(name), b.function("worker")
    image, graph = build(b)
    assert bool(graph.cold[row(image, name)]) is cold
    if cold:
        assert frequency(image, graph, name) < frequency(image, graph, "worker")


def started_work(*, before: str = "", loop: int = 0, waits: str = "") -> bool:
    """Is ``probe`` cold, which a thread's entry calls last?  ``waits``: what it calls of others in a loop."""
    b = Builder()
    b.variable("word", 8)
    threads(b, "worker")
    entry = b.function("worker")
    if before:
        entry.call(before)
        b.function(before)
    if waits:
        entry.call(waits, loop=1)
    entry.call("probe", loop=loop)
    b.function("probe").rmw("word", loop=1)
    image, graph = build(b)
    return bool(graph.cold[row(image, "probe")])


def test_what_is_all_that_a_thread_does_is_not_cold_for_its_name() -> None:
    assert not started_work()


def test_what_is_one_thing_of_several_that_a_thread_does_is() -> None:
    assert started_work(before="serve")


def test_what_a_thread_does_again_and_again_is_not_where_nothing_waits() -> None:
    assert not started_work(loop=1)


def test_what_a_thread_does_again_and_again_is_where_something_may_wait() -> None:
    assert started_work(loop=1, waits="someone_elses")


@pytest.mark.parametrize(
    ("kind", "name", "cold"),
    [
        (ImageKind.SHARED, "queue_create", True),
        (ImageKind.SHARED, "queue_new_2", True),
        (ImageKind.SHARED, "queue_set_option", True),
        (ImageKind.SHARED, "queue_renew", False),
        (ImageKind.EXECUTABLE, "queue_create", False),  # a program may do so for each request
    ],
)
def test_what_makes_a_librarys_objects_is_as_seldom_as_what_ends_them(kind: ImageKind, name: str, cold: bool) -> None:
    b = Builder(kind)
    b.function(name, FunctionFlag.EXPORTED).store("first")
    b.variable("first", 8)
    image, graph = build(b)
    assert bool(graph.cold[row(image, name)]) is cold


@pytest.mark.parametrize(
    ("kind", "flags", "cold"),
    [
        (ImageKind.SHARED, FunctionFlag.EXPORTED, True),
        (ImageKind.SHARED, FunctionFlag(0), False),  # its own helper: the words around are not a library's name
        (ImageKind.EXECUTABLE, FunctionFlag.EXPORTED, False),
    ],
)
def test_what_a_library_exports_may_have_its_word_in_the_middle(
    kind: ImageKind, flags: FunctionFlag, cold: bool
) -> None:
    b = Builder(kind)
    b.function("queue_register_thread", flags).store("first")
    b.function("queue_push", FunctionFlag.EXPORTED).store("second")
    b.function("queue_run").store("second")
    b.variable("first", 8)
    b.variable("second", 8)
    b.function("main").call("pthread_create", None, None, "queue_run")
    image, graph = build(b)
    at = row(image, "queue_register_thread")
    assert bool(graph.cold[at]) is cold
    if kind is ImageKind.SHARED:
        assert graph.by_thread is not None
        assert not graph.by_thread.rates[:, at].any()  # no work that callers are taken to ask for
        assert graph.by_thread.rates[:, row(image, "queue_push")].any()


def test_code_in_a_cold_section_is_cold() -> None:
    b = Builder()
    threads(b, "worker")
    b.function("worker").call("worker.cold")
    b.function("worker.cold", FunctionFlag.COLD)
    image, graph = build(b)
    assert graph.cold[row(image, "worker.cold")]
    assert not graph.cold[row(image, "worker")]


@pytest.mark.parametrize(
    ("mangled", "last"),
    [
        ("_Z4initv", "init"),
        ("_ZN5Cache4initEv", "init"),
        ("_ZN2ab5Cache6lookupEi", "lookup"),
        ("_ZN99999999999999999999x", "_ZN99999999999999999999x"),  # a length beyond the name
        ("_Z", "_Z"),
    ],
)
def test_last_component_of_a_mangled_name(mangled: str, last: str) -> None:
    assert last_component(mangled) == last


class TestHandedOn:
    """What a thread is to do arrives in a record that its entry calls through."""

    def launcher(self, *, through_pointer: bool) -> Builder:
        b = Builder()
        b.function("main").call("launch", "work", "data").call("launch", "other", "data")
        b.function("launch").call("pthread_create", None, None, "start", None)
        entry = b.function("start")
        entry.call(None) if through_pointer else entry.call("run")
        for name in ("work", "other", "run"):
            b.function(name).rmw("data", loop=1)
        b.variable("data", 8)
        return b

    def test_functions_that_are_handed_to_the_starter_are_what_threads_do(self) -> None:
        graph = callgraph.build(self.launcher(through_pointer=True).image(), default_knowledge())
        assert {r.name for r in graph.roots} == {"main", "start", "work", "other"}

    def test_an_entry_that_calls_what_it_names_does_not_call_what_was_handed(self) -> None:
        graph = callgraph.build(self.launcher(through_pointer=False).image(), default_knowledge())
        assert {r.name for r in graph.roots} == {"main", "start"}
