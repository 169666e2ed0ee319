"""What calls do to what they are given: locks taken through wrappers, bytes touched through pointers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.knowledge import Knowledge, LockRow, default_knowledge
from sharing.model import AccessKind, SiteFlag, Vocabulary
from sharing.static import flow, numbers
from sharing.static.flow import INIT, LOCK, UNLOCK
from tests.builders.image import AARCH64, Address, Builder, Element, Param

NAMES = {LOCK: "lock", UNLOCK: "unlock", INIT: "init"}


def events(b: Builder, knowledge: Knowledge | None = None) -> list[tuple[str, int, str, str]]:
    """(function, address, effect, lock type) of each event."""
    knowledge = knowledge or default_knowledge()
    image = b.image()
    return [
        (image.names[row["function"]], int(row["address"]), NAMES[int(row["effect"])], knowledge.locks[row["row"]].name)
        for row in flow.lock_events(image, knowledge)
    ]


class TestLockEvents:
    def test_taken_and_released_directly(self) -> None:
        b = Builder()
        lock = b.variable("lock", 40)
        b.function("f").call("pthread_mutex_init", "lock").call("pthread_mutex_lock", "lock")
        b.functions["f"].call("pthread_mutex_unlock", "lock").call("pthread_mutex_destroy", "lock")
        effects = ["init", "lock", "unlock", "init"]
        assert events(b) == [("f", lock, effect, "pthread_mutex_t") for effect in effects]

    def test_through_a_wrapper_that_adds_an_offset(self) -> None:
        """enter(&table) takes table.lock: the event is the caller's and names the lock, not the table."""
        b = Builder()
        table = b.variable("table", 128)
        b.function("f").call("enter", "table").call("leave", "table")
        b.function("enter").call("pthread_mutex_lock", Param(0, 24))
        b.function("leave").call("pthread_mutex_unlock", Param(0, 24))
        assert events(b) == [
            ("f", table + 24, "lock", "pthread_mutex_t"),
            ("f", table + 24, "unlock", "pthread_mutex_t"),
        ]

    def test_offsets_of_nested_wrappers_add_up(self) -> None:
        b = Builder()
        table = b.variable("table", 256)
        b.function("f").call("outer", None, "table")
        b.function("outer").call("inner", Param(1, 64))
        b.function("inner").call("pthread_rwlock_rdlock", Param(0, 8))
        assert events(b) == [("f", table + 72, "lock", "pthread_rwlock_t")]

    def test_a_wrapper_that_takes_and_then_releases_does_both(self) -> None:
        b = Builder()
        lock = b.variable("lock", 40)
        b.function("f").call("with_lock", "lock")
        b.function("with_lock").call("pthread_mutex_lock", Param(0)).call("pthread_mutex_unlock", Param(0))
        assert events(b) == [("f", lock, "lock", "pthread_mutex_t"), ("f", lock, "unlock", "pthread_mutex_t")]

    def test_one_that_releases_on_some_ways_alone_takes(self) -> None:
        b = Builder()
        lock = b.variable("lock", 40)
        b.function("f").call("enter", "lock")
        b.function("enter").call("pthread_mutex_lock", Param(0)).call("pthread_mutex_unlock", Param(0), rarity=4)
        assert events(b) == [("f", lock, "lock", "pthread_mutex_t")]

    def test_a_lock_and_its_condition_variable_behind_one_argument(self) -> None:
        b = Builder()
        queue = b.variable("queue", 88)
        b.function("f").call("wake", "queue")
        b.function("wake").call("pthread_cond_signal", Param(0, 40)).call("pthread_mutex_lock", Param(0))
        kinds = {(at, effect, kind) for _, at, effect, kind in events(b)}
        assert kinds == {(queue, "lock", "pthread_mutex_t"), (queue + 40, "lock", "pthread_cond_t")}

    def test_a_wrapper_that_takes_and_releases_takes(self) -> None:
        b = Builder()
        lock = b.variable("lock", 40)
        b.function("f").call("with_lock", "lock")
        b.function("with_lock").call("pthread_mutex_unlock", Param(0)).call("pthread_mutex_lock", Param(0))
        assert events(b) == [("f", lock, "lock", "pthread_mutex_t")]

    def test_waiting_takes_the_condition_and_its_mutex(self) -> None:
        b = Builder()
        condition, mutex = b.variable("condition", 48), b.variable("mutex", 40)
        b.function("f").call("pthread_cond_wait", "condition", "mutex")
        assert sorted(events(b)) == [
            ("f", condition, "lock", "pthread_cond_t"),
            ("f", mutex, "lock", "pthread_mutex_t"),
        ]

    def test_an_element_of_an_array_keeps_its_stride(self) -> None:
        b = Builder()
        b.variable("shards", 640)
        b.function("f").call("pthread_mutex_lock", Element("shards", 40), loop=2, rarity=3, order=5)
        (event,) = flow.lock_events(b.image(), default_knowledge())
        assert {k: int(event[k]) for k in ("stride", "loop_depth", "rarity", "order")} == {
            "stride": 40,
            "loop_depth": 2,
            "rarity": 3,
            "order": 5,
        }

    def test_a_lock_that_is_not_at_a_static_address_is_nobodys(self) -> None:
        b = Builder()
        b.function("f").call("pthread_mutex_lock", None).call("pthread_mutex_lock", 0x30000)
        b.function("g").call("pthread_mutex_lock", Param(0))
        assert events(b) == []

    def test_an_address_in_another_argument_is_no_lock(self) -> None:
        b = Builder()
        b.variable("deadline", 16)
        b.function("f").call("pthread_mutex_timedlock", None, "deadline")
        assert events(b) == []

    def test_constructors_of_guards_are_matched_by_pattern(self) -> None:
        b = Builder()
        lock = b.variable("lock", 40)
        b.function("f").call("_ZNSt10lock_guardISt5mutexEC2ERS0_", None, "lock")
        assert events(b) == [("f", lock, "lock", "std::mutex")]

    def test_a_project_names_its_own_lock(self) -> None:
        own = LockRow("Latch", lock=("latch_enter",), unlock=("latch_leave",))
        b = Builder()
        latch = b.variable("latch", 8)
        b.function("f").call("latch_enter", "latch").call("latch_leave", "latch")
        assert events(b, Knowledge(Vocabulary(lock=(own,)))) == [
            ("f", latch, "lock", "Latch"),
            ("f", latch, "unlock", "Latch"),
        ]

    def test_wrappers_that_call_each_other_end(self) -> None:
        b = Builder()
        b.variable("lock", 40)
        b.function("f").call("a", "lock")
        b.function("a").call("b", Param(0, 8))
        b.function("b").call("a", Param(0, 8)).call("pthread_mutex_lock", Param(0))
        assert ("f", "lock") in {(function, effect) for function, _, effect, _ in events(b)}


