"""Profiles of lines: which bytes are one actor, which of them are hot, who touches them and under which lock."""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, FunctionFlag, ImageKind, SiteFlag, TypeKind, VariableFlag
from sharing.model.profile import Actor, Heat, Role
from sharing.static import callgraph, correlate, flow, numbers
from sharing.static.correlate import Thresholds
from sharing.static.profiles import Profiler
from sharing.static.recover import recover
from tests.builders.image import AARCH64, BSS, Address, Builder, Element, Param, threads

ANY = Thresholds(0.0, 0.0, 0.0)  # every warm place is a hot one


def profiler(b: Builder, limits: Thresholds = ANY) -> Profiler:
    image, knowledge = b.image(), default_knowledge()
    graph = callgraph.build(image, knowledge)
    locks = flow.lock_calls(image, knowledge)
    sites = correlate.all_sites(image, knowledge)
    image = recover(image, sites, locks.events, knowledge)
    accesses = correlate.collect_accesses(image, graph, sites, locks.events)
    return Profiler(image, graph, accesses, locks, knowledge, limits, lambda names: names)


def actors(b: Builder, limits: Thresholds = ANY) -> dict[str, Actor]:
    """Every actor of the image by name."""
    built = profiler(b, limits)
    return {a.name: a for row in range(len(built.image.variables)) for a in built.actors(row)}


