"""Tasks that are handed to the threads of a pool by a ring, a queue of ``std::function`` or handlers of a loop."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

HEAD = """
static struct { long in, out; char rest[112]; } pair __attribute__((aligned(64)));
static struct { volatile long in, out; char rest[112]; } lone __attribute__((aligned(64)));
#define COUNT(what) for (int i = 0; i < 1000; i++) __atomic_fetch_add(&pair.what, 1, __ATOMIC_RELAXED)
"""
RING = """
#include <pthread.h>
#include <stdlib.h>
struct task { void (*run)(void *); void *argument; };
struct ring { pthread_mutex_t lock; pthread_cond_t filled; unsigned head, tail; struct task slots[64]; };
static void *serve(void *argument) {
  struct ring *ring = argument;
  for (;;) {
    pthread_mutex_lock(&ring->lock);
    while (ring->head == ring->tail) pthread_cond_wait(&ring->filled, &ring->lock);
    struct task task = ring->slots[ring->head++ % 64];
    pthread_mutex_unlock(&ring->lock);
    task.run(task.argument);
  }
}
static void submit(struct ring *ring, void (*run)(void *), void *argument) {
  pthread_mutex_lock(&ring->lock);
  ring->slots[ring->tail++ % 64] = (struct task){run, argument};
  pthread_cond_signal(&ring->filled);
  pthread_mutex_unlock(&ring->lock);
}
static void count_in(void *unused) { COUNT(in); }
static void count_out(void *unused) { COUNT(out); }
int main(void) {
  struct ring *ring = calloc(1, sizeof *ring);
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&ids[i], 0, serve, ring);
  for (;;) {
    submit(ring, count_in, 0);
    submit(ring, count_out, 0);
    lone.in++;
    lone.out++;
  }
}
"""
QUEUE = """
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
class Pool {
  std::mutex lock;
  std::condition_variable filled;
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  void run() {
    for (;;) {
      std::unique_lock<std::mutex> held(lock);
      filled.wait(held, [this] { return !tasks.empty(); });
      auto task = std::move(tasks.front());
      tasks.pop_front();
      held.unlock();
      task();
    }
  }
public:
  Pool() { for (int i = 0; i < THREADS; i++) threads.emplace_back([this] { run(); }); }
  void submit(std::function<void()> task) {
    { std::lock_guard<std::mutex> held(lock); tasks.push_back(std::move(task)); }
    filled.notify_one();
  }
};
int main() {
  Pool pool;
  for (;;) {
    pool.submit([] { COUNT(in); });
    pool.submit([] { COUNT(out); });
    lone.in++;
    lone.out++;
  }
}
"""
HANDLERS = """
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
struct Operation { virtual void complete() = 0; Operation *next = nullptr; };
template <class F> struct Handler : Operation {
  F run;
  explicit Handler(F run) : run(run) {}
  void complete() override { F mine(run); delete this; mine(); }
};
static struct Context {
  std::mutex lock;
  std::condition_variable filled;
  Operation *head = nullptr, **tail = &head;
  template <class F> void post(F run) {
    Operation *made = new Handler<F>(run);
    { std::lock_guard<std::mutex> held(lock); *tail = made; tail = &made->next; }
    filled.notify_one();
  }
  void run() {
    for (;;) {
      std::unique_lock<std::mutex> held(lock);
      while (!head) filled.wait(held);
      Operation *first = head;
      if (!(head = first->next)) tail = &head;
      held.unlock();
      first->complete();
    }
  }
} context;
static void count_in() { COUNT(in); context.post(count_in); }
static void count_out() { COUNT(out); context.post(count_out); }
int main() {
  context.post([] { count_in(); });
  context.post([] { count_out(); });
  std::list<std::thread> threads;
  for (int i = 0; i < THREADS; i++) threads.emplace_back([] { context.run(); });
  for (;;) { lone.in++; lone.out++; }
}
"""
# Each round the workers fill queues of their own, and a helper runs what is in these until all are empty.
ROUNDS = """
#include <pthread.h>
#include <stdbool.h>
struct task { void (*run)(int first, int last); int first, last; };
struct queue { pthread_mutex_t lock; int count; struct task tasks[64]; } __attribute__((aligned(64)));
static struct queue queues[THREADS];
static pthread_barrier_t meeting;
static int limit = 3;
static void count_in(int first, int last) { for (int i = first; i < last; i++) __atomic_fetch_add(&pair.in, 1, 0); }
static void count_out(int first, int last) { for (int i = first; i < last; i++) __atomic_fetch_add(&pair.out, 1, 0); }
static void fill(struct queue *queue, void (*run)(int, int)) {
  pthread_mutex_lock(&queue->lock);
  for (int i = 0; i < 64; i++) queue->tasks[queue->count++] = (struct task){run, i * 100, i * 100 + 100};
  pthread_mutex_unlock(&queue->lock);
}
static bool take(struct queue *queue, struct task *task) {
  bool found = false;
  pthread_mutex_lock(&queue->lock);
  if (queue->count) *task = queue->tasks[--queue->count], found = true;
  pthread_mutex_unlock(&queue->lock);
  return found;
}
__attribute__((noinline)) static void work(int me) {
  struct task task;
  for (int i = 0; i < THREADS;) {
    if (!take(&queues[(me + i) % THREADS], &task)) {
      i++;
      continue;
    }
    RUN;
  }
}
static void *serve(void *given) {
  int me = (int)(long)given;
  for (int round = 0; round < 100000; round++) {
    fill(&queues[me], round & 1 ? count_out : count_in);
    pthread_barrier_wait(&meeting);
    work(me);
    pthread_barrier_wait(&meeting);
  }
  return 0;
}
int main(void) {
  pthread_t ids[THREADS];
  pthread_barrier_init(&meeting, 0, THREADS);
  for (long i = 0; i < THREADS; i++) pthread_create(&ids[i], 0, serve, (void *)i);
  for (;;) {
    lone.in++;
    lone.out++;
  }
}
"""
POOLS = {"ring": ("c", RING), "queue": ("c++", QUEUE), "handlers": ("c++", HANDLERS)}
TOOLS = {"c": ("gcc", "clang-19"), "c++": ("g++", "clang++-19")}
pools = pytest.mark.parametrize(("language", "text"), POOLS.values(), ids=POOLS)
tools = pytest.mark.parametrize("tool", [0, 1], ids=("gcc", "clang"))


def told(compiled: Compile, language: str, text: str, tool: int, threads: int) -> list[set[str]]:
    """Of each finding above a note, on whose lines it is."""
    flags = ("-O2", "-w", "-pthread", f"-DTHREADS={threads}")
    report = api.audit(str(compiled(TOOLS[language][tool], language, HEAD + text, *flags)))
    found = [f for f in report.findings if f.severity is not Severity.NOTE]
    return [{name for p in f.participants for name in ("pair", "lone") if p.name.startswith(name)} for f in found]


@pools
@tools
def test_tasks_of_several_threads_meet(compiled: Compile, language: str, text: str, tool: int) -> None:
    assert told(compiled, language, text, tool, 4).count({"pair"}) == 1


@pools
@tools
def test_what_main_alone_uses_meets_nothing(compiled: Compile, language: str, text: str, tool: int) -> None:
    assert not any("lone" in names for names in told(compiled, language, text, tool, 4))


@tools
def test_tasks_of_one_thread_do_not_meet(compiled: Compile, tool: int) -> None:
    text = RING.replace("for (int i = 0; i < THREADS; i++) pthread", "pthread").replace("ids[i]", "ids[0]")
    assert {"pair"} not in told(compiled, "c", text, tool, 1)


RUNS = "task.run(task.first, task.last)"
COMPLAINS = (
    "if (task.last < task.first) __builtin_unreachable(); if (task.first > limit) task.run(0, 0), __builtin_trap()"
)


@tools
def test_what_a_helper_of_the_loop_goes_round_to_run_are_tasks(compiled: Compile, tool: int) -> None:
    assert {"pair"} in told(compiled, "c", ROUNDS.replace("RUN;", f"{RUNS};"), tool, 4)


@tools
def test_not_what_it_calls_where_it_ends_the_program(compiled: Compile, tool: int) -> None:
    assert {"pair"} not in told(compiled, "c", ROUNDS.replace("RUN;", f"{COMPLAINS};"), tool, 4)