def through(b: Builder) -> list[tuple[str, int, int, str, int]]:
    """(caller, target, size, kind, loop depth) of accesses through arguments."""
    image = b.image()
    sites = flow.through_arguments(image)
    assert all(s["flags"] & SiteFlag.VIA_CALL for s in sites)
    return sorted(
        (
            image.names[s["function"]],
            int(s["target"]),
            int(s["size"]),
            AccessKind(int(s["kind"])).name,
            int(s["loop_depth"]),
        )
        for s in sites
    )


class TestThroughArguments:
    def test_the_callers_object_is_touched_by_the_caller(self) -> None:
        b = Builder()
        stats = b.variable("stats", 64)
        b.function("f").call("bump", "stats", loop=1)
        b.function("bump").through(0, 16, AccessKind.RMW, 8, loop=1).through(0, 24, AccessKind.LOAD, 4)
        assert through(b) == [("f", stats + 16, 8, "RMW", 2), ("f", stats + 24, 4, "LOAD", 1)]

    def test_what_the_callee_next_to_never_does_is_as_rare_for_the_caller(self) -> None:
        b = Builder()
        stats = b.variable("stats", 64)
        b.function("f").call("outer", "stats")
        b.function("outer").call("bump", Param(0))
        bump = b.function("bump").through(0, 16, AccessKind.RMW, rarity=40).through(0, 24, AccessKind.RMW)
        bump.through(0, 32, AccessKind.RMW, rarity=44).through(0, 32, AccessKind.RMW)
        rarity = {int(s["target"]) - stats: int(s["rarity"]) for s in flow.through_arguments(b.image())}
        assert rarity == {16: 40, 24: 0, 32: 0}

    def test_an_element_at_a_computed_index_stays_one(self) -> None:
        b = Builder()
        b.variable("stats", 256)
        b.function("f").call("bump", Element("stats", 32))
        b.function("bump").through(0, 8, AccessKind.RMW)
        (site,) = flow.through_arguments(b.image())
        assert site["stride"] == 32
        assert site["flags"] & SiteFlag.INDEXED

    def test_two_levels_add_their_offsets_and_loops(self) -> None:
        b = Builder()
        stats = b.variable("stats", 256)
        b.function("f").call("outer", "stats+8", loop=1)
        b.function("outer").call("middle", None, Param(0, 32), loop=1)
        b.function("middle").call("inner", Param(1, 64))
        b.function("inner").through(0, 4, AccessKind.STORE, 4, loop=1)
        assert through(b) == [("f", stats + 8 + 32 + 64 + 4, 4, "STORE", 3)]

    def test_what_is_passed_on_three_times_is_not_followed(self) -> None:
        b = Builder()
        b.variable("stats", 64)
        b.function("f").call("one", "stats")
        b.function("one").call("two", Param(0))
        b.function("two").call("three", Param(0))
        b.function("three").call("four", Param(0))
        b.function("four").through(0, 0, AccessKind.STORE)
        assert through(b) == []

    def test_another_argument_is_not_touched(self) -> None:
        b = Builder()
        b.variable("source", 8)
        target = b.variable("target", 8)
        b.function("f").call("put", "target", "source")
        b.function("put").through(0, 0, AccessKind.STORE)
        assert through(b) == [("f", target, 8, "STORE", 0)]

    def test_each_caller_has_its_own_object(self) -> None:
        b = Builder()
        first, second = b.variable("first", 8), b.variable("second", 8)
        b.function("f").call("put", "first")
        b.function("g").call("put", "second")
        b.function("put").through(0, 0, AccessKind.STORE)
        assert through(b) == [("f", first, 8, "STORE", 0), ("g", second, 8, "STORE", 0)]

    def test_recursion_ends(self) -> None:
        b = Builder()
        b.variable("list", 64)
        b.function("f").call("walk", "list")
        b.function("walk").call("walk", Param(0, 8)).through(0, 0, AccessKind.LOAD)
        found = through(b)
        assert 1 <= len(found) <= 1 + numbers.PARAM_ROUNDS

    def test_rarity_and_order_are_the_calls(self) -> None:
        b = Builder()
        b.variable("stats", 8)
        b.function("f").call("put", "stats", rarity=6, order=3)
        b.function("put").through(0, 0, AccessKind.STORE)
        (site,) = flow.through_arguments(b.image())
        assert (int(site["rarity"]), int(site["order"])) == (6, 3)

    def test_a_callee_with_endless_accesses_is_cut(self) -> None:
        b = Builder()
        b.variable("big", 8192)
        b.function("f").call("all", "big")
        body = b.function("all")
        for i in range(3 * flow.MAX_CALLEE_ROWS):
            body.through(0, 8 * i, AccessKind.STORE)
        assert len(through(b)) == flow.MAX_CALLEE_ROWS


