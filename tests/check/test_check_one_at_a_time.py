"""Elements that no two threads use at once take no line from each other, however packed they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity
from sharing.rules.declaration import thread_elements

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
__attribute__((noinline)) long crunch(long x) { for (int i = 0; i < 20; i++) x = x * 2862933555L + 1; return x; }
%(slots)s
void *run(void *given) {
  for (long s = 1;;) { s = crunch(s); %(change)s; __asm__ volatile("" ::: "memory"); }
  return 0;
}
int main(void) {
  pthread_t t[4];
  %(starts)s
  return 0;
}
"""
START = "pthread_create(&t[%d], 0, run, 0);"
ONE = START % 0 + "pthread_join(t[0], 0);"
LATER = ONE + ONE
BOTH = START % 0 + START % 1 + "pthread_join(t[0], 0); pthread_join(t[1], 0);"
ATOMICS = "atomic_long slots[8] __attribute__((aligned(64)));"
NUMBERS = "long slots[8] __attribute__((aligned(64)));"
RECORDS = "_Thread_local int me; struct worker { long done; char name[56]; long failed; }; struct worker workers[4];"


def found(folder: Path, slots: str, change: str, starts: str, *, library: bool = False) -> dict[str, Severity]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / "one.c"
    text = PROGRAM % {"slots": slots, "change": change, "starts": starts}
    source.write_text(text.replace("int main", "int begin") if library else text)
    options = CheckOptions(
        facts=FactsRequest(sources=(str(source),), flags=("-O2",)), min_severity=Severity.NOTE, edits=False
    )
    return {one.rule: one.severity for one in check_program(read_program(options), options).findings}


@pytest.mark.parametrize(
    ("slots", "change"), [(ATOMICS, "atomic_fetch_add(&slots[s & 7], 1)"), (NUMBERS, "slots[s & 7]++")]
)
def test_an_array_whose_alignment_is_the_elements(tmp_path: Path, slots: str, change: str) -> None:
    rule = "array-aligned-not-element"
    assert rule not in found(tmp_path, slots, change, ONE)
    assert rule not in found(tmp_path, slots, change, LATER)
    assert rule in found(tmp_path, slots, change, BOTH)
    assert rule in found(tmp_path, slots, change, ONE, library=True)


def test_elements_of_threads_whose_ends_meet(tmp_path: Path) -> None:
    change = "workers[me].done++; workers[me].failed++"
    assert "thread-elements-meet" not in found(tmp_path, RECORDS, change, ONE)
    assert "thread-elements-meet" in found(tmp_path, RECORDS, change, BOTH)


def test_uses_that_say_the_same_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of functions that use the members of one record: what is asked does not grow with the pairs of them."""
    asked = 0
    share_of = thread_elements.share_of

    def counted(*about: object) -> float:
        nonlocal asked
        asked += 1
        return share_of(*about)  # type: ignore[arg-type]

    monkeypatch.setattr(thread_elements, "share_of", counted)
    work = "".join(
        f"__attribute__((noinline)) void f{n}(void) {{ for (int i = 0; i < 9; i++) {{ workers[me].done++; "
        "workers[me].failed++; } }\n"
        for n in range(60)
    )
    change = ";".join(f"f{n}()" for n in range(60))
    assert "thread-elements-meet" in found(tmp_path, RECORDS + work, change, BOTH)
    assert asked < 60


def test_a_second_thread_that_only_reads_elements(tmp_path: Path) -> None:
    watched = ATOMICS + "long sum; void *watch(void *p) { for (long i = 0;; i++) sum += slots[i & 7]; }"
    beside = ONE.replace("run, 0);", "run, 0); pthread_create(&t[1], 0, watch, 0);")
    assert "array-aligned-not-element" in found(tmp_path, watched, "slots[s & 7]++", beside)
