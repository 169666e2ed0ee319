"""What a loop does that starts a thread each time around, and what a loop does that starts one now and then."""

from __future__ import annotations

import numpy as np
import pytest

from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.knowledge import default_knowledge
from sharing.model.image import AccessKind, FunctionFlag, Image
from sharing.static.startloops import with_rare_starts
from tests.builders.image import Builder
from tests.sharing.conftest import Compile

COMPILERS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")]

# The herd is let out, watched, and now and then a lost one replaced.
HERD = """
#include <poll.h>
#include <pthread.h>
long born, fed, watched, asked, replaced, named;
volatile int open_gate = 1, hungry;
pthread_t herd[64];
static void *graze(void *p) { while (open_gate) __sync_fetch_and_add((long *)p, 1); return 0; }
__attribute__((noinline)) int lost(int i) { return hungry == i * 7; }
__attribute__((noinline)) void brand(int i) { named += i; }
__attribute__((noinline)) int let_out(int n)
{
    for (int i = 0; i < n; i++) {
        if (pthread_create(&herd[i], 0, graze, &fed)) return -1;
        brand(i);
        born++;
    }
    while (open_gate) { watched++; poll(0, 0, 1); }
    return 0;
}
__attribute__((noinline)) void keep_up(int n)
{
    for (int i = 0; open_gate; i = (i + 1) % n) {
        asked++;
        if (lost(i)) { replaced++; pthread_create(&herd[i], 0, graze, &fed); }
    }
}
int main(int c, char **v) { let_out(c); keep_up(c); return 0; }
"""


def rarities(image: Image, *names: str) -> list[int]:
    """Of the writes of these variables, the least."""
    found = with_rare_starts(image, default_knowledge())
    address = {image.names[v["name"]]: v["address"] for v in image.variables if v["name"] >= 0}
    written = found.sites[np.isin(found.sites["kind"], (AccessKind.STORE, AccessKind.RMW))]
    return [int(written["rarity"][written["target"] == address[name]].min()) for name in names]


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_a_round_takes_as_long_as_the_start_of_a_thread(compiled: Compile, tool: str, level: str) -> None:
    image = next(read_images(str(compiled(tool, "c", HERD, level, "-fno-inline")), types=False))
    born, watched, asked, replaced = rarities(image, "born", "watched", "asked", "replaced")
    assert born >= SELDOM
    assert watched < SELDOM  # the next loop of the same function
    assert max(asked, replaced) < SELDOM  # a loop in which a start is the exception
    found = with_rare_starts(image, default_knowledge())
    names = [image.names[n] if n >= 0 else "" for n in image.functions["name"].tolist()]
    rows = np.searchsorted(image.functions["address"], found.calls["callee"])
    called = [names[row] if row < len(names) else "" for row in rows.tolist()]
    assert found.calls["rarity"][called.index("brand")] >= SELDOM
    assert found.calls["rarity"][called.index("lost")] < SELDOM


@pytest.mark.parametrize(
    ("wait", "rarity", "rare"),
    [("pthread_join", 0, True), ("pthread_join", 4, True), ("pthread_join", 16, False), ("usleep", 0, False)],
)
def test_what_waits_for_the_end_of_a_thread_runs_as_seldom(wait: str, rarity: int, rare: bool) -> None:
    """Not where it waits now and then, nor what its loops do and what it calls."""
    b = Builder()
    b.variable("stop", 8)
    stop = b.function("stop_it").store("stop").call("work").call(wait, rarity=rarity, order=2)
    stop.store("stop", loop=1, order=1)
    b.function("work").store("stop")
    image = b.image()
    found = with_rare_starts(image, default_knowledge())
    mine = found.sites[found.sites["function"] == found.sites["function"][found.sites["loop_depth"] > 0][0]]
    assert int(mine["rarity"][mine["loop_depth"] == 0][0] >= SELDOM) == rare
    assert mine["rarity"][mine["loop_depth"] > 0][0] == 0
    assert found.calls["rarity"][0] == image.calls["rarity"][0]


def test_a_program_that_starts_no_thread_is_left_alone() -> None:
    b = Builder()
    b.variable("count", 8)
    b.function("main").call("printf", loop=1).store("count", loop=1)
    image = b.image()
    assert with_rare_starts(image, default_knowledge()) is image


