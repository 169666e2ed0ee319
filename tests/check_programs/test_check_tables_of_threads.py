"""A table to which only the object of one thread leads is that thread's: its elements are shared out among nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check_programs.conftest import severest

C = """\
#include <pthread.h>
#include <stdlib.h>
struct stat {{ unsigned long n, bytes; }};
struct worker {{ long id; struct stat *stats; }};
{apart}
static void add(struct stat *s, unsigned long b) {{ s->n++; s->bytes += b; }}
static void *run(void *arg) {{
  struct worker *w = arg;
  for (unsigned long i = 0;; i++) add(&w->stats[rand() % 8], i);
}}
int main(int argc, char **argv) {{
  int n = atoi(argv[1]);
  pthread_t threads[64];
  struct worker *each[64], *all = calloc(n, sizeof *all);
  {before}
  for (int i = 0; i < n; i++) {{ {start} }}
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
}}
"""
MAKE = """\
static struct worker *make(void) {
  struct worker *w = malloc(sizeof *w);
  w->stats = calloc(8, sizeof *w->stats);
  return w;
}
"""
SHARED = "struct stat *one = calloc(8, sizeof *one);"


@pytest.mark.parametrize(
    ("start", "before", "told"),
    [
        # What the loop allocates for the thread that it starts, and what another loop has made.
        (
            "struct worker *w = malloc(sizeof *w); w->stats = calloc(8, sizeof *w->stats);"
            " pthread_create(&threads[i], 0, run, w);",
            "",
            False,
        ),
        (
            "all[i].stats = calloc(8, sizeof *all[i].stats); pthread_create(&threads[i], 0, run, &all[i]);",
            "",
            False,
        ),
        ("pthread_create(&threads[i], 0, run, each[i]);", "for (int i = 0; i < n; i++) each[i] = make();", False),
        # One table that all are given, and one object that all are handed.
        (
            "struct worker *w = malloc(sizeof *w); w->stats = one; pthread_create(&threads[i], 0, run, w);",
            SHARED,
            True,
        ),
        ("all[i].stats = one; pthread_create(&threads[i], 0, run, &all[i]);", SHARED, True),
        (
            "pthread_create(&threads[i], 0, run, w);",
            "struct worker *w = malloc(sizeof *w); w->stats = calloc(8, sizeof *w->stats);",
            True,
        ),
    ],
)
def test_a_table_that_a_worker_leads_to(tmp_path: Path, start: str, before: str, told: bool) -> None:
    apart = MAKE if "make" in before else ""
    found = severest(tmp_path, C.format(start=start, before=before, apart=apart))
    assert ("packed-thread-slots" in found) is told, found


def test_a_table_that_a_variable_leads_to_as_well(tmp_path: Path) -> None:
    start = "all[i].stats = calloc(8, sizeof *all[i].stats); pthread_create(&threads[i], 0, run, &all[i]);"
    apart = "static struct stat *last;\nstruct stat *told(void) { return last; }"
    assert "packed-thread-slots" in severest(tmp_path, C.format(start=start, before="", apart=apart))


CXX = """\
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>
struct Stat {{ unsigned long n, bytes; void add(unsigned long b) {{ n++; bytes += b; }} }};
struct Worker {{
  long id;
  std::vector<Stat> stats = std::vector<Stat>(8);
  {member}
  void loop() {{ for (unsigned long i = 0;; i++) stats[rand() % 8].add(i); }}
}};
[[maybe_unused]] static void run(Worker *w) {{ w->loop(); }}
int main(int, char **argv) {{
  int n = atoi(argv[1]);
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Worker>> all;
  {before}
  for (int i = 0; i < n; i++) {{ {start} }}
  for (auto &one : threads) one.join();
}}
"""
ADD = "all.push_back(std::make_unique<Worker>());"
OWN = "std::thread thread; void start() { thread = std::thread(&Worker::loop, this); }"
SPAWN = "std::vector<std::thread> more; void start() { more.emplace_back(&Worker::loop, this); }"


@pytest.mark.parametrize(
    ("start", "before", "member", "told"),
    [
        (f"{ADD} threads.emplace_back(run, all.back().get());", "", "", False),
        (
            "auto w = std::make_unique<Worker>(); threads.emplace_back(run, w.get()); all.push_back(std::move(w));",
            "",
            "",
            False,
        ),
        (f"{ADD} threads.emplace_back([w = all[i].get()] {{ run(w); }});", "", "", False),
        (f"{ADD} all.back()->start();", "", OWN, False),
        # One worker for all of the threads.
        ("threads.emplace_back(run, w.get());", "auto w = std::make_unique<Worker>();", "", True),
        ("w->start();", "auto w = std::make_unique<Worker>();", SPAWN, True),
    ],
)
def test_a_table_of_a_worker_of_cpp(tmp_path: Path, start: str, before: str, member: str, told: bool) -> None:
    found = severest(tmp_path, CXX.format(start=start, before=before, member=member), "cc")
    assert ("packed-thread-slots" in found) is told, found


JOBS = """\
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
struct Job {{ int id; long input; long result; }};
std::mutex lock;
std::vector<std::shared_ptr<Job>> todo, done;
static void work() {{
  for (;;) {{
    std::shared_ptr<Job> j;
    {{
      std::lock_guard<std::mutex> held(lock);
      if (todo.empty()) continue;
      j = todo.back();
      todo.pop_back();
    }}
    for (int i = 0; i < 1000; i++) j->result += i;
  }}
}}
int main() {{
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(work);
  {first}
  for (int i = 0;; i++) {{
    {make}
    j->id = i;
    std::lock_guard<std::mutex> held(lock);
    todo.push_back(j);
  }}
}}
"""


@pytest.mark.parametrize(
    ("make", "first", "told"),
    [
        ("auto j = std::make_shared<Job>();", "", False),
        ("std::shared_ptr<Job> j(new Job);", "", False),
        # The near misses: it is one that others have already.
        ("auto j = std::make_shared<Job>(); if (!done.empty()) j = done[i % done.size()];", "", True),
        ("", "auto j = std::make_shared<Job>();", True),
    ],
)
def test_what_a_smart_pointer_has_made(tmp_path: Path, make: str, first: str, told: bool) -> None:
    found = severest(tmp_path, JOBS.format(make=make, first=first), "cc")
    assert ("independent-writers" in found) is told, found


NUMBERED = """\
#include <pthread.h>
#include <stdlib.h>
struct stat {{ unsigned long n, bytes; }};
struct worker {{ long id; struct stat *stats; char pad[48]; }};
static struct worker all[64] __attribute__((aligned(64)));
static void add(struct stat *s, unsigned long b) {{ s->n++; s->bytes += b; }}
static void *run(void *arg) {{
  struct worker *w = {own};
  for (unsigned long i = 0;; i++) {{ add(&w->stats[rand() % 8], i); {more} }}
}}
int main(int argc, char **argv) {{
  int n = atoi(argv[1]);
  pthread_t threads[64];
  struct stat *one = calloc(8, sizeof *one);
  for (long i = 0; i < n; i++) all[i].stats = {table};
  for (long i = 0; i < n; i++) pthread_create(&threads[i], 0, run, {handed});
  for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
}}
"""
EACH = "calloc(8, sizeof(struct stat))"
STEAL = "if (!w->stats[0].n) add(&all[rand() % 64].stats[0], i);"


@pytest.mark.parametrize(
    ("own", "handed", "table", "more", "told"),
    [
        ("arg", "&all[i]", EACH, "", False),
        ("&all[(long)arg]", "(void *)i", EACH, "", False),
        # The near misses: one table for all, and threads that change those of others.
        ("&all[(long)arg]", "(void *)i", "one", "", True),
        ("&all[(long)arg]", "(void *)i", EACH, STEAL, True),
        ("arg", "&all[i]", EACH, STEAL, True),
    ],
)
def test_a_table_of_an_element(tmp_path: Path, own: str, handed: str, table: str, more: str, told: bool) -> None:
    found = severest(tmp_path, NUMBERED.format(own=own, handed=handed, table=table, more=more))
    assert ("packed-thread-slots" in found) is told, found
