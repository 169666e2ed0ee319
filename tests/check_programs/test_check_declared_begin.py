"""Where the objects of a record begin that are variables which are declared so."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.finding import Severity

C = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct ring { atomic_long head; long pad[3]; atomic_long tail; long rest[REST]; };
static struct ring DECLARED;
static struct ring *ring;
static void *produce(void *given) { for (;;) ring->head++; return given; }
static void *consume(void *given) { for (;;) ring->tail++; return given; }
int main(void) {
  pthread_t first, second;
  ring = CHOSEN;
  pthread_create(&first, 0, produce, 0);
  pthread_create(&second, 0, consume, 0);
  pthread_join(first, 0);
  return 0;
}
"""
ALIGNED = "__attribute__((aligned(64)))"


@pytest.mark.parametrize(
    ("declared", "chosen", "rest", "known"),
    [
        (f"one {ALIGNED}", "&one", "3", True),
        (f"many[4] {ALIGNED}", "&many[1]", "3", True),
        (f"many[4] {ALIGNED}", "&many[1]", "1", False),  # elements of 48 bytes
        ("one", "&one", "3", False),
        (f"one {ALIGNED}", "rand() ? &one : malloc(sizeof one)", "3", False),
    ],
)
def test_declared(tmp_path: Path, declared: str, chosen: str, rest: str, known: bool) -> None:
    if tool_path("linemate-facts") is None:
        pytest.skip("linemate-facts is not built")
    source = tmp_path / "ring.c"
    source.write_text(C.replace("DECLARED", declared).replace("CHOSEN", chosen).replace("REST", rest))
    options = CheckOptions(facts=FactsRequest(sources=(str(source),)), min_severity=Severity.LOW)
    found = [one for one in check_program(read_program(options), options).findings if len(one.participants) > 1]
    name = "one" if chosen == "&one" else "struct ring"  # the only object, or one that stands for all
    assert {part.full_name for part in found[0].participants} >= {f"{name}.head", f"{name}.tail"}
    assert ("can start" not in found[0].message and "positions" not in found[0].message) is known
