"""A thread that one run starts at one of several places is one; at two places of one way, or in a loop, several."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag
from sharing.static import callgraph, numbers
from tests.builders.image import Builder
from tests.sharing.conftest import Compile

STARTS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_t handle;
static pthread_attr_t small;
#define RUNS(name) long name##_done; static void *name(void *n) { for (;;) name##_done += read(0, 0, 0); return n; }
RUNS(arm) RUNS(chosen) RUNS(deep) RUNS(below) RUNS(twice) RUNS(round_) RUNS(request) RUNS(either_and_more)
static __attribute__((noinline)) void spawn(void *(*entry)(void *), void *with) {
  if (pthread_create(&handle, with ? &small : 0, entry, with)) abort();
}
static __attribute__((noinline)) void open_deep(void) { spawn(deep, &small); }
static __attribute__((noinline)) void serve_local(void) { open_deep(); pause(); }
static void *control(void *n) { open_deep(); spawn(below, n); pause(); return n; }
static __attribute__((noinline)) void schedule(void *what) { spawn(control, what); pause(); }
static __attribute__((noinline)) void answer(int n) { if (n) spawn(request, 0); else spawn(request, &handle); }
int main(int n, char **v) {
  if (n > 1) spawn(arm, 0); else spawn(arm, v);
  switch (n) {
    case 3: spawn(chosen, 0); break;
    case 4: spawn(chosen, v); break;
    case 5: pthread_create(&handle, 0, chosen, v); break;
    default: break;
  }
  spawn(twice, 0);
  if (n > 2) spawn(twice, v);
  if (n > 6) spawn(either_and_more, 0); else spawn(either_and_more, v);
  spawn(either_and_more, v + 1);
  for (int i = 0; i < n; i++) if (v[i]) spawn(round_, 0); else spawn(round_, v);
  while (read(0, &n, 4) > 0) answer(n);
  if (n == 7) schedule(0); else if (n == 8) serve_local(); else schedule(v);
  return 0;
}
"""


@pytest.mark.parametrize(("tool", "level"), [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O2")])
def test_of_starts_that_no_way_comes_to_both_of_one_is_made(compiled: Compile, tool: str, level: str) -> None:
    image = next(read_images(str(compiled(tool, "c", STARTS, level, "-pthread")), types=False))
    found = {root.name: root.many for root in callgraph.build(image, default_knowledge()).roots}
    one = {name: found[name] for name in ("arm", "chosen", "control", "deep", "below")}
    assert one == dict.fromkeys(one, False)
    several = {name: found[name] for name in ("twice", "either_and_more", "round_", "request")}
    assert several == dict.fromkeys(several, True)


@pytest.mark.parametrize("handed", [False, True], ids=["in arms", "whom a call is handed, too"])
def test_a_function_that_others_may_call_starts_several(*, handed: bool) -> None:
    b = Builder()
    b.function("begin", flags=FunctionFlag.ADDRESS_TAKEN if handed else FunctionFlag(0)).call(
        "pthread_create", None, None, "worker"
    )
    b.function("worker", flags=FunctionFlag.ADDRESS_TAKEN)
    main = b.function("main").call("begin", order=1).call("begin", order=2)
    if handed:
        main.call("on_event", "begin", order=3)
    b.arms["main"] = (1, 2)
    assert started_often(b, "worker") is handed


@pytest.mark.parametrize(("most", "often"), [(2, False), (1, True)])
def test_of_more_ways_than_are_followed_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, *, most: int, often: bool
) -> None:
    monkeypatch.setattr(numbers, "START_WAYS", most)
    b = Builder()
    b.function("worker", flags=FunctionFlag.ADDRESS_TAKEN)
    starts = b.function("main").call("pthread_create", None, None, "worker", order=1)
    starts.call("pthread_create", None, None, "worker", order=2)
    b.arms["main"] = (1, 2)
    assert started_often(b, "worker") is often


def started_often(b: Builder, name: str) -> bool:
    return {root.name: root.many for root in callgraph.build(b.image(), default_knowledge()).roots}[name]