@pytest.mark.parametrize(("ways", "rare"), [((4, 4), True), ((4,), False), ((0,), True)])
def test_starts_on_all_ways_of_a_round_add_up(ways: tuple[int, ...], rare: bool) -> None:
    b = Builder()
    b.variable("count", 8)
    b.function("entry").store("count")
    body = b.function("main")
    for order, rarity in enumerate(ways, 1):
        body.call("pthread_create", None, None, "entry", None, loop=1, rarity=rarity, order=order)
    body.store("count", loop=1, order=len(ways) + 1)
    found = with_rare_starts(b.image(), default_knowledge())
    assert int(found.sites["rarity"][found.sites["loop_depth"] > 0][0] >= SELDOM) == rare


# A list of threads has room, or a function makes it longer and starts the thread there, on one of many ways.
LISTED = """
#include <pthread.h>
long begun, seen;
volatile int room, state;
static pthread_t one;
static void *graze(void *p) { while (state) __sync_fetch_and_add((long *)p, 1); return 0; }
__attribute__((noinline)) void grow(void)
{
    if (state & 1) { seen++; return; }
    if (state & 2) { seen++; return; }
    if (state & 4) { seen++; return; }
    if (state & 8) { seen++; return; }
    pthread_create(&one, 0, graze, &seen);
}
int main(int c, char **v)
{
    for (int i = 0; i < c; i++) {
        begun++;
        if (room) START else grow();
    }
    return 0;
}
"""


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_a_round_that_starts_a_thread_here_or_in_a_function_that_it_calls(
    compiled: Compile, tool: str, level: str
) -> None:
    direct = compiled(tool, "c", LISTED.replace("START", "pthread_create(&one, 0, graze, &seen);"), level)
    assert rarities(next(read_images(str(direct), types=False)), "begun")[0] >= SELDOM
    neither = compiled(tool, "c", LISTED.replace("START", "seen++;"), level)
    assert rarities(next(read_images(str(neither), types=False)), "begun")[0] < SELDOM


@pytest.mark.parametrize(
    ("calls", "loop", "flags", "often"),
    [
        (1, 0, 0, True),
        (2, 0, 0, False),  # it may start threads again
        (1, 1, 0, False),
        (1, 0, FunctionFlag.ADDRESS_TAKEN, False),  # anybody may call it
        (0, 0, 0, False),  # nor does main
    ],
)
def test_what_starts_threads_once_may_call_its_work(calls: int, loop: int, flags: FunctionFlag, often: bool) -> None:
    b = Builder()
    b.variable("count", 8)
    b.function("entry").store("count")
    b.function("work").store("count", loop=1)
    b.function("serve", flags).call("pthread_create", None, None, "entry", None).call("work").store("count")
    main = b.function("main").call("printf")
    for _ in range(calls):
        main.call("serve", loop=loop)
    image = b.image()
    found = with_rare_starts(image, default_knowledge())
    work = image.calls["callee"] == image.functions["address"][1]
    assert (int(found.calls["rarity"][work][0]) < SELDOM) == often
    stored = found.sites[(found.sites["function"] == 2) & (found.sites["kind"] == AccessKind.STORE)]
    assert int(stored["rarity"][0]) >= SELDOM  # once in the life of the program


@pytest.mark.parametrize(
    ("wait", "rarity", "rare"),
    [("pthread_join", 0, True), ("pthread_join", 16, False), ("usleep", 0, False)],
    ids=["each round", "now and then", "for time"],
)
def test_a_loop_has_as_many_rounds_as_threads_end_in_it(wait: str, rarity: int, rare: bool) -> None:
    b = Builder()
    b.variable("count", 8)
    main = b.function("main").store("count", loop=1, order=1).call(wait, loop=1, rarity=rarity, order=2)
    main.call("report", loop=1, order=3)
    b.function("report").store("count")
    b.function("serve").store("count", loop=1)
    found = with_rare_starts(b.image(), default_knowledge())
    stored = found.sites[found.sites["kind"] == AccessKind.STORE]
    seldom = dict(zip(stored["function"].tolist(), (stored["rarity"] >= SELDOM).tolist(), strict=True))
    assert seldom == {0: rare, 1: False, 2: False}
    waits, report = (found.calls["callee"] == found.calls["callee"][at] for at in (0, 1))
    assert int(found.calls["rarity"][waits][0]) == rarity  # who asks what a round waits for sees it as it was
    assert bool(found.calls["rarity"][report][0] >= SELDOM) == rare
