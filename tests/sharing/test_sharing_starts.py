"""Thread entries that no direct call of a creating function shows: through tables of functions, and in libraries."""

from __future__ import annotations

import dataclasses

import pytest

from elfscan.image import read_images
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, ImageKind
from sharing.model.image import Override, SlotKind
from sharing.static import callgraph, numbers
from tests.builders.image import Argument, Builder, Param
from tests.sharing.conftest import Compile

TAKEN, EXPORTED = FunctionFlag.ADDRESS_TAKEN, FunctionFlag.EXPORTED


def roots(b: Builder) -> dict[str, bool]:
    """name: started more than once."""
    return {root.name: root.many for root in callgraph.build(b.image(), default_knowledge()).roots}


def service(flags: FunctionFlag = TAKEN) -> Builder:
    """A table of functions has ``spawn(key, handle, attributes, entry, data)``, which nobody calls by its name."""
    b = Builder()
    b.function("spawn", flags=flags).call("pthread_create", Param(1), Param(2), Param(3), Param(4))
    b.function("worker", flags=TAKEN)
    b.variable("handle", 8)
    return b


class TestThroughATable:
    def test_a_function_and_data_where_the_wrapper_takes_them_start_a_thread(self) -> None:
        b = service()
        b.function("main").call(None, None, "handle", 0, "worker")
        assert roots(b) == {"main": False, "worker": False}

    def test_a_start_in_a_loop_is_of_many(self) -> None:
        b = service()
        b.function("main").call(None, None, "handle", None, "worker", loop=1)
        assert roots(b)["worker"]

    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param((None, None, None, "worker"), id="nothing known beside: a register that was compared"),
            pytest.param((None, "worker", 0, "worker"), id="code for a handle"),
            pytest.param((None, "handle", 5, "worker"), id="a number for attributes"),
            pytest.param(("handle", None, None, "worker"), id="data at an argument that is not handed on"),
            pytest.param((None, "handle", "worker", None), id="the function at another place"),
        ],
    )
    def test_other_calls_through_pointers_do_not(self, arguments: tuple[Argument, ...]) -> None:
        b = service()
        b.function("main").call(None, *arguments)
        assert "worker" not in roots(b)

    def test_a_wrapper_whose_address_nobody_has_is_in_no_table(self) -> None:
        b = service(FunctionFlag(0))
        b.function("main").call(None, None, "handle", 0, "worker")
        assert "worker" not in roots(b)

    def test_without_a_wrapper_a_call_with_a_function_is_any_call(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", None, None, None).call(None, None, "handle", 0, "worker")
        b.function("worker", flags=TAKEN)
        b.variable("handle", 8)
        assert "worker" not in roots(b)


class TestLibraries:
    def library(self) -> Builder:
        b = Builder(ImageKind.SHARED)
        b.function("open", flags=EXPORTED).call("pthread_create", None, None, "worker")
        b.function("worker", flags=TAKEN).call("serve", loop=1)
        b.function("serve").rmw("word")
        b.variable("word", 8)
        return b

    def reached(self, b: Builder, name: str) -> set[str]:
        image = b.image()
        graph = callgraph.build(image, default_knowledge())
        return set(graph.root_names(int(graph.mask[image.names.index(name)])))

    def test_a_thread_that_a_library_starts_itself_is_one_beside_its_callers(self) -> None:
        b = self.library()
        assert roots(b) == {"exported functions": True, "worker": True}
        assert self.reached(b, "serve") == {"worker"}

    def test_what_its_callers_come_to_as_well_both_run(self) -> None:
        b = self.library()
        b.function("request", flags=EXPORTED).call("serve")
        assert self.reached(b, "serve") == {"exported functions", "worker"}

    def test_an_entry_that_is_exported_may_be_called_from_elsewhere(self) -> None:
        b = Builder(ImageKind.SHARED)
        b.function("open", flags=EXPORTED).call("pthread_create", None, None, "worker")
        b.function("worker", flags=TAKEN | EXPORTED)
        assert self.reached(b, "worker") == {"exported functions", "worker"}

    def test_through_a_pointer_its_thread_may_come_back_by_way_of_another_file(self) -> None:
        b = self.library()
        b.function("request", flags=EXPORTED).call(None)
        assert self.reached(b, "request") == {"exported functions"}
        b.functions["serve"].call(None)
        assert self.reached(b, "request") == {"exported functions", "worker"}

    def test_a_library_that_starts_none_has_its_callers_alone(self) -> None:
        b = Builder(ImageKind.SHARED)
        b.function("request", flags=EXPORTED)
        assert roots(b) == {"exported functions": True}


class TestThroughAnObject:
    """A library runs a virtual function of the object that it is handed; no symbol says which."""

    @pytest.mark.parametrize(
        ("base", "slot", "started"),
        [
            pytest.param("_ZTINSt6thread6_StateE", 2, True, id="the state of a std::thread"),
            pytest.param("_ZTI7QThread", 12, True, id="run of a QThread"),
            pytest.param("_ZTINSt6thread6_StateE", 1, False, id="its destructor"),
            pytest.param("_ZTI7QObject", 12, False, id="a class that starts nothing"),
        ],
    )
    def test_the_function_of_the_class_that_runs_on_a_thread(self, base: str, slot: int, started: bool) -> None:
        b = Builder()
        b.function("main")
        body = b.function("run", flags=TAKEN)
        image = dataclasses.replace(b.image(), overrides=(Override(base, slot, body.address),))
        found = [root.name for root in callgraph.build(image, default_knowledge()).roots]
        assert found == (["main", "run"] if started else ["main"])

    def test_one_that_only_calls_an_entry_that_is_known_is_no_second_thread(self) -> None:
        b = Builder()
        b.function("main").call("pthread_create", None, None, "worker")
        b.function("worker", flags=TAKEN)
        body = b.function("run", flags=TAKEN).call("worker")
        image = dataclasses.replace(b.image(), overrides=(Override("_ZTINSt6thread6_StateE", 2, body.address),))
        assert [root.name for root in callgraph.build(image, default_knowledge()).roots] == ["main", "worker"]


class TestTasksOfAPool:
    """A pool's threads run each kind of task again and again: a root of its own, of which nothing is done once."""

    def program(self, maker: str) -> Builder:
        b = Builder()
        b.function("main").call(maker)
        b.function(maker)
        b.variable("word", 8)
        for name in ("tokio::runtime::task::raw::poll", "tokio::runtime::task::raw::poll #2"):
            b.function(name, flags=TAKEN).call("server::{{closure}}")
        b.function("server::{{closure}}").rmw("word", loop=1)
        return b

    def test_they_are_where_a_pool_of_several_threads_is_made(self) -> None:
        image = self.program("tokio::runtime::builder::Builder::new_multi_thread").image()
        graph = callgraph.build(image, default_knowledge())
        tasks = [root for root in graph.roots if root.name != "main"]
        assert [(root.many, root.is_task) for root in tasks] == [(True, True)] * 2
        assert graph.by_thread is not None
        assert not graph.by_thread.once[1:].any()
        frequency = dict(zip((image.names[f["name"]] for f in image.functions), graph.frequency, strict=True))
        assert frequency["tokio::runtime::task::raw::poll"] == numbers.DISPATCHED

    def test_they_are_the_only_threads_work_where_none_is(self) -> None:
        assert list(roots(self.program("tokio::runtime::builder::Builder::new_current_thread"))) == ["main"]


BAND = """
#include <pthread.h>
static int quiet, tempo;
static void *drum(void *p) { while (!__atomic_load_n(&quiet, 0)) __atomic_fetch_add(&tempo, 1, 0); return p; }
static void *sing(void *p) { while (!__atomic_load_n(&quiet, 0)) __atomic_fetch_add(&tempo, 2, 0); return p; }
static void *hush(void *p) { __atomic_store_n(&quiet, 1, 0); return p; }
#ifdef TABLE
struct part { int chairs; void *(*play)(void *); };
static const struct part parts[] = {{2, drum}, {3, sing}};
#define PART(i) parts[(i) & 1].play
#else
#define PART(i) ((i) & 1 ? drum : sing)
#endif
void *(*volatile last)(void *) = hush;
int main(int c, char **v)
{
    pthread_t t[9];
    for (int i = 0; i < c + 5; i++) pthread_create(&t[i], 0, PART(c + i), 0);
    return last(0) != 0;
}
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("form", ["-DCHOICE", "-DTABLE"])
def test_an_entry_that_is_chosen_where_the_thread_starts(compiled: Compile, tool: str, form: str) -> None:
    image = next(read_images(str(compiled(tool, "c", BAND, "-O2", form)), types=False))
    found = {root.name: root.many for root in callgraph.build(image, default_knowledge()).roots}
    assert found == {"main": False, "drum": True, "sing": True}  # not what is called through a variable


class TestChosen:
    def test_a_function_whose_address_goes_out_of_sight_where_a_thread_starts(self) -> None:
        b = Builder()
        b.function("worker", flags=TAKEN)
        b.function("main").keep("worker", SlotKind.UNKNOWN, 0).call("pthread_create", None, None, None, None)
        assert "worker" in roots(b)

    def test_one_that_is_stored_is_not(self) -> None:
        b = Builder()
        b.function("worker", flags=TAKEN)
        b.function("main").keep("worker", SlotKind.RECORD, 8).call("pthread_create", None, None, None, None)
        assert "worker" not in roots(b)

    def test_another_function_of_the_one_that_starts_a_known_entry_is_not(self) -> None:
        b = Builder()
        for name in ("worker", "compare"):
            b.function(name, flags=TAKEN)
        b.function("main").keep("compare", SlotKind.UNKNOWN, 0).call("pthread_create", None, None, "worker", None)
        assert set(roots(b)) == {"main", "worker"}

    def test_a_function_elsewhere_is_not(self) -> None:
        b = Builder()
        b.function("worker", flags=TAKEN)
        b.function("sort").keep("worker", SlotKind.UNKNOWN, 0)
        b.function("main").call("pthread_create", None, None, None, None).call("sort")
        assert "worker" not in roots(b)


MARKED = """
#include <pthread.h>
#include <unistd.h>
static pthread_t handle, other;
static int running, begun, unset;
long stored, handed, entered, plain, tested;
__attribute__((noinline)) static void *by_store(void *n) { for (;;) stored += read(0, 0, 0); return n; }
__attribute__((noinline)) static void *by_handle(void *n) { for (;;) handed += read(0, 0, 0); return n; }
__attribute__((noinline)) static void *by_entry(void *n) { begun = 1; for (;;) entered += read(0, 0, 0); return n; }
__attribute__((noinline)) static void *unmarked(void *n) { for (;;) plain += read(0, 0, 0); return n; }
__attribute__((noinline)) static void *never_set(void *n) { for (;;) tested += read(0, 0, 0); return n; }
__attribute__((noinline)) void first(void) { if (!running) { running = 1; pthread_create(&other, 0, by_store, 0); } }
__attribute__((noinline)) void second(void) { if (handle == 0) pthread_create(&handle, 0, by_handle, 0); }
__attribute__((noinline)) void third(void) { if (!begun) pthread_create(&other, 0, by_entry, 0); }
__attribute__((noinline)) void fourth(void) { pthread_create(&other, 0, unmarked, 0); }
__attribute__((noinline)) void fifth(void) { if (!unset) pthread_create(&other, 0, never_set, 0); }
__attribute__((noinline)) void all(int n) { first(); second(); third(); fourth(); fifth(); if (n) running = 0; }
int set(int to) { return unset = to; }
#ifdef PROGRAM
int main(int n, char **v) {
  if (n == 2) { first(); second(); third(); fourth(); fifth(); }
  all(n);
  return set(n & 2);
}
#endif
"""


@pytest.mark.parametrize(("tool", "level"), [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O2")])
@pytest.mark.parametrize("flags", [("-DPROGRAM",), ("-shared", "-fPIC")], ids=["program", "library"])
def test_a_thread_that_is_started_where_it_does_not_run_is_one(
    compiled: Compile, tool: str, level: str, flags: tuple[str, ...]
) -> None:
    """Whoever calls the function that starts it, and however often: a variable tells that it runs."""
    image = next(read_images(str(compiled(tool, "c", MARKED, level, "-pthread", *flags)), types=False))
    found = {root.name: root.many for root in callgraph.build(image, default_knowledge()).roots}
    assert {name: found[name] for name in ("by_store", "by_handle", "by_entry")} == {
        "by_store": False,
        "by_handle": False,
        "by_entry": False,
    }
    assert found["unmarked"]
    assert found["never_set"]


@pytest.mark.parametrize("loops", [0, 1])
def test_of_a_librarys_thread_it_is_known_whether_the_library_starts_several(loops: int) -> None:
    b = Builder(ImageKind.SHARED)
    b.function("start", flags=EXPORTED).call("pthread_create", None, None, "dispatch", None, loop=loops)
    b.function("dispatch", flags=TAKEN)
    (root,) = (one for one in callgraph.build(b.image(), default_knowledge()).roots if one.name == "dispatch")
    assert root.many
    assert root.is_perhaps_many is not bool(loops)
