"""Programs that leave functions to code which is not seen: whether that starts threads is unknown where it matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report, Severity

SPAWNING = """
#include <stdatomic.h>
#include <stdlib.h>
void zenith_spawn(void (*)(void *), void *); int zenith_run(void); int zenith_next(void);
static atomic_long served, posted;
static void serve(void *of) { (void)of; SERVE }
static void post(void *of) { (void)of; POST }
static int order(const void *a, const void *b) { served++; posted--; return *(const char *)a - *(const char *)b; }
static void leave(void) { posted = served; }
int main(int n, char **v) { HAND; return zenith_run() + n + !v; }
"""
LIVES = {"SERVE": "for (;;) served++;", "POST": "while (zenith_next()) posted++;"}
HANDED = "zenith_spawn(serve, 0); zenith_spawn(post, 0)"

DERIVED = """
#include <atomic>
namespace zenith {
BASE
void loop();
}
static std::atomic<long> served{0}, posted{0};
struct Server : zenith::Task { void work() override { SERVE } };
struct Poster : zenith::Task { void work() override { POST } };
int main() { Server s; Poster p; s.start(); p.start(); zenith::loop(); }
"""
UNSEEN = "struct Task { virtual ~Task(); void start(); virtual void work() = 0; };"
SEEN = """struct Task { virtual ~Task() {} void start(); virtual void work() = 0; };
  inline void Task::start() { work(); }"""


HANDING = """
#include <algorithm>
#include <functional>
#include <vector>
namespace zenith {
struct Pool {
  void post(std::function<void()> task);
  template <class F> void run(F task) { post(task); }
};
bool loop();
}
static long served, posted;
static bool less(int a, int b) { while (a--) served++; while (b--) posted++; return a < b; }
int main(int n, char **) {
  zenith::Pool pool;
  std::vector<int> numbers(n);
  std::vector<std::function<void()>> own;
  auto serve = [] { while (zenith::loop()) served++; };
  auto post = [] { while (zenith::loop()) posted++; };
  HAND
  return zenith::loop();
}
"""


def check(folder: Path, text: str, words: dict[str, str], suffix: str = "c", *, assume: bool = False) -> Report:
    for word, value in words.items():
        text = text.replace(word, value)
    source = folder / f"program.{suffix}"
    source.write_text(text)
    flags = ["-O2", "-std=c++17"] if suffix == "cc" else ["-O2"]
    return api.check([source], flags=flags, config=False, assume_threads=assume, min_severity=Severity.LOW)


def unknown(report: Report) -> list[str]:
    return [note for note in report.coverage.notes if note.startswith("thread structure unknown")]


def test_functions_that_live_are_perhaps_entries_of_threads(tmp_path: Path) -> None:
    report = check(tmp_path, SPAWNING, {"HAND": HANDED} | LIVES)
    assert report.incomplete
    (note,) = unknown(report)
    assert "zenith_spawn, which is not in this source and is handed" in note
    assert "1 finding would be above a note" in note
    judged = check(tmp_path, SPAWNING, {"HAND": HANDED} | LIVES, assume=True)
    assert [one.severity for one in judged.findings] == [Severity.MEDIUM]
    assert not judged.incomplete


@pytest.mark.parametrize(
    ("hand", "serve", "post"),
    [
        # What is called back and answers is busy on no thread of its own.
        (HANDED, "served++;", "posted++;"),
        # What lives uses the same of both, or nothing that others use.
        (HANDED, "long own = 0; for (;;) own += zenith_next();", "while (zenith_next()) posted++;"),
        # The C library calls back whom it is handed to.
        ("qsort(v[0], n, 1, order); atexit(leave)", LIVES["SERVE"], LIVES["POST"]),
    ],
)
def test_what_makes_no_difference_is_not_unknown(tmp_path: Path, hand: str, serve: str, post: str) -> None:
    report = check(tmp_path, SPAWNING, {"HAND": hand, "SERVE": serve, "POST": post})
    assert not report.incomplete
    assert not unknown(report)
    assert any("only declarations were judged" in note for note in report.coverage.notes)


def test_so_are_functions_that_override_those_of_a_class_of_others(tmp_path: Path) -> None:
    words = {"BASE": UNSEEN, "SERVE": "for (;;) served++;", "POST": "for (;;) posted++;"}
    report = check(tmp_path, DERIVED, words, "cc")
    assert report.incomplete
    (note,) = unknown(report)
    assert "zenith::Task, which is not in this source and has its virtual function overridden by Server::work" in note
    judged = check(tmp_path, DERIVED, words, "cc", assume=True)
    assert [one.severity for one in judged.findings] == [Severity.MEDIUM]


@pytest.mark.parametrize(
    ("base", "serve"), [(SEEN, "for (;;) served++;"), (UNSEEN, "served++;")], ids=["called here", "answers"]
)
def test_who_calls_them_here_starts_none(tmp_path: Path, base: str, serve: str) -> None:
    report = check(tmp_path, DERIVED, {"BASE": base, "SERVE": serve, "POST": "posted++;"}, "cc")
    assert not report.incomplete
    assert not unknown(report)


@pytest.mark.parametrize(
    ("hand", "seen"),
    [
        ("pool.post(serve); pool.post(post);", False),
        ("pool.run(serve); pool.run(post);", False),
        ("own.push_back(serve); own.emplace_back(post); for (auto &one : own) one();", True),
        (
            "std::sort(numbers.begin(), numbers.end(), less); std::for_each(own.begin(), own.end(), [](auto &) {});",
            True,
        ),
    ],
)
def test_so_are_lambdas_that_others_are_handed_but_the_standard_library(tmp_path: Path, hand: str, seen: bool) -> None:
    report = check(tmp_path, HANDING, {"HAND": hand}, "cc")
    assert [bool(unknown(report)), report.incomplete] == [not seen] * 2
