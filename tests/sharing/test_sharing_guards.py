"""Locks that accesses are under without source: by the order of calls in a function, and by where it is called."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.judge.passes import run_passes
from sharing.knowledge import default_knowledge
from sharing.static.guards import MAX_USES
from tests.builders.image import Body, Builder, Param, threads
from tests.sharing.conftest import Compile


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


def test_a_release_of_an_unknown_lock_may_be_of_this_one() -> None:
    b, worker = program()
    take(worker).call("pthread_mutex_unlock", None).store("data")
    assert guards(b) == set()
    b, worker = program()
    take(worker).store("data").call("pthread_mutex_unlock", None)
    assert guards(b) == {"lock"}


def test_a_release_of_an_argument_may_be_of_this_one() -> None:
    b, worker = program()
    take(worker).call("pthread_mutex_unlock", Param(0)).store("data")
    assert guards(b) == set()


def test_a_wrapper_that_releases_an_unknown_lock_may_release_this_one() -> None:
    b, worker = program()
    take(worker).call("release", None).store("data")
    b.function("release").call("pthread_mutex_unlock", Param(0, 8))
    b.function("elsewhere").call("release", "other")
    assert guards(b) == set()


def test_an_unknown_lock_of_another_kind_is_not_this_one() -> None:
    b, worker = program()
    take(worker).call("pthread_rwlock_unlock", None).store("data")
    assert guards(b) == {"lock"}


def test_an_unknown_lock_that_was_taken_before_is_what_is_released() -> None:
    b, worker = program()
    take(worker).call("pthread_mutex_lock", None).call("pthread_mutex_unlock", None).store("data")
    assert guards(b) == {"lock"}
    b, worker = program()  # one within the other
    nested = take(worker).call("pthread_mutex_lock", None).call("pthread_mutex_lock", None)
    nested.call("pthread_mutex_unlock", None).call("pthread_mutex_unlock", None).store("data")
    assert guards(b) == {"lock"}


def test_what_was_taken_is_released_but_once() -> None:
    b, worker = program()
    take(worker.call("pthread_mutex_lock", None).call("pthread_mutex_unlock", None))
    worker.call("pthread_mutex_unlock", None).store("data")
    assert guards(b) == set()


def test_to_wait_takes_nothing_that_could_be_released_instead() -> None:
    b, worker = program()
    take(worker).call("pthread_cond_wait", None, None).call("pthread_mutex_unlock", None).store("data")
    assert guards(b) == set()


def test_an_unknown_release_on_an_arm_that_returns_keeps_the_lock_on_the_other() -> None:
    b, worker = program()
    take(worker).call("pthread_mutex_unlock", None, order=1).store("data", order=2)
    b.arms["worker"] = (1, 2)
    assert guards(b) == {"lock"}


COMPILED = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
struct guard { pthread_mutex_t *held; };
long under, behind;
void touch(struct guard *);
static void *worker(void *of) {
  for (;;) {
    struct guard mine = {&lock};
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&lock);
    under++;
    touch(&mine); /* may change which lock it is */
    pthread_mutex_unlock(RELEASED);
    behind++;
  }
  return of;
}
#ifdef __GNUC__
__attribute__((noinline, noclone))
#endif
void touch(struct guard *at) { __asm__ volatile("" : : "r"(at) : "memory"); }
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
@pytest.mark.parametrize(
    ("released", "behind"),
    [("mine.held", set()), ("&lock", {"other"}), ("&other", {"lock"})],
    ids=["unknown", "this", "another"],
)
def test_in_compiled_code_only_what_is_certain_is_held(
    compiled: Compile, compiler: str, level: str, released: str, behind: set[str]
) -> None:
    path = compiled(compiler, "c", COMPILED, level, f"-DRELEASED={released}")
    image = next(iter(read_images(str(path))))
    profiler = run_passes(image, default_knowledge(), lambda names: names).profiled().profiler
    held = {a.name: set(a.guards) for row in range(len(profiler.image.variables)) for a in profiler.actors(row)}
    assert (held["under"], held["behind"]) == ({"lock", "other"}, behind)


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


def test_what_a_function_does_itself_is_not_under_the_lock_that_its_callee_takes_and_releases() -> None:
    b, worker = program()
    worker.call("serve", "lock")
    b.function("serve").call("look_up", Param(0)).store("data")
    take_and_release(b.function("look_up"))
    assert guards(b) == set()


def test_what_a_function_calls_is_under_the_lock_that_it_takes_and_releases() -> None:
    b, worker = program()
    worker.call("look_up", "lock")
    take_and_release(b.function("look_up"), "find")
    b.function("find").store("data")
    assert guards(b) == {"lock"}


def take_and_release(body: Body, between: str = "") -> None:
    """Of the lock that the function is handed."""
    body.call("pthread_mutex_lock", Param(0))
    if between:
        body.call(between)
    body.call("pthread_mutex_unlock", Param(0))


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


SCOPED = """
#include <mutex>
#include <thread>
static std::mutex lock, other;
long under, behind;
static void work() {
  for (;;) {
    { std::SCOPE<std::mutex> hold(lock); under++; RELEASED; }
    behind++;
    std::lock_guard<std::mutex> rest(other);
  }
}
int main() { std::thread one(work), two(work); one.join(); two.join(); }
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("scope", ["lock_guard", "unique_lock", "scoped_lock"])
def test_a_guard_that_is_no_inlined_code_releases_what_it_holds(compiled: Compile, compiler: str, scope: str) -> None:
    """Its destructor is handed the guard alone, and not the lock."""
    released = "hold.unlock()" if scope == "unique_lock" else ""
    path = compiled(compiler, "cc", SCOPED, "-O0", "-std=c++17", f"-DSCOPE={scope}", f"-DRELEASED={released}")
    image = next(iter(read_images(str(path))))
    profiler = run_passes(image, default_knowledge(), lambda names: names).profiled().profiler
    held = {a.name: set(a.guards) for row in range(len(profiler.image.variables)) for a in profiler.actors(row)}
    assert (held["under"], held["behind"]) == ({"lock"}, set())