def offsets(actor: Actor, ranges: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    return [(start - actor.span[0], end - actor.span[0]) for start, end in ranges]


def locking(callee: str, size: int, **options: object) -> Actor:
    b = Builder(**options)  # type: ignore[arg-type]
    threads(b, "worker")
    b.function("worker").call(callee, "lock", loop=1)
    b.variable("lock", size)
    return actors(b)["lock"]


def test_what_is_behind_a_lock_is_part_of_it_unless_somebody_uses_it_without_the_lock() -> None:
    """No type tells: an instrumentation pointer is used by those who take the lock, the head of a list by others."""
    wrapped, beside = Builder(), Builder()
    for b in (wrapped, beside):
        threads(b, "worker", "other")
        b.function("worker").call("pthread_mutex_lock", "lock", loop=1).load("lock+0x28", loop=1)
        b.variable("lock", 48)
    wrapped.function("other").call("pthread_mutex_lock", "lock", loop=1)
    beside.function("other").store("lock+0x28", loop=1)
    assert set(actors(wrapped)) == {"lock"}
    assert set(actors(beside)) == {"lock", "lock+0x28"}


class TestLocksByAbi:
    @pytest.mark.parametrize(
        ("options", "size", "hot", "read"),
        [
            ({}, 40, [(0, 16)], [(16, 20)]),
            ({"arch": AARCH64}, 48, [(0, 16)], [(16, 20)]),
            ({"needed": ("libc.musl-x86_64.so.1",)}, 40, [(4, 12)], [(0, 4)]),
        ],
        ids=["glibc", "aarch64", "musl"],
    )
    def test_hot_bytes_of_a_mutex(
        self, options: dict[str, object], size: int, hot: list[tuple[int, int]], read: list[tuple[int, int]]
    ) -> None:
        lock = locking("pthread_mutex_lock", size, **options)
        assert (lock.role, lock.kind) == (Role.LOCK, "mutex")
        assert (offsets(lock, lock.hot), offsets(lock, lock.read_hot)) == (hot, read)

    def test_of_a_kernel_mutex(self) -> None:
        b = Builder(ImageKind.KERNEL)
        b.function("f").call("mutex_lock", "lock", loop=1)
        b.variable("lock", 32)
        lock = actors(b)["lock"]
        assert (offsets(lock, lock.hot), lock.span) == ([(0, 16)], (BSS, BSS + 32))

    def test_a_slightly_larger_variable_is_the_lock_and_what_its_wrapper_adds(self) -> None:
        lock = locking("pthread_mutex_lock", 48)
        assert lock.span == (BSS, BSS + 48)
        assert offsets(lock, lock.hot) == [(0, 16)]

    def test_a_much_larger_one_only_starts_with_it(self) -> None:
        lock = locking("pthread_mutex_lock", 256)
        assert (lock.span, lock.owner_span) == ((BSS, BSS + 40), (BSS, BSS + 256))

    def test_a_lock_inside_an_untyped_variable_is_named_by_its_offset(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", "table+0x48", loop=1).store("table", 8, loop=1)
        b.variable("table", 256)
        found = actors(b)
        assert set(found) == {"table", "table+0x48"}
        assert found["table+0x48"].is_lock
        assert not found["table"].is_lock

    def test_of_a_stripped_program(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", Address(BSS + 0x20), loop=1)
        (lock,) = actors(b).values()
        assert lock.name == "bss+0x20 (mutex)"
        assert (lock.sized, offsets(lock, lock.hot)) == (False, [(0, 16)])

    def test_lockers_are_neither_readers_nor_plain_writers(self) -> None:
        lock = locking("pthread_mutex_lock", 40)
        assert [a.function for a in lock.lockers] == ["worker"]
        assert lock.readers == ()
        assert lock.synchronised


def table(b: Builder) -> int:
    """struct table { long hits; int limit; pthread_mutex_t lock at 64; }"""
    mutex = b.struct("pthread_mutex_t", 40, ("words", 0, b.array(b.base("int", 4), 10)))
    return b.struct("table", 128, ("hits", 0, b.base("long", 8)), ("limit", 8, b.base("int", 4)), ("lock", 64, mutex))


class TestMembers:
    def test_each_touched_member_is_an_actor(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").rmw("t", 8, loop=1).load("t+8", 4, loop=1).call("pthread_mutex_lock", "t+64", loop=1)
        b.variable("t", 128, type=table(b))
        found = actors(b)
        assert {name: offsets(found["t.hits"], (a.span,))[0] for name, a in found.items()} == {
            "t.hits": (0, 8),
            "t.limit": (8, 12),
            "t.lock": (64, 104),
        }
        assert {a.owner for a in found.values()} == {"t"}
        assert {a.owner_type for a in found.values()} == {"table"}
        assert (found["t.lock"].type_name, found["t.lock"].hot) == ("pthread_mutex_t", ((BSS + 64, BSS + 80),))

    def test_a_member_of_an_element_has_its_index(self) -> None:
        b = Builder()
        threads(b, "worker")
        pair = b.struct("pair", 16, ("key", 0, b.base("int", 4)), ("value", 8, b.base("long", 8)))
        b.function("worker").rmw("ps+0x18", 8, loop=1).load("ps+0x20", 4, loop=1)
        b.variable("ps", 64, type=b.array(pair, 4))
        assert set(actors(b)) == {"ps[1].value", "ps[2].key"}

    def test_a_computed_index_keeps_the_stride(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").access(AccessKind.RMW, "slots", 8, loop=1, stride=16)
        b.variable("slots", 128)
        (slots,) = actors(b).values()
        assert {a.stride for a in slots.accesses} == {16}

    def test_an_array_of_locks_keeps_the_stride(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", Element("shards", 40), loop=1)
        b.variable("shards", 640, type=b.array(b.struct("pthread_mutex_t", 40, ("w", 0, b.base("int", 4))), 16))
        (lock,) = actors(b).values()
        assert (lock.name, lock.stride, lock.count) == ("shards[0]", 40, 16)
        assert {a.stride for a in lock.lockers} == {40}

    def test_volatile_members_say_so(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("stop", 4, loop=1)
        b.variable("stop", 4, type=b.volatile(b.base("int", 4)))
        assert actors(b)["stop"].is_volatile

    def test_declared_alignment_is_the_types(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("slot", 8, loop=1)
        row = b.struct("Slot", 64, ("n", 0, b.base("long", 8)), align=64)
        b.variable("slot", 64, type=row)
        assert actors(b)["slot.n"].alignment == 64

    def test_source_and_language(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("hits", 8, loop=1)
        b.variable("hits", 8, unit=b.unit("C++17"), line=12)
        found = actors(b)["hits"]
        assert (found.source, found.language) == ("program.c:12", "C++17")


class TestUntyped:
    def test_touched_ranges_are_actors(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("blob", 8, loop=1).load("blob+0x4", 8, loop=1).store("blob+0x40", 4, loop=1)
        b.variable("blob", 128)
        assert {name: a.span for name, a in actors(b).items()} == {
            "blob": (BSS, BSS + 12),
            "blob+0x40": (BSS + 0x40, BSS + 0x44),
        }

    def test_small_variables_are_one(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("pair", 4, loop=1).store("pair+4", 4, loop=1)
        b.variable("pair", 8)
        assert {name: a.span for name, a in actors(b).items()} == {"pair": (BSS, BSS + 8)}

    def test_no_range_reaches_over_the_end_of_its_variable(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("blob+0x38", 64, loop=1)
        b.variable("blob", 64)
        assert [a.span for a in actors(b).values()] == [(BSS + 0x38, BSS + 0x40)]

    def test_an_inferred_size_is_marked(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("guess", 8, loop=1)
        b.variable("guess", 64, flags=VariableFlag.SIZE_INFERRED)
        assert not actors(b)["guess"].sized


class TestRoles:
    @pytest.mark.parametrize(
        ("statements", "role"),
        [
            ([(AccessKind.LOAD, 1, 0)], Role.CONSTANT),
            ([(AccessKind.STORE, 1, 0)], Role.WRITTEN),
            ([(AccessKind.RMW, 1, 0)], Role.COUNTER),
            ([(AccessKind.RMW, 1, SiteFlag.ATOMIC)], Role.ATOMIC),
            ([(AccessKind.STORE, 0, 0), (AccessKind.LOAD, 2, 0)], Role.READ_MOSTLY),
            ([(AccessKind.STORE, 1, 0), (AccessKind.LOAD, 1, 0)], Role.WRITTEN),
        ],
    )
    def test_by_use(self, statements: list[tuple[AccessKind, int, int]], role: Role) -> None:
        b = Builder()
        threads(b, "worker")
        body = b.function("worker")
        for kind, loop, flags in statements:
            body.access(kind, "word", 8, loop=loop, flags=flags)
        b.variable("word", 8)
        assert actors(b)["word"].role is role

    @pytest.mark.parametrize(
        ("type_name", "role"),
        [("list_head", Role.LIST_HEAD), ("atomic_t", Role.ATOMIC), ("std::atomic<int>", Role.ATOMIC)],
    )
    def test_by_type(self, type_name: str, role: Role) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("head", 8, loop=1)
        b.variable("head", 8, type=b.struct(type_name, 8, ("next", 0, b.base("long", 8)), kind=TypeKind.STRUCT))
        (found,) = actors(b).values()
        assert found.role is role

    @pytest.mark.parametrize(("kind", "role"), [(AccessKind.LOAD, Role.CONSTANT), (AccessKind.RMW, Role.ATOMIC)])
    def test_an_atomic_that_nobody_writes_is_a_setting(self, kind: AccessKind, role: Role) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").access(kind, "limit", 8, loop=1)
        b.variable("limit", 8, type=b.struct("std::atomic<long>", 8, ("_M_i", 0, b.base("long", 8))))
        assert actors(b)["limit"].role is role


class TestHelpers:
    """A counter that a helper of a thread's loop changes: does the helper return to the loop soon after it?"""

    def callers(self, *calls: str, before: bool = False, again: bool = False, rarity: int = 0) -> tuple[bool, bool]:
        b = Builder()
        b.variable("hits", 8)
        b.variable("switch", 8)
        threads(b, "worker")
        b.function("worker").call("helper", loop=1).load("switch", loop=1)
        helper = b.function("helper")
        helper = helper if before else helper.rmw("hits")
        for call in calls:
            helper = helper.call(call, rarity=rarity)
        if before or again:
            helper.rmw("hits")
        b.function("leaf")
        b.function("deep").call("leaf")
        hits = actors(b)["hits"]
        return "worker" in hits.callers, "worker" in hits.late_callers

    def test_a_helper_that_goes_on_with_the_work_returns_late(self) -> None:
        assert self.callers("deep") == (True, True)
        assert self.callers("pthread_mutex_lock") == (True, True)
        assert self.callers("leaf", "deep") == (True, True)

    def test_a_helper_that_is_over_soon_does_not(self) -> None:
        assert self.callers() == (True, False)
        assert self.callers("leaf") == (True, False)
        assert self.callers("deep", before=True) == (True, False)
        assert self.callers("deep", again=True) == (True, False), "as a count of readers does, who leave"
        assert self.callers("deep", rarity=20) == (True, False), "seldom"


class TestGuards:
    def guarded(self, b: Builder) -> frozenset[str]:
        b.variable("lock", 40)
        b.variable("hits", 8)
        return actors(b)["hits"].guards

    def test_a_function_that_takes_a_lock_guards_what_it_touches(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", "lock").rmw("hits", loop=1).call("pthread_mutex_unlock", "lock")
        assert self.guarded(b) == {"lock"}

    def test_a_helper_runs_under_its_callers_lock(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", "lock").call("middle")
        b.function("middle").call("bump")
        b.function("bump").rmw("hits", loop=1)
        assert self.guarded(b) == {"lock"}

    def test_a_caller_before_the_first_thread_does_not_count(self) -> None:
        b = Builder()
        b.function("main").call("fill").call("pthread_create", None, None, "worker")
        b.function("fill").call("bump")
        b.function("worker").call("pthread_mutex_lock", "lock").call("bump")
        b.function("bump").rmw("hits", loop=1)
        assert self.guarded(b) == {"lock"}

    @pytest.mark.parametrize(("calls", "held"), [((None,), set()), (("bump",), set()), ((), {"lock"})])
    def test_one_caller_without_the_lock_is_enough_by_a_pointer_as_well(
        self, calls: list[None], held: set[str]
    ) -> None:
        b = Builder()
        threads(b, "worker", "other")
        b.function("worker").call("pthread_mutex_lock", "lock").call("bump").call(None)
        other = b.function("other")
        for callee in calls:
            other.call(callee)
        b.function("bump", FunctionFlag.ADDRESS_TAKEN).rmw("hits", loop=1)
        assert self.guarded(b) == held

    def test_releasing_alone_guards_nothing(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_unlock", "lock").rmw("hits", loop=1)
        assert self.guarded(b) == frozenset()

    def test_a_lock_behind_a_wrapper_guards(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("enter", "lock").rmw("hits", loop=1)
        b.function("enter").call("pthread_mutex_lock", Param(0))
        assert self.guarded(b) == {"lock"}

    def test_readers_may_be_optimistic(self) -> None:
        """Written under the lock, read without: only the writes are guarded."""
        b = Builder()
        threads(b, "writer", "reader")
        b.function("writer").call("pthread_mutex_lock", "lock").store("hits", 8, loop=1)
        b.function("reader").load("hits", 8, loop=3)
        b.variable("lock", 40), b.variable("hits", 8)
        found = actors(b)["hits"]
        assert found.guards == frozenset()
        assert found.write_guards == {"lock"}

    def test_callers_that_call_each_other_end(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", "lock").call("a")
        b.function("a").call("b")
        b.function("b").call("a").rmw("hits", loop=1)
        b.variable("lock", 40), b.variable("hits", 8)
        assert actors(b)["hits"].write_weight > 0


class TestHeat:
    def test_code_that_runs_once_is_cold(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("flag", 8)
        b.variable("flag", 8)
        assert actors(b)["flag"].heat is Heat.COLD

    def test_a_loop_warms_and_the_programs_own_scale_decides_what_is_hot(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("odd", 8, loop=2, rarity=10)
        b.variable("odd", 8)
        assert actors(b, ANY)["odd"].write_heat is Heat.HOT
        assert actors(b, Thresholds(9.0, 9.0, 9.0))["odd"].write_heat is Heat.WARM

    def test_plain_data_is_hot_among_all_that_is_written_and_what_is_shared_by_intent_among_its_like(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("busy", loop=2).call("rarely", loop=1)
        rarely = b.function("rarely").rmw("counted", flags=SiteFlag.ATOMIC)
        rarely.call("pthread_mutex_lock", "lock").store("guarded").call("pthread_mutex_unlock", "lock")
        b.variable("lock", 40), b.variable("counted", 8), b.variable("guarded", 8)
        busy = b.function("busy")
        for number in range(2 * numbers.HOT_RANK):
            busy.store(f"plain{number}", loop=1, rarity=number // 4)
            b.variable(f"plain{number}", 8)
        built = profiler(b)
        found = actors(b, correlate.thresholds(correlate.slots(built.accesses), built.image))
        hot = {name for name, a in found.items() if a.write_heat is Heat.HOT and not a.raised}
        assert {"counted", "guarded", "plain0"} <= hot
        assert found["plain59"].write_weight > found["guarded"].write_weight
        assert "plain59" not in hot

    def test_what_a_threads_own_loop_does_each_time_is_hot_whatever_its_rank(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("word", 8, loop=1)
        b.variable("word", 8)
        by_rank, raised = actors(b, ANY)["word"], actors(b, Thresholds(9.0, 9.0, 9.0))["word"]
        assert (by_rank.write_heat, by_rank.raised) == (Heat.HOT, False)
        assert (raised.write_heat, raised.raised) == (Heat.HOT, True)

    def test_what_two_kinds_of_threads_are_estimated_to_use_often_is_told_as_hot_and_graded_by_its_rank(self) -> None:
        b = Builder()
        threads(b, "worker", "other")
        b.function("worker").store("both", 8, loop=2, rarity=12).store("one", 8, loop=2, rarity=12)
        b.function("other").load("both", 8, loop=2, rarity=12)
        b.variable("both", 8), b.variable("one", 8)
        told = {name: (a.heat, a.told_heat) for name, a in actors(b, Thresholds(9.0, 9.0, 9.0)).items()}
        assert told == {"both": (Heat.WARM, Heat.HOT), "one": (Heat.WARM, Heat.WARM)}

    def test_writing_and_reading_are_ranked_apart(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").load("word", 8, loop=2)
        b.variable("word", 8)
        found = actors(b)["word"]
        assert (found.write_heat, found.read_heat) == (Heat.COLD, Heat.HOT)

    def test_an_access_through_a_pointer_or_to_some_element_counts_for_less(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("direct", 8, loop=1).call("put", "passed", loop=1)
        b.functions["worker"].access(AccessKind.STORE, "slots", 8, loop=1, stride=8)
        b.function("put").through(0, 0, AccessKind.STORE)
        for name in ("direct", "passed", "slots"):
            b.variable(name, 64)
        weight = {a.owner: a.write_weight for a in actors(b).values()}
        assert weight["direct"] == pytest.approx(10.0)
        assert weight["passed"] == pytest.approx(10.0 * numbers.VIA_CALL_WEIGHT)
        assert weight["slots"] == pytest.approx(10.0 * numbers.INDEXED_WEIGHT)
        assert 0 < weight["slots"] < weight["passed"] < weight["direct"]

    def test_what_no_thread_reaches_is_cold(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker")
        b.function("unused").store("word", 8, loop=3)
        b.variable("word", 8)
        assert actors(b)["word"].heat is Heat.COLD

    def test_many_users_outrank_one_deep_loop(self) -> None:
        assert correlate.score(100, 8) > correlate.score(1000, 1)


class TestLines:
    def test_actors_of_a_line_in_order_with_every_neighbour(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("second", 8, loop=1).store("first", 8, loop=1)
        b.variable("before", 64, BSS)
        b.variable("first", 8, BSS + 64)
        b.variable("silent", 8, BSS + 80)
        b.variable("second", 8, BSS + 112)
        b.variable("after", 8, BSS + 128)
        line = profiler(b).profile(BSS + 64, 64)
        assert [a.name for a in line.actors] == ["first", "second"]
        assert [n.name for n in line.neighbours] == ["first", "silent", "second"]

    def test_a_variable_that_starts_before_the_line_is_on_it(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("long+0x48", 8, loop=1)
        b.variable("long", 256, BSS)
        line = profiler(b).profile(BSS + 64, 64)
        assert [a.name for a in line.actors] == ["long+0x48"]
        assert [n.span for n in line.neighbours] == [(BSS, BSS + 256)]

    def test_a_lock_is_on_the_lines_of_its_hot_bytes_only(self) -> None:
        """40 bytes that start 24 before the boundary: the hot 16 and the read 4 stay on the first line."""
        b = Builder()
        threads(b, "worker")
        b.function("worker").call("pthread_mutex_lock", "lock", loop=1)
        b.variable("lock", 40, BSS + 40)
        built = profiler(b)
        assert [a.name for a in built.profile(BSS, 64).actors] == ["lock"]
        assert built.profile(BSS + 64, 64).actors == ()
        assert [n.name for n in built.profile(BSS + 64, 64).neighbours] == ["lock"]

    def test_an_empty_line_has_nobody(self) -> None:
        b = Builder()
        threads(b, "worker")
        b.function("worker").store("word", 8, loop=1)
        b.variable("word", 8)
        line = profiler(b).profile(BSS + 0x1000, 64)
        assert (line.actors, line.neighbours) == ((), ())
