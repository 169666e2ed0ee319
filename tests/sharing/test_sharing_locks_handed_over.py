"""What functions call that take a lock which all their callers hand them is under that lock, in source."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.judge.passes import run_passes
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError

PROGRAM = """
#include <pthread.h>
static pthread_mutex_t lock, other;
long inside, outside;
static void with(pthread_mutex_t *l, void (*f)(void *), void *arg) {
  pthread_mutex_lock(l);
  f(arg);
  pthread_mutex_unlock(l);
}
static void body(void *arg) { inside++; }
static void more(void *arg) { outside++; }
static void *worker(void *arg) {
  for (;;) { with(&lock, body, arg); more(arg); MORE; }
  return arg;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, worker, 0), pthread_create(&two, 0, worker, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return 0;
}
"""
LAMBDA = """
#include <mutex>
#include <thread>
static std::mutex lock, other;
long inside, outside;
template <class F> void with(std::mutex &l, F f) {
  std::lock_guard<std::mutex> guard(l);
  f();
}
static void worker() {
  auto body = [] { inside++; };
  for (;;) { with(lock, body); outside++; MORE; }
}
int main() {
  std::thread one(worker), two(worker);
  one.join(), two.join();
}
"""


def under_the_lock(folder: Path, text: str, more: str = "") -> set[str]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.source import images, read_program

    path = folder / ("main.c" if "pthread.h" in text else "main.cc")
    path.write_text(text.replace("MORE", more))
    options = CheckOptions(facts=FactsRequest(sources=(str(path),), flags=("-O2",)))
    ((_, image),) = images(read_program(options), options, default_knowledge())
    profiler = run_passes(image, default_knowledge(), lambda names: names).profiled().profiler
    actors = [actor for row in range(len(profiler.image.variables)) for actor in profiler.actors(row)]
    assert {"inside", "outside"} <= {actor.name for actor in actors}
    return {actor.name for actor in actors if "lock" in actor.guards} & {"inside", "outside"}


@pytest.mark.parametrize("text", [PROGRAM, LAMBDA], ids=["pointer", "lambda"])
def test_what_is_called_under_the_lock_that_all_hand_over_is_under_it(tmp_path: Path, text: str) -> None:
    assert under_the_lock(tmp_path, text) == {"inside"}


@pytest.mark.parametrize(("text", "call"), [(PROGRAM, "with(&other, body, arg)"), (LAMBDA, "with(other, body)")])
def test_what_is_called_under_another_lock_as_well_is_under_neither(tmp_path: Path, text: str, call: str) -> None:
    assert under_the_lock(tmp_path, text, call) == set()


@pytest.mark.parametrize(("text", "call"), [(PROGRAM, "body(arg)"), (LAMBDA, "body()")])
def test_so_is_what_is_called_without_a_lock_as_well(tmp_path: Path, text: str, call: str) -> None:
    assert under_the_lock(tmp_path, text, call) == set()
