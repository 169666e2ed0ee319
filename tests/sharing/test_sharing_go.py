"""Programs of Go as the judge sees them: goroutines by function values, without the run-time, locks by methods."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from elfscan.debug.demangle import demangle
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import SITE_DTYPE, AccessKind, FunctionFlag, Image
from sharing.model.finding import Finding, Severity
from sharing.static.callgraph import build
from tests.builders.image import Builder

GO = FunctionFlag.GO


def taken(image: Image, *made: tuple[str, int, str]) -> Image:
    """The image where functions take, so many bytes from their begin, the address of others."""
    row = {image.names[f["name"]]: at for at, f in enumerate(image.functions)}
    start = image.functions["address"]
    sites = np.zeros(len(made), SITE_DTYPE)
    for site, (function, offset, target) in zip(sites, made, strict=True):
        site["ip"], site["target"] = start[row[function]] + offset, start[row[target]]
        site["function"], site["kind"] = row[function], AccessKind.ADDRESS
    return dataclasses.replace(image, sites=np.sort(np.concatenate([image.sites, sites]), order="ip"))


def counters(*extra: str) -> Builder:
    """Two words of one variable, counted by two functions in loops; ``main.main`` calls ``runtime.newproc`` twice.

    A call takes four bytes; those two begin at 4 and 8.
    """
    b = Builder()
    unit = b.unit("Go", "main.go")
    word = b.base("uint64", 8)
    b.variable(
        "main.stats", 16, type=b.struct("main.Stats", 16, ("produced", 0, word), ("consumed", 8, word)), unit=unit
    )
    for name, at in (("main.produce", 0), ("main.main.func1", 8)):
        b.function(name, GO).rmw(f"main.stats+{at}", loop=1, flags=1)
    main = b.function("main.main", GO)
    for callee in ("main.set_up", "runtime.newproc", "runtime.newproc", *extra):
        main.call(callee)
    b.function("runtime.newproc", GO)
    return b


def started_in_block(order: int) -> Builder:
    """The same program, whose ``main.main`` starts one goroutine, in the block of this order and at byte 4."""
    b = counters()
    main = b.functions["main.main"]
    main.calls.clear()
    main.call("main.set_up").call("runtime.newproc", order=order)
    return b


def roots(image: Image) -> set[str]:
    return {root.name for root in build(image, default_knowledge()).roots}


def findings(image: Image) -> list[Finding]:
    found = judge(image, JudgeOptions(64, 128, demangle=demangle), default_knowledge()).findings
    return [f for f in found if f.severity.rank >= Severity.LOW.rank]


class TestEntries:
    def test_what_is_taken_before_the_call_is_started(self) -> None:
        image = taken(counters().image(), ("main.main", 0, "main.main.func1"))
        assert roots(image) == {"main", "main.main.func1"}

    def test_what_is_taken_behind_it_is_not(self) -> None:
        image = taken(counters().image(), ("main.main", 9, "main.main.func1"))
        assert "main.main.func1" not in roots(image)

    def test_one_value_is_for_one_call(self) -> None:
        """Whose second call is handed what is not seen."""
        image = taken(counters().image(), ("main.main", 0, "main.main.func1"))
        (root,) = (r for r in build(image, default_knowledge()).roots if r.name == "main.main.func1")
        assert not root.many

    def test_before_is_what_leads_to_the_call_wherever_the_compiler_puts_it(self) -> None:
        """The write barrier of a loop: the block that makes the closure stands behind the one with the call."""
        image = taken(started_in_block(2).image(), ("main.main", 8, "main.main.func1"))
        image.sites["order"][image.sites["kind"] == AccessKind.ADDRESS] = 1
        assert "main.main.func1" in roots(image)

    def test_what_the_other_arm_of_a_branch_takes_is_not_handed_over(self) -> None:
        b = started_in_block(2)
        b.arms["main.main"] = (1, 2)
        image = taken(b.image(), ("main.main", 8, "main.main.func1"))
        image.sites["order"][image.sites["kind"] == AccessKind.ADDRESS] = 1
        assert "main.main.func1" not in roots(image)

    def test_of_another_function_it_says_nothing(self) -> None:
        image = taken(counters().image(), ("main.produce", 0, "main.main.func1"))
        assert "main.main.func1" not in roots(image)

    def test_c_hands_over_what_its_arguments_say(self) -> None:
        image = taken(counters().image(), ("main.main", 0, "main.main.func1"))
        image.functions["flags"] = 0
        assert "main.main.func1" not in roots(image)


class TestJudgement:
    def both(self, b: Builder) -> Image:
        image = b.image()
        return taken(image, ("main.main", 0, "main.produce"), ("main.main", 5, "main.main.func1"))

    def test_the_pair_and_an_edit_in_go(self) -> None:
        (found,) = findings(self.both(counters()))
        assert found.severity is Severity.HIGH
        assert [p.full_name for p in found.participants[:2]] == ["main.stats.produced", "main.stats.consumed"]
        edit = found.remedies[0]
        assert (edit.language, edit.edit) == ("Go", "_ [56]byte\nproduced uint64\n_ [56]byte")
        assert (edit.cost_bytes, edit.breaks_abi) == (112, False)

    def test_what_the_run_time_does_is_not_looked_into(self) -> None:
        """Neither its data, nor the work that it does for a goroutine."""
        b = counters("runtime.schedule")
        for name, at in (("runtime.schedule", 0), ("runtime.park", 8)):
            b.function(name, GO).rmw(f"runtime.sched+{at}", loop=3, flags=1).call("runtime.schedule", loop=3)
        b.variable("runtime.sched", 16)
        assert [f.participants[0].full_name for f in findings(self.both(b))] == ["main.stats.produced"]


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("sync.(*Mutex).Lock", ["sync.Mutex"]),
        ("internal/sync.(*Mutex).lockSlow", ["sync.Mutex"]),
        ("sync.(*RWMutex).Lock", ["sync.RWMutex"]),
        ("sync.Mutex.Lock", []),
        ("sync.(*Map).Lock", []),
    ],
)
def test_locks_by_their_methods(name: str, types: list[str]) -> None:
    knowledge = default_knowledge()
    assert [knowledge.locks[effect.row].name for effect in knowledge.lock_calls(name)] == types


@pytest.mark.parametrize(("name", "language", "of_library"), [("runtime.sched", "Go", True), ("time.last", "C", False)])
def test_data_of_packages_is_that_of_go_alone(name: str, language: str, of_library: bool) -> None:
    assert default_knowledge().is_library_data(name, language) == of_library


@pytest.mark.parametrize(
    ("name", "entry", "many"),
    [
        ("sync.(*WaitGroup).Go", 1, False),
        ("time.AfterFunc", 1, False),
        ("context.AfterFunc", 2, False),  # an interface takes two registers
        ("net/http.HandleFunc", 2, True),  # and so does a string
        ("net/http.(*ServeMux).HandleFunc", 3, True),
        ("testing.(*B).RunParallel", 1, True),
    ],
)
def test_what_the_standard_library_runs_in_a_goroutine(name: str, entry: int, many: bool) -> None:
    row = default_knowledge().thread_start(name)
    assert row is not None
    assert (row.entry_argument, row.many) == (entry, many)


@pytest.mark.parametrize("name", ["sync.(*WaitGroup).Add", "time.NewTimer", "net/http.Handle", "sync.(*Once).Do"])
def test_what_runs_nothing_or_on_the_same_goroutine(name: str) -> None:
    assert default_knowledge().thread_start(name) is None
