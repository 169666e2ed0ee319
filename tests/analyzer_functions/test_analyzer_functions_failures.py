"""What source does where a call failed, or time ran out while it waited, is rare."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sharing.model.failures import Failure, failure_of
from tests.analyzer_functions.facts_in_words import read_unit, rows, tool

SELDOM = 40
USUAL_LIMIT = 16  # rarer than even by what a negative number, null and an early return say
TABLE = Path(__file__).resolve().parents[2] / "analyzer/src/function/Failures.cpp"

needs_tool = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")

PROGRAM = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
static int seen;
static pthread_mutex_t lock; static pthread_cond_t cond;
struct box { char *text; int fd; };
void *lookup(int); void use(void *); void *run(void *);
void f(int n, int time, const char *name, struct box *b, struct pollfd *fds, struct timespec *until,
       sem_t *sem) {
  %s
}
"""
FAILED = [
    "char *p = malloc(n); if (!p) { seen = 1; return; } use(p);",
    "char *p; if ((p = calloc(n, 2)) == NULL) seen = 1; else use(p);",
    "char *p = malloc(n), *q = malloc(n); if (!p || !q) seen = 1;",
    "char *p = malloc(n); use(b); if (p) use(p); else seen = 1;",
    "b->text = realloc(b->text, n); if (b->text == 0) seen = 1;",
    "for (int i = 0; i < n; i++) { char *p = malloc(n); if (!p) { seen = 1; continue; } use(p); }",
    "for (int i = 0; i < n; i++) { char *p = malloc(n); if (!p) { seen = 1; break; } use(p); }",
    "FILE *f = fopen(name, name); if (!f) seen = 1; else fclose(f);",
    "int fd = socket(AF_INET, SOCK_STREAM, 0); if (fd < 0) seen = 1;",
    "if ((b->fd = open(name, 0)) == -1) seen = 1;",
    "void *p = mmap(0, n, 1, 2, -1, 0); if (p == MAP_FAILED) seen = 1;",
    "int two[2]; if (pipe(two)) seen = 1;",
    "pthread_t t; int e = pthread_create(&t, 0, run, 0); if (e != 0) seen = 1;",
    "struct epoll_event e; for (;;) if (epoll_wait(n, &e, 1, 250) == 0) seen = 1;",
    "for (;;) { int got = poll(fds, 1, 10); if (got <= 0) { seen = 1; continue; } use(fds); }",
    "int e = 0; while (!e) e = pthread_cond_timedwait(&cond, &lock, until); if (e == ETIMEDOUT) seen = 1;",
    "while (pthread_cond_timedwait(&cond, &lock, until) == ETIMEDOUT) seen = 1;",
    "if (write(time, name, n) != (ssize_t)n) seen = 1;",
    "for (;;) { ssize_t w = pwrite(n, b, sizeof *b, 0); if (w < (ssize_t)sizeof *b) { seen = 1; continue; } use(b); }",
    "if (fwrite(b, 1, n, (FILE *)b->text) == (size_t)n) use(b); else seen = 1;",
    "if (n && write(time, name, n) != n) seen = 1;",
    "for (; poll(fds, 1, 100) == 0;) seen = 1;",
    "while (n && poll(fds, 1, 100) == 0) seen = 1;",
    "for (;;) { if (sem_timedwait(sem, until) == 0) break; seen = 1; }",
]
OTHERWISE = [
    "char *p = lookup(n); if (!p) seen = 1;",
    "char *p = n > 3 ? malloc(n) : 0; if (!p) seen = 1;",
    "char *p = lookup(n); if (!p) p = malloc(n); use(p); p = lookup(3); if (!p) seen = 1;",
    "int got = read(n, b, 9); if (got < 0) seen = 1;",
    "if (accept(n, 0, 0) == -1) seen = 1;",
    "if (poll(fds, 1, 0) == 0) seen = 1;",
    "if (poll(fds, 1, time) == 0) seen = 1;",
    "if (poll(fds, 1, 10) < 0) seen = 1;",
    "if (pthread_mutex_trylock(&lock)) seen = 1;",
    "int fd = open(name, 0); if (fd == 0) seen = 1;",
    "char *p = malloc(n); if (p) seen = 1;",
    "while (pthread_cond_timedwait(&cond, &lock, until) == 0) seen = 1;",
    "while (pthread_cond_timedwait(&cond, &lock, until) == ETIMEDOUT) use(b); seen = 1;",
    "while (poll(fds, 1, 100) > 0) seen = 1;",
    "if (write(time, name, n) < 0) seen = 1;",
    "if (write(time, name, n) != time) seen = 1;",
    "if (write(time, name, n) == (ssize_t)n) seen = 1;",
    "if (read(time, b, n) != n) seen = 1;",
    "if (send(time, b, n, 0) != n) seen = 1;",
    "ssize_t w = write(time, b, n); w += read(time, b, n); if (w != n) seen = 1;",
    "ssize_t w = write(time, b, n); w = read(time, b, n); if (w != n) seen = 1;",
    "while (n-- || poll(fds, 1, 100) == 0) seen = 1;",
    "do seen = 1; while (poll(fds, 1, 100) == 0);",
    "b->text = malloc(n); b->text = lookup(n); if (b->text == 0) seen = 1;",
]
WAITS = """
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
static int seen; static bool ready;
void use(void *);
void f(std::condition_variable &c, std::unique_lock<std::mutex> &l, std::chrono::milliseconds t, unsigned n) { %s }
"""
WAITED = [
    ("if (c.wait_for(l, t) == std::cv_status::timeout) seen = 1;", True),
    ("if (!c.wait_for(l, t, [] { return ready; })) seen = 1;", True),
    ("if (c.wait_until(l, std::chrono::steady_clock::now() + t) != std::cv_status::no_timeout) seen = 1;", True),
    ("char *p = new (std::nothrow) char[n]; if (!p) seen = 1;", True),
    ("while (!c.wait_for(l, t, [] { return ready; })) seen = 1;", True),
    ("for (;;) { if (c.wait_for(l, t, [] { return ready; })) break; seen = 1; }", True),
    ("if (c.wait_for(l, t) == std::cv_status::no_timeout) seen = 1;", False),
    ("while (c.wait_for(l, t, [] { return ready; })) seen = 1;", False),
    ("while (!ready) { c.wait_for(l, t, [] { return ready; }); seen = 1; }", False),
    ("if (c.wait_for(l, t, [] { return ready; })) seen = 1;", False),
    ("char *p = new char[n]; use(p); if (!ready) seen = 1;", False),
]


