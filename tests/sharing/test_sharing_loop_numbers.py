"""All of an outermost loop is numbered before what follows it, wherever the loop is left and whatever comes next."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.basics.ways import Mirrors
from tests.sharing.conftest import Compile

LOOPS = """
#include <stdio.h>
__attribute__((noinline)) void first_x(void) { puts("x"); }
__attribute__((noinline)) void first_y(void) { puts("y"); }
__attribute__((noinline)) void first_z(void) { puts("z"); }
__attribute__((noinline)) void second_b(void) { puts("b"); }
__attribute__((noinline)) void second_c(void) { puts("c"); }
__attribute__((noinline)) void third(void) { puts("third"); }
int main(void) {
  int c;
  while ((c = getchar()) != 'a') {
    switch (c) {
    case 'x': first_x(); break;
    case 'y': first_y(); if (getchar() == 'q') return 1; break;
    case 'z': first_z(); continue;
    }
  }
  while ((c = getchar()) != 'b')
    if (c == 'c') second_c(); else second_b();
  do third(); while (getchar() != 'd');
  return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
def test_calls_belong_to_the_loop_that_makes_them(compiled: Compile, tool: str, level: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", LOOPS, level)), types=False)
    names = {int(row["address"]): image.names[row["name"]] for row in image.functions}
    called = [names.get(int(callee), "") for callee in image.calls["callee"]]
    mirrors = Mirrors(image)
    loops: dict[str, set[int]] = {}
    orders: dict[str, list[tuple[int, int]]] = {}
    mirrored = mirrors.of(image.calls["function"], image.calls["order"])
    for name, call, loop, mirror in zip(called, image.calls, mirrors.loops(image.calls), mirrored, strict=True):
        if stem := next((stem for stem in ("first", "second", "third") if name.startswith(stem)), ""):
            loops.setdefault(stem, set()).add(int(loop))
            orders.setdefault(stem, []).append((int(call["order"]), int(mirror)))
    assert [len(found) for found in loops.values()] == [1, 1, 1]
    assert len(set.union(*loops.values())) == 3
    for earlier, later in (("first", "second"), ("second", "third")):
        for number in (0, 1):
            assert max(o[number] for o in orders[earlier]) < min(o[number] for o in orders[later])
