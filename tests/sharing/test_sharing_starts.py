"""Thread entries that no direct call of a creating function shows: through tables of functions, and in libraries."""

from __future__ import annotations

import dataclasses

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, ImageKind
from sharing.model.image import Override
from sharing.static import callgraph
from tests.builders.image import Argument, Builder, Param

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
