"""What gcc sets aside as seldom run makes nothing busy in a stripped file, and nothing else busier."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import pytest

from linemate import api
from sharing.judge.static import Judgement, JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag, SiteFlag
from tests.builders.image import BSS, Builder
from tests.sharing.conftest import Compile

# The worker reads the mode in each round; what another function changes on the same line is seldom if that one is.
PROGRAM = """
#include <pthread.h>
#include <unistd.h>
struct { long mode, changes; } shared __attribute__((aligned(64)));
__attribute__((ATTRIBUTES)) static void change(int fd) {
  __atomic_fetch_add(&shared.changes, 1, __ATOMIC_RELAXED);
  char b[4] = {0};
  write(fd, b, 4);
  read(fd, b, 4);
}
static void *work(void *p) {
  char b[64];
  for (long n; (n = read((int)(long)p, b, 64)) > 0;) {
    if (b[0] == 3) change(3);
    for (int i = 0; i < n; i++) b[i] ^= shared.mode;
    if (write(3, b, n) != n) break;
  }
  return 0;
}
int main(int argc, char **argv) {
  pthread_t t[2];
  shared.mode = argc;
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
"""


def worst(compiled: Compile, attributes: str, *flags: str) -> str:
    report = api.audit(str(compiled("gcc", "c", PROGRAM.replace("ATTRIBUTES", attributes), "-w", *flags)))
    return min((f.severity for f in report.findings), key=["high", "medium", "low", "note"].index, default="none")


@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("strip", [(), ("-s",)])
def test_a_function_that_is_declared_cold_makes_nothing_busy(
    compiled: Compile, level: str, strip: tuple[str, ...]
) -> None:
    assert worst(compiled, "cold, noinline", level, *strip) in ("note", "none")


@pytest.mark.parametrize("level", ["-O2", "-O3"])
def test_the_same_function_among_all_others_does(compiled: Compile, level: str) -> None:
    assert worst(compiled, "noinline", level, "-s") in ("low", "medium", "high")


def marked(names: Iterable[str]) -> Judgement:
    """Counters of one function each, which two kinds of threads call in a loop; these functions are set aside.

    The threads' own pair is used by their entries alone, and less often than these.
    """
    b = Builder()
    main = b.function("main")
    for at, (thread, word) in enumerate((("left", "mine"), ("right", "theirs"))):
        main.call("pthread_create", None, None, thread)
        b.variable(word, 8, BSS + at * 8)
        body = b.function(thread).rmw(word, loop=1, flags=SiteFlag.ATOMIC)
        for number in range(40):
            body.call(f"count_{number}", loop=1)
    for number in range(40):
        b.variable(f"word_{number}", 8, BSS + 1024 + number * 64)
        b.function(f"count_{number}").rmw(f"word_{number}", loop=1, flags=SiteFlag.ATOMIC)
    image = b.image()
    functions = image.functions.copy()
    wanted = set(names)
    rows = [at for at, name in enumerate(functions["name"].tolist()) if name >= 0 and image.names[name] in wanted]
    assert len(rows) == len(wanted)
    functions["flags"][rows] |= np.uint32(FunctionFlag.ASIDE)
    return judge(dataclasses.replace(image, functions=functions), JudgeOptions(64, 128), default_knowledge())


def graded(judgement: Judgement) -> list[tuple[str, str]]:
    """What is said of the threads' own pair, and how severe it is."""
    own = (f for f in judgement.findings if {p.name for p in f.participants} == {"mine", "theirs"})
    return sorted((finding.rule, finding.severity.value) for finding in own)


def heat(judgement: Judgement, number: int) -> str:
    return judgement.heat(BSS + 1024 + number * 64, 0).name


def test_with_less_of_some_nothing_else_is_hotter() -> None:
    """The threads' own pair would be, by its rank, if the rank were one among what is left."""
    before, after = marked(()), marked(f"count_{number}" for number in range(39))
    assert graded(after) == graded(before) != []
    assert heat(before, 3) == "HOT"
    assert heat(after, 3) != "HOT"


def test_a_threads_entry_is_no_less_busy_for_being_seldom_started() -> None:
    assert graded(marked(("left", "right"))) == graded(marked(()))