class TestByName:
    @pytest.mark.parametrize(
        ("callee", "arguments", "kind", "size", "atomic"),
        [
            ("__atomic_fetch_add_8", ("value",), AccessKind.RMW, 8, True),
            ("__atomic_compare_exchange_16", ("value",), AccessKind.RMW, 16, True),
            ("__atomic_load_4", ("value",), AccessKind.LOAD, 4, True),
            ("__atomic_store_2", ("value",), AccessKind.STORE, 2, True),
            ("__sync_fetch_and_add_4", ("value",), AccessKind.RMW, 4, True),
            ("__aarch64_ldadd8_acq_rel", (None, "value"), AccessKind.RMW, 8, True),
            ("__aarch64_swp4_relax", (None, "value"), AccessKind.RMW, 4, True),
            ("__aarch64_cas1_acq", (None, None, "value"), AccessKind.RMW, 1, True),
            ("memset", ("value",), AccessKind.STORE, 1, False),
            ("memcpy", (None, "value"), AccessKind.LOAD, 1, False),
            ("memcpy", ("value", None), AccessKind.STORE, 1, False),
        ],
    )
    def test_library_functions(
        self, callee: str, arguments: Sequence[str | None], kind: AccessKind, size: int, atomic: bool
    ) -> None:
        b = Builder(arch=AARCH64)
        value = b.variable("value", 16)
        b.function("f").call(callee, *arguments, loop=1)
        (site,) = flow.by_name(b.image(), default_knowledge())
        assert (int(site["target"]), int(site["kind"]), int(site["size"])) == (value, kind, size)
        assert bool(site["flags"] & SiteFlag.ATOMIC) is atomic
        assert site["flags"] & SiteFlag.VIA_CALL
        assert int(site["loop_depth"]) == 1

    @pytest.mark.parametrize("callee", ["memcpy_to_socket", "memsets", "strlength", "my__atomic_fetch_add_8"])
    def test_names_that_merely_look_alike(self, callee: str) -> None:
        b = Builder()
        b.variable("value", 16)
        b.function("f").call(callee, "value", "value")
        assert not len(flow.by_name(b.image(), default_knowledge()))

    def test_generic_exchange_has_its_object_second(self) -> None:
        b = Builder()
        b.variable("local", 24)
        value = b.variable("value", 24)
        b.function("f").call("__atomic_exchange", 24, "value", "local")
        (site,) = flow.by_name(b.image(), default_knowledge())
        assert int(site["target"]) == value

    def test_only_static_addresses_count(self) -> None:
        b = Builder()
        b.function("f").call("__atomic_fetch_add_8", Param(0)).call("memset", None)
        assert not len(flow.by_name(b.image(), default_knowledge()))


def test_stripped_addresses_are_as_good_as_names() -> None:
    b = Builder()
    b.function("f").call("pthread_spin_lock", Address(0x30010))
    assert events(b) == [("f", 0x30010, "lock", "pthread_spinlock_t")]


KEYS = st.lists(st.integers(0, 12), max_size=40)


@given(KEYS, KEYS)
def test_join_pairs_equal_keys_like_two_loops_do(left: list[int], right: list[int]) -> None:
    rows, other = flow._join(np.array(left, np.int64), np.array(right, np.int64))
    expected = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    assert sorted(zip(rows.tolist(), other.tolist(), strict=True)) == expected