def rarity(folder: Path, text: str, suffix: str = "c") -> int:
    """Of the access to the one variable that is looked for."""
    source = folder / f"unit.{suffix}"
    source.write_text(text)
    unit = read_unit(source, ["-std=c++17"] if suffix == "cpp" else [])
    (own,) = (body for name, body in unit.functions.items() if name == "f" or name.startswith("_Z1f"))
    found = [row[13] for row in rows(own.get("accesses", []), 16) if unit.symbol(row[1]).endswith("seen")]
    return int(found[0])


@needs_tool
@pytest.mark.parametrize("body", FAILED)
def test_where_a_call_failed_is_rare(tmp_path: Path, body: str) -> None:
    assert rarity(tmp_path, PROGRAM % body) >= SELDOM


@needs_tool
@pytest.mark.parametrize("body", OTHERWISE)
def test_where_a_call_only_said_no_is_not(tmp_path: Path, body: str) -> None:
    assert rarity(tmp_path, PROGRAM % body) <= USUAL_LIMIT


@needs_tool
@pytest.mark.parametrize(("body", "rare"), WAITED)
def test_what_cpp_waits_for_and_allocates(tmp_path: Path, body: str, rare: bool) -> None:
    assert (rarity(tmp_path, WAITS % body, "cpp") >= SELDOM) == rare


def test_source_and_binaries_know_the_same_functions() -> None:
    """Each of the table of source fails in the same way by the table of binaries, and there are as many."""
    text = TABLE.read_text()
    begin = text.index("Fails byName(")
    table = text[begin : text.index(".Default(Fails::Never)", begin)]
    ways = {"OnNull": Failure.NULL, "OnNegative": Failure.NEGATIVE, "OnNonzero": Failure.NONZERO}
    cases = re.findall(r"\.Cases\((.*?)Fails::(\w+)\)", table, re.DOTALL)
    known = {name: ways[way] for names, way in cases for name in re.findall(r'"(\w+)"', names)}
    assert {name: failure_of(name) & ~Failure.WAITS_UNTIL for name in known} == known
    from sharing.model import failures

    assert set(known) == failures._NULL | failures._NEGATIVE | failures._NONZERO


def test_functions_that_wait_for_milliseconds_and_operator_new() -> None:
    assert failure_of("write") == failure_of("fwrite") == Failure.SHORT
    assert failure_of("epoll_wait") == Failure.FOURTH_TIMES_OUT
    assert failure_of("poll") == Failure.THIRD_TIMES_OUT
    assert failure_of("_ZnwmRKSt9nothrow_t") == Failure.NULL
    assert not failure_of("_Znwm")  # throws
    assert not failure_of("read")
    assert not failure_of("pthread_mutex_trylock")
