"""What findings call a thing, by what code does to it: each word, and what is nearly that and is not called so."""

from __future__ import annotations

from dataclasses import replace

from sharing.model.profile import Access, Actor, Role
from sharing.rules.purposes import purpose


def access(function: str, does: str, weight: float = 100.0, **more: bool | int) -> Access:
    """``does`` has a letter of each: r reads, w writes, a atomically."""
    return Access(function, weight, 1, "w" in does, "r" in does, "a" in does, False, **more)  # type: ignore[arg-type]


def actor(name: str, role: Role, *accesses: Access, **more: object) -> Actor:
    owner = name.partition(".")[0]
    return replace(Actor(name, owner, (0, 64), (0, 8), ((0, 8),), role, accesses=accesses), **more)  # type: ignore[arg-type]


ADDED = access("serve", "rwa")


def test_what_is_only_added_to_and_reported_is_a_statistics_counter() -> None:
    assert purpose(actor("requests", Role.ATOMIC, ADDED)) == "statistics counter"
    assert purpose(actor("requests", Role.ATOMIC, ADDED, access("report", "r", 1.0))) == "statistics counter"
    assert purpose(actor("requests", Role.COUNTER, access("serve", "rw"))) == "statistics counter"


def test_what_decides_something_where_it_is_changed_is_none() -> None:
    assert purpose(actor("requests", Role.ATOMIC, ADDED, access("serve", "r"))) == "atomic"


def test_what_is_read_more_often_than_it_is_changed_is_none() -> None:
    assert purpose(actor("requests", Role.ATOMIC, ADDED, access("poll", "r", 1000.0))) == "atomic"


def test_what_is_stored_to_is_no_counter() -> None:
    assert purpose(actor("requests", Role.ATOMIC, ADDED, access("reset_each_round", "w"))) == "atomic"
    assert purpose(actor("requests", Role.ATOMIC, ADDED, access("reset", "w", cold=True))) == "statistics counter"


def test_a_state_that_is_made_of_what_it_was_is_no_statistics() -> None:
    assert purpose(actor("rng.state", Role.COUNTER, access("next", "rw"))) == "counter"


def test_names_tell_counts_of_references_and_of_events() -> None:
    assert purpose(actor("page.refs", Role.ATOMIC, ADDED)) == "reference count"
    assert purpose(actor("log.seq", Role.ATOMIC, ADDED)) == "sequence counter"
    assert purpose(actor("page.refs", Role.WRITTEN, access("clear", "w"))) == "written data"


def test_an_element_at_the_number_of_the_thread_is_its_slot() -> None:
    own = access("serve", "rw", own=True, stride=8)
    assert purpose(actor("hits", Role.COUNTER, own)) == "per-thread slot"
    assert purpose(actor("hits", Role.COUNTER, own, access("sweep", "rw", stride=8))) == "statistics counter"


def test_a_scalar_that_is_hardly_written_is_a_setting_and_a_table_is_none() -> None:
    read = access("serve", "r")
    assert purpose(actor("verbose", Role.READ_MOSTLY, read)) == "read-mostly setting"
    assert purpose(actor("table", Role.READ_MOSTLY, read, span=(0, 64))) == "read-mostly data"
    assert purpose(actor("handler", Role.READ_MOSTLY, read, type_name="void (*)(int)")) == "read-mostly data"


def test_what_loops_ask_for_again_is_polled_and_no_setting() -> None:
    polls = access("work", "r", loop_depth=1)
    flag = actor("fin", Role.READ_MOSTLY, polls, type_name="std::atomic<bool>")
    assert purpose(flag) == "flag that threads poll"
    assert purpose(actor("stop", Role.READ_MOSTLY, polls, type_name="int")) == "flag that threads poll"
    assert (
        purpose(actor("mode", Role.READ_MOSTLY, polls, type_name="int", is_volatile=True)) == "value that threads poll"
    )
    atomically = access("work", "ra", loop_depth=1)
    assert purpose(actor("mode", Role.READ_MOSTLY, atomically, type_name="int")) == "value that threads poll"


def test_what_a_loop_may_read_once_or_nobody_reads_in_one_is_a_setting() -> None:
    polls = access("work", "r", loop_depth=1)
    assert purpose(actor("verbose", Role.READ_MOSTLY, polls, type_name="bool")) == "read-mostly setting"
    assert purpose(actor("stop", Role.READ_MOSTLY, access("once", "r"), type_name="int")) == "read-mostly setting"
    seldom = access("report", "r", loop_depth=1, cold=True)
    assert purpose(actor("stop", Role.READ_MOSTLY, seldom, type_name="int")) == "read-mostly setting"
    assert purpose(actor("stop", Role.WRITTEN, polls, access("set", "w"), type_name="int")) == "written data"


def test_ends_are_of_one_record_and_moved_by_different_functions() -> None:
    head = actor("queue.head", Role.WRITTEN, access("pop", "rw"))
    tail = actor("queue.tail", Role.WRITTEN, access("push", "rw"))
    assert purpose(head, tail) == purpose(tail, head) == "end of a queue"
    assert purpose(head) == "written data"
    assert purpose(head, actor("other.tail", Role.WRITTEN, access("push", "rw"))) == "written data"
    assert purpose(head, actor("queue.tail", Role.WRITTEN, access("pop", "rw"))) == "written data"


def test_locks_and_lists_are_called_by_their_kind() -> None:
    assert purpose(actor("LOCK_open", Role.LOCK, kind="mutex")) == "mutex"
    assert purpose(actor("refs", Role.LIST_HEAD, ADDED)) == "list head"
