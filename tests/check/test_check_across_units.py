"""A pair of two files, which only the linker puts on one line: what a change in either of them leaves open."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

LIMITS = """unsigned long limit_bytes;
unsigned long limit_age;
void read_limits(int n) {
  limit_bytes = n;
  limit_age = 2 * n;
}
"""
PARTS = """#include <atomic>
#include <mutex>
struct alignas(64) Part { std::mutex lock; unsigned long bytes; };
extern Part parts[64];
extern std::atomic<bool> stop;
"""
QUEUE = """#include "parts.h"
#include <thread>
#include <vector>
extern unsigned long limit_bytes, limit_age;
void read_limits(int n);
std::atomic<unsigned long> ticket;
__attribute__((noinline)) unsigned long put(unsigned long bytes) {
  unsigned long number = ticket.fetch_add(1);
  std::lock_guard<std::mutex> guard(parts[number % 64].lock);
  parts[number % 64].bytes += bytes;
  return number;
}
__attribute__((noinline)) bool fits(unsigned long bytes, unsigned long age) {
  return bytes < limit_bytes && age < limit_age;
}
static void work() {
  for (unsigned long n = 0; !stop.load(std::memory_order_relaxed); n++)
    if (fits(n % 1000, n % 7))
      put(n);
}
int main(int argc, char **) {
  read_limits(argc);
  std::vector<std::thread> workers;
  for (int i = 0; i < argc + 1; i++)
    workers.emplace_back(work);
  for (auto &one : workers)
    one.join();
}
"""


@pytest.fixture
def base(project: Project) -> str:
    need_analyzer("g++")
    parts = '#include "parts.h"\nPart parts[64];\nstd::atomic<bool> stop;\n'
    commit = project.commit({"limits.cc": LIMITS, "queue.cc": QUEUE, "parts.h": PARTS, "parts.cc": parts})
    project.database("limits.cc", "queue.cc", "parts.cc", flags=("-O2", "-std=c++17", "-pthread"))
    return commit


def undecided(run: Run, base: str, *more: str) -> list[str]:
    notes = json.loads(run("check", "--base", base, "--format", "json", *more).out)["coverage"]["notes"]
    return [note for note in notes if note.startswith("undecided: ")]


def test_a_variable_added_to_one_of_the_two_files_leaves_the_pair_open(run: Run, project: Project, base: str) -> None:
    project.write({"limits.cc": "unsigned long limit_depth;\n" + LIMITS})
    (note,) = undecided(run, base)
    assert note.startswith("undecided: limits.cc adds limit_depth (+8 bytes), which may have moved")
    assert "ticket and limit_" in note
    assert "by where the linker puts the parts of their files" in note


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # Elsewhere: in .data, and nothing that is stored.
        ("limits.cc", "unsigned long limit_depth = 3;\n" + LIMITS),
        ("limits.cc", LIMITS + "unsigned long twice(unsigned long n) { return n * 2; }\n"),
        # A line of its own: no start of the parts brings it to others.
        (
            "queue.cc",
            "#include <cstddef>\n"
            + QUEUE.replace(
                "std::atomic<unsigned long> ticket;", "struct alignas(64) T { std::atomic<long> n; } ticket;"
            )
            .replace("ticket.fetch_add", "ticket.n.fetch_add")
            .replace("static void work", "long spare;\nstatic void work"),
        ),
    ],
)
def test_what_cannot_move_the_pair_leaves_nothing_open(
    run: Run, project: Project, base: str, name: str, text: str
) -> None:
    project.write({name: text})
    assert undecided(run, base) == []


def test_it_is_asked_for_by_how_bad_it_were(run: Run, project: Project, base: str) -> None:
    project.write({"limits.cc": "unsigned long limit_depth;\n" + LIMITS})
    assert len(undecided(run, base, "--min-severity", "medium")) == 1
    assert undecided(run, base, "--min-severity", "critical") == []


@pytest.mark.usefixtures("base")
@pytest.mark.parametrize(
    ("asked", "named"),
    [((), "queue.cc and 2 more sources"), (("queue.cc",), "queue.cc"), (("limits.cc", "parts.cc"), "")],
)
def test_the_heading_counts_the_sources_besides_the_one_that_it_names(
    run: Run, asked: tuple[str, ...], named: str
) -> None:
    heading = run("check", *asked, "--min-severity", "note").out.splitlines()[0]
    assert heading.rpartition("/")[2] == named if named else "source" not in heading
    assert (f"{named}`" if named else "") in run("check", *asked, "--format", "markdown").out


UNWRAPPED = """#include <pthread.h>
#include "stats.h"
static COUNTER hits, misses;
static void *hitter(void *p) { for (;;) atomic_fetch_add(&hits MEMBER, 1); return p; }
static void *misser(void *p) { for (;;) atomic_fetch_add(&misses MEMBER, 1); return p; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, hitter, 0);
  pthread_create(&b, 0, misser, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
"""
WRAPPED_H = """#include <stdatomic.h>
struct line { _Alignas(64) atomic_long n; };
#define COUNTER struct line
#define MEMBER .n
extern COUNTER drops;
"""
PLAIN_H = """#include <stdatomic.h>
#define COUNTER atomic_long
#define MEMBER
extern COUNTER drops;
"""
DROPS_C = '#include "stats.h"\nCOUNTER drops;\n'


@pytest.mark.parametrize(("before", "open_pairs"), [(WRAPPED_H, 0), (PLAIN_H, 1)], ids=["new", "known"])
def test_a_pair_that_is_new_is_not_left_open_as_well(run: Run, project: Project, before: str, open_pairs: int) -> None:
    need_analyzer("gcc")
    commit = project.commit({"main.c": UNWRAPPED, "stats.c": DROPS_C, "stats.h": before})
    project.database("main.c", "stats.c", flags=("-O2", "-pthread"))
    project.write({"stats.h": PLAIN_H, "stats.c": DROPS_C + "long limits[2];\n"})
    report = json.loads(run("check", "--base", commit, "--format", "json").out)
    assert [f["severity"] for f in report["findings"]] == ["high"] * (1 - open_pairs)
    assert len([note for note in report["coverage"]["notes"] if note.startswith("undecided: ")]) == open_pairs
