"""Locks that accesses are under without source: by the order of calls in a function, and by where it is called."""

from __future__ import annotations

from sharing.judge.passes import run_passes
from sharing.knowledge import default_knowledge
from sharing.static.guards import MAX_USES
from tests.builders.image import Body, Builder, threads


def program() -> tuple[Builder, Body]:
    b = Builder()
    b.variable("lock", 40), b.variable("other", 40), b.variable("data", 8)
    threads(b, "worker")
    return b, b.function("worker")


def take(body: Body, lock: str = "lock", **where: int) -> Body:
    return body.call("pthread_mutex_lock", lock, **where)


def release(body: Body, lock: str = "lock", **where: int) -> Body:
    return body.call("pthread_mutex_unlock", lock, **where)


def guards(b: Builder) -> set[str]:
    image = b.image()
    profiler = run_passes(image, default_knowledge(), lambda names: names).profiled().profiler
    (actor,) = profiler.within(b.variables["data"]["address"], 8)
    return set(actor.guards)


def test_what_lies_between_taking_and_releasing_is_under_the_lock() -> None:
    b, worker = program()
    release(take(worker).store("data"))
    assert guards(b) == {"lock"}


def test_what_lies_before_taking_or_behind_releasing_is_not() -> None:
    b, worker = program()
    release(take(worker.store("data")))
    assert guards(b) == set()
    b, worker = program()
    release(take(worker)).store("data")
    assert guards(b) == set()


def test_releasing_another_lock_keeps_this_one() -> None:
    b, worker = program()
    release(take(take(worker), "other"), "other").store("data")
    assert guards(b) == {"lock"}


def test_an_arm_that_releases_and_returns_keeps_the_lock_on_the_other() -> None:
    b, worker = program()
    release(take(worker), order=1).store("data", order=2)
    b.arms["worker"] = (1, 2)
    assert guards(b) == {"lock"}


def test_a_lock_that_is_taken_again_is_held() -> None:
    b, worker = program()
    take(release(take(worker))).store("data")
    assert guards(b) == {"lock"}


def test_a_helper_is_under_what_its_callers_hold_where_they_call_it() -> None:
    b, worker = program()
    release(take(worker).call("helper"))
    b.function("helper").store("data")
    assert guards(b) == {"lock"}


def test_a_helper_that_is_called_behind_releasing_too_is_not() -> None:
    b, worker = program()
    release(take(worker).call("helper")).call("helper")
    b.function("helper").store("data")
    assert guards(b) == set()


def test_a_call_before_the_first_thread_starts_needs_no_lock() -> None:
    b, worker = program()
    release(take(worker).call("helper"))
    b.function("helper").store("data")
    main = b.functions["main"]
    main.calls.clear()
    main.call("helper").call("pthread_create", None, None, "worker")
    assert guards(b) == {"lock"}


def test_in_a_function_of_very_many_uses_every_lock_is_held_all_through() -> None:
    """Each is compared with the others: a hostile file has as many as it likes."""
    b, worker = program()
    worker.store("data")
    for _ in range(MAX_USES):
        release(take(worker))
    assert guards(b) == {"lock"}
