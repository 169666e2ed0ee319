"""What is called through pointers under a lock is under it, where all such calls that may be of it are."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.image import read_images
from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.judge.passes import run_passes
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from tests.sharing.conftest import Compile

# A scheduler: its tasks are called under its lock, which some give back for what takes long.
TASKS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define APART __attribute__((noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long asked, ran, freely, behind, handed; /* expected: asked, ran and behind under the lock, freely not */
static APART void take(void) { if (pthread_mutex_lock(&lock)) _exit(1); }
static APART void give(void) { if (pthread_mutex_unlock(&lock)) _exit(1); }
static int ready_read(void) { asked++; return rand() > 3; }
static int ready_write(void) { asked += 2; return rand() > 5; }
static void run_read(void) { ran++; RELEASE; freely++; usleep(10); TAKE; behind++; }
static void run_write(void) { ran += 2; }
struct task { const char *name; int (*ready)(void); void (*run)(void); };
static const struct task tasks[] = {{"read", ready_read, run_read}, {"write", ready_write, run_write}, {0, 0, 0}};
const struct task *volatile first = tasks;
static void *worker(void *p) {
  pthread_mutex_lock(&lock);
  for (;;) {
    const struct task *task;
    for (task = first; task->name; task++)
      if (task->ready()) break;
    if (task->name) task->run();
    if (rand() == 7) break;
  }
  pthread_mutex_unlock(&lock);
  MORE
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""
DIRECT = {"RELEASE": "pthread_mutex_unlock(&lock)", "TAKE": "pthread_mutex_lock(&lock)"}
WRAPPED = {"RELEASE": "give()", "TAKE": "take()"}
CODE = pytest.mark.parametrize("flags", ["-O0", "-O2"])
TOOLS = pytest.mark.parametrize("compiler", ["gcc", "clang-19"])


def held(image: Image) -> set[str]:
    """The counters that are under the lock."""
    profiler = run_passes(image, default_knowledge(), lambda names: names).profiled().profiler
    actors = [actor for row in range(len(profiler.image.variables)) for actor in profiler.actors(row)]
    assert {"asked", "ran", "freely"} <= {actor.name for actor in actors}
    return {actor.name for actor in actors if "lock" in actor.guards} & {"asked", "ran", "freely", "behind"}


def text(more: str = "", calls: dict[str, str] = DIRECT) -> str:
    program = TASKS.replace("MORE", more)
    for name, call in calls.items():
        program = program.replace(f"{name};", f"{call};")
    return program


def built(compiled: Compile, compiler: str, flags: str, more: str = "", calls: dict[str, str] = DIRECT) -> Image:
    path = compiled(compiler, "c", text(more, calls), flags)
    return next(iter(read_images(str(path))))


def source(folder: Path, more: str = "", calls: dict[str, str] = DIRECT) -> Image:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.source import images, read_program

    (folder / "main.c").write_text(text(more, calls))
    options = CheckOptions(facts=FactsRequest(sources=(str(folder / "main.c"),), flags=("-O2",)))
    ((_, image),) = images(read_program(options), options, default_knowledge())
    return image


FREE = "for (const struct task *task = first; task->name; task++) task->ready();"
# A library calls what it is handed.
LIBRARY = "".join(f"atexit((void (*)(void)){name});" for name in ("ready_read", "ready_write", "run_read", "run_write"))


@CODE
@TOOLS
@pytest.mark.parametrize("calls", [DIRECT, WRAPPED], ids=["direct", "wrapped"])
def test_what_all_calls_of_a_table_hold_is_held_until_it_is_given_back(
    compiled: Compile, compiler: str, flags: str, calls: dict[str, str]
) -> None:
    assert held(built(compiled, compiler, flags, calls=calls)) == {"asked", "ran", "behind"}


@pytest.mark.parametrize("calls", [DIRECT, WRAPPED], ids=["direct", "wrapped"])
def test_so_it_is_in_source(tmp_path: Path, calls: dict[str, str]) -> None:
    assert held(source(tmp_path, calls=calls)) == {"asked", "ran", "behind"}


@CODE
@TOOLS
def test_one_call_without_the_lock_leaves_nothing(compiled: Compile, compiler: str, flags: str) -> None:
    assert "asked" not in held(built(compiled, compiler, flags, FREE))


def test_another_member_of_the_table_is_still_called_under_it(tmp_path: Path) -> None:
    assert held(source(tmp_path, FREE)) == {"ran", "behind"}


@TOOLS
def test_what_a_library_is_handed_may_be_called_without(compiled: Compile, compiler: str) -> None:
    assert not {"asked", "ran"} & held(built(compiled, compiler, "-O0", LIBRARY))


def test_so_may_it_in_source(tmp_path: Path) -> None:
    assert not {"asked", "ran"} & held(source(tmp_path, LIBRARY))


WAITS = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
#define APART __attribute__((noinline))
long asked, ran, freely;
static APART void take(void) { pthread_mutex_lock(&lock); }
static APART void give(void) { pthread_mutex_unlock(&lock); }
static APART void begin(void) { take(); }
static APART void wait(void) { while (asked < 5) pthread_cond_wait(&more, &lock); ran++; }
static APART void part(void) { wait(); pthread_cond_wait(&more, &lock); give(); freely++; take(); }
static void *worker(void *p) {
  for (;;) { begin(); asked++; part(); give(); }
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""


@CODE
@TOOLS
def test_a_function_that_waits_has_the_lock_from_its_caller(compiled: Compile, compiler: str, flags: str) -> None:
    """It neither takes the lock, nor gives back one that it has taken."""
    path = compiled(compiler, "c", WAITS, flags)
    assert held(next(iter(read_images(str(path))))) == {"asked", "ran"}


def test_a_function_that_leaves_a_lock_taken_that_nothing_gives_back_so_takes_none(compiled: Compile) -> None:
    """It is given back out of sight: what its caller does behind it is not under it."""
    out_of_sight = WAITS.replace("pthread_mutex_unlock(&lock)", "pthread_mutex_unlock(gone)")
    path = compiled(
        "gcc", "c", out_of_sight.replace("long asked", "pthread_mutex_t *volatile gone = &lock; long asked")
    )
    assert "asked" not in held(next(iter(read_images(str(path)))))


TRIES = """
#include <pthread.h>
#include <sched.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define APART __attribute__((noinline))
long asked, ran, freely;
static APART void take(void) { while (pthread_mutex_trylock(&lock)) sched_yield(); }
static void *worker(void *p) {
  for (;;) { take(); asked++; ran++; RELEASE; freely++; }
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""


@CODE
@TOOLS
def test_a_function_that_tries_until_it_has_the_lock_leaves_it_taken_for_who_releases_it(
    compiled: Compile, compiler: str, flags: str
) -> None:
    path = compiled(compiler, "c", TRIES.replace("RELEASE", "pthread_mutex_unlock(&lock)"), flags)
    assert held(next(iter(read_images(str(path))))) == {"asked", "ran"}


@TOOLS
def test_one_whose_caller_is_not_seen_to_release_it_leaves_nothing(compiled: Compile, compiler: str) -> None:
    gone = TRIES.replace("RELEASE", "pthread_mutex_unlock(gone)").replace(
        "long asked", "pthread_mutex_t *volatile gone = &lock; long asked"
    )
    assert not held(next(iter(read_images(str(compiled(compiler, "c", gone, "-O2"))))))


ANSWERED = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define APART __attribute__((noinline))
pthread_mutex_t *volatile gone = &lock;
long asked, freely, ran;
static APART void take(void) { pthread_mutex_lock(&lock); ran++; }
static APART void begin(void) { pthread_mutex_lock(&lock); freely++; }
static void *worker(void *p) {
  for (;;) { take(); asked++; pthread_mutex_unlock(&lock); }
  return p;
}
static void *other(void *p) {
  for (;;) { begin(); freely++; pthread_mutex_unlock(RELEASED); }
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, other, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""


@TOOLS
@pytest.mark.parametrize(("released", "under"), [("&lock", {"asked", "ran", "freely"}), ("gone", {"asked", "ran"})])
def test_each_function_that_leaves_a_lock_needs_a_caller_of_its_own_who_releases_it(
    compiled: Compile, compiler: str, released: str, under: set[str]
) -> None:
    path = compiled(compiler, "c", ANSWERED.replace("RELEASED", released), "-O2")
    assert held(next(iter(read_images(str(path))))) == under


WRAPPED_TYPE = """
#include <pthread.h>
#define APART __attribute__((noinline))
typedef struct { pthread_mutex_t m; void *psi; } mysql_mutex_t;
APART void psi_mutex_lock(mysql_mutex_t *that) { pthread_mutex_lock(&that->m); }
static mysql_mutex_t lock;
long asked, ran, freely; /* expected: asked under the lock where work() leaves it taken */
static APART void work(void *at) {
  mysql_mutex_t *of = at;
  psi_mutex_lock(of);
  RELEASE;
}
static void *worker(void *p) {
  for (;;) { work(&lock); asked++; AFTER; ran++; freely++; }
  return p;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""


@TOOLS
@pytest.mark.parametrize(
    ("inside", "behind", "under"),
    [("pthread_mutex_unlock(&of->m)", "", False), ("", "pthread_mutex_unlock(&lock.m)", True)],
)
def test_a_lock_taken_as_one_type_is_given_back_as_the_one_within_it(
    compiled: Compile, compiler: str, inside: str, behind: str, under: bool
) -> None:
    code = WRAPPED_TYPE.replace("RELEASE", inside).replace("AFTER", behind)
    assert ("asked" in held(next(iter(read_images(str(compiled(compiler, "c", code, "-O2"))))))) is under
