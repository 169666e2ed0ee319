"""A thread that waits in each round does nothing often where what wakes it is seldom done, and may where it is not."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

C = """
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
struct line { long bytes[8]; };
long served, written;
struct line between __attribute__((aligned(64)));
struct event { pthread_mutex_t m; pthread_cond_t c; int set; };
int stop, queued, paused, other, ready;
pthread_mutex_t m __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c __attribute__((aligned(64))) = PTHREAD_COND_INITIALIZER;
pthread_cond_t d __attribute__((aligned(64))) = PTHREAD_COND_INITIALIZER;
sem_t s __attribute__((aligned(64)));
struct event full __attribute__((aligned(64))) = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static void queue(void) {
  pthread_mutex_lock(&m);
  queued++;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
}
static void event_set(struct event *e) {
  pthread_mutex_lock(&e->m);
  e->set = 1;
  pthread_cond_broadcast(&e->c);
  pthread_mutex_unlock(&e->m);
}
static __attribute__((noinline)) void event_wait(struct event *e) {
  pthread_mutex_lock(&e->m);
  while (!e->set)
    pthread_cond_wait(&e->c, &e->m);
  e->set = 0;
  pthread_mutex_unlock(&e->m);
}
pthread_cond_t *volatile kept;
static __attribute__((noinline)) void lend(void) { kept = &c; }
static void *serve(void *p) {
  char b[64];
  while (read(0, b, 64) > 0) {
    served++;
    REQUEST
  }
  return p;
}
static void *helper(void *p) {
  HELPER
  return p;
}
static void *tick(void *p) {
  for (;;) {
    sleep(1);
    TICK
  }
  return p;
}
int main(int count, char **args) {
  pthread_t t[4];
  pthread_create(&t[0], 0, serve, 0);
  pthread_create(&t[1], 0, helper, 0);
  pthread_create(&t[2], 0, tick, 0);
  MAIN
  pthread_join(t[0], 0);
  queue();
  event_set(&full);
  sem_post(&s);
  pthread_cond_broadcast(&d);
  pthread_join(t[1], 0);
  return (int)(served + written + between.bytes[0]);
}
"""
ITEM = """for (;;) {
    pthread_mutex_lock(&m);
    while (!queued)
      pthread_cond_wait(&c, &m);
    queued--;
    pthread_mutex_unlock(&m);
    written += count_of(p);
  }"""
HEAD = "static long count_of(void *p) { return (long)p & 3; }\n"
EVENT = "for (;;) { event_wait(&full); written += (long)p; }"
POSTED = "for (;;) { sem_wait(&s); written += (long)p; }"
PAUSED = """for (;;) {
    pthread_mutex_lock(&m);
    while (paused)
      pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    written += (long)p;
  }"""
GATE = """pthread_mutex_lock(&m);
  while (!ready)
    pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  for (;;) { char b[64]; if (read(1, b, 64) <= 0) break; written += (long)p; }"""
BATCH = """for (;;) {
    pthread_mutex_lock(&m);
    while (!queued)
      pthread_cond_wait(&c, &m);
    queued--;
    pthread_mutex_unlock(&m);
    for (long i = 0; i < 100000000; i++) {
      written += i;
      __asm__ volatile("" ::: "memory");
    }
  }"""
TIMED = """for (;;) {
    struct timespec until = {0};
    pthread_mutex_lock(&m);
    while (!queued)
      pthread_cond_timedwait(&c, &m, &until);
    queued--;
    pthread_mutex_unlock(&m);
    written += (long)p;
  }"""
BOTH = """for (;;) {
    pthread_mutex_lock(&m);
    if ((long)p & written) {
      while (!other) pthread_cond_wait(&d, &m);
      other--;
    } else {
      while (!queued) pthread_cond_wait(&c, &m);
      queued--;
    }
    pthread_mutex_unlock(&m);
    written += (long)p;
  }"""
# What the helper does in a round, what is done for each request, once a second and by main.
SELDOM = {
    "an item that only main queues": (ITEM, "", "", "queue();"),
    "an item that comes each second": (ITEM, "", "queue();", ""),
    "an item in case of an error": (ITEM, 'if (b[0] == 1) { fprintf(stderr, "full"); queue(); }', "", ""),
    "an event that wrappers wait for and set": (EVENT, "", "event_set(&full);", ""),
    "a semaphore": (POSTED, "", "sem_post(&s);", ""),
    "an item, while another condition is signalled for each request": (
        ITEM,
        "pthread_cond_signal(&d);",
        "queue();",
        "",
    ),
    "an item that a thread queues that is woken each second itself": (
        ITEM,
        "",
        "event_set(&full);",
        "pthread_create(&t[3], 0, relay, 0);",
    ),
}
OFTEN = {
    "an item for each request": (ITEM, "queue();", "", ""),
    "an item that some requests queue, and the end": (ITEM, "if (b[0] == 'w') queue();", "queue();", "queue();"),
    "an event for each request": (EVENT, "event_set(&full);", "event_set(&full);", ""),
    "a semaphore for each request": (POSTED, "sem_post(&s);", "", ""),
    "a pause between rounds": (PAUSED, "", "paused = 0; pthread_cond_signal(&c);", ""),
    "a gate before the loop": (GATE, "", "", "ready = 1; pthread_cond_signal(&c);"),
    "a loop within the round": (BATCH, "", "queue();", ""),
    "an item that is queued without a signal": (TIMED, "queued++;", "", "queue();"),
    "one of two conditions": (BOTH, "other++; pthread_cond_signal(&d);", "queue();", ""),
    "a condition that a pointer leads to": (ITEM, "queued++; pthread_cond_signal(kept);", "", "lend();"),
}
RELAY = "static void *relay(void *p) { for (;;) { event_wait(&full); queue(); } return p; }\n"


def program(done: tuple[str, str, str, str]) -> str:
    helper, request, second, main = done
    text = C.replace("HELPER", helper).replace("REQUEST", request).replace("TICK", second).replace("MAIN", main)
    return text.replace("static void *serve", HEAD + RELAY + "static void *serve")


def severity(compiled: Compile, tool: str, done: tuple[str, str, str, str]) -> str:
    """Of the finding that has both counters."""
    report = api.audit(str(compiled(tool, "c", program(done), "-O2")))
    both = {"served", "written"}
    return next((f.severity for f in report.findings if both <= {p.name for p in f.participants}), "none")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("done", SELDOM.values(), ids=SELDOM)
def test_who_is_woken_seldom_does_nothing_often(compiled: Compile, tool: str, done: tuple[str, str, str, str]) -> None:
    assert severity(compiled, tool, done) in ("note", "none")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("done", OFTEN.values(), ids=OFTEN)
def test_who_may_be_woken_often_may_be_busy(compiled: Compile, tool: str, done: tuple[str, str, str, str]) -> None:
    assert severity(compiled, tool, done) in ("medium", "high")


STRIPPED = [(SELDOM["an event that wrappers wait for and set"], True), (OFTEN["an event for each request"], False)]


@pytest.mark.parametrize(("done", "seldom"), STRIPPED, ids=["seldom", "often"])
def test_stripped_code_says_the_same(compiled: Compile, done: tuple[str, str, str, str], *, seldom: bool) -> None:
    report = api.audit(str(compiled("gcc", "c", program(done), "-O2", "-s")))
    assert ({f.severity for f in report.findings} <= {"note"}) is seldom


CXX = """
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>
struct alignas(64) line { long bytes[8]; };
struct alignas(64) { long served, written; } counts;
class alignas(64) Queue {
  std::mutex m;
  std::condition_variable c;
  unsigned items = 0;

public:
  __attribute__((noinline)) void push() {
    { std::lock_guard<std::mutex> held(m); items++; }
    c.notify_one();
  }
  __attribute__((noinline)) void pop() {
    std::unique_lock<std::mutex> held(m);
    c.wait(held, [this] { return items != 0; });
    items--;
  }
};
Queue queue;
int main() {
  std::thread server([] {
    char b[64];
    while (read(0, b, 64) > 0) {
      counts.served++;
      REQUEST
    }
  });
  std::thread helper([] { for (;;) { queue.pop(); counts.written += getpid(); } });
  std::thread timer([] { for (;;) { sleep(1); TICK } });
  server.join();
  queue.push();
  helper.join();
}
"""


@pytest.mark.parametrize(("request_", "tick"), [("", "queue.push();"), ("queue.push();", "")], ids=["seldom", "often"])
def test_a_queue_is_known_through_its_methods(compiled: Compile, request_: str, tick: str) -> None:
    text = CXX.replace("REQUEST", request_).replace("TICK", tick)
    report = api.audit(str(compiled("g++", "cc", text, "-O2", "-std=c++17")))
    found = next((f.severity for f in report.findings if "counts" in {p.name for p in f.participants}), "none")
    assert (found in ("note", "none")) is (not request_)
