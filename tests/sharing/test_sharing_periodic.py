"""A thread that sleeps in every round of its loop, by whatever call, does nothing often; who waits for work may.

Nor does one do often what a clock allows once a second.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report
from tests.sharing.conftest import Compile

PROGRAM = """
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
long served, ticks;
int pipes[2], stop, queued, todo[16];
pthread_mutex_t m __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c __attribute__((aligned(64))) = PTHREAD_COND_INITIALIZER;
struct line { long bytes[8]; } between __attribute__((aligned(64)));
static void *serve(void *p) { char b[64]; while (read(pipes[0], b, 64) > 0) served++; return p; }
static void *tick(void *p) {
  struct timespec until = {0};
  struct epoll_event event;
  (void)until, (void)event;
  LOOP
  return p;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, serve, 0);
  pthread_create(&u, 0, tick, 0);
  pthread_join(t, 0);
  return (int)(served + ticks + between.bytes[0]);
}
"""
SLEEPS = {
    "nanosleep": "for (;;) { struct timespec t = {0, 10000000}; nanosleep(&t, 0); ticks++; }",
    "poll of no descriptors": "for (;;) { poll(0, 0, 100); ticks++; }",
    "select of no descriptors": "for (;;) { struct timeval t = {0, 50000}; select(0, 0, 0, 0, &t); ticks++; }",
    "a wait for a time at most": """
        pthread_mutex_lock(&m);
        while (!stop) {
          clock_gettime(CLOCK_REALTIME, &until);
          until.tv_sec++;
          pthread_cond_timedwait(&c, &m, &until);
          ticks++;
        }
        pthread_mutex_unlock(&m);""",
    "a clock's second": """
        for (time_t last = 0, now; read(pipes[1], &event, 8) > 0;) {
          todo[0]++;
          if ((now = time(0)) != last) { last = now; ticks++; }
        }""",
}
WAITS = {
    "poll of a descriptor": "for (;;) { struct pollfd f = {pipes[1], POLLIN, 0}; poll(&f, 1, 100); ticks++; }",
    "select of descriptors": "for (;;) { fd_set s; FD_ZERO(&s); FD_SET(0, &s); select(1, &s, 0, 0, 0); ticks++; }",
    "epoll_wait for a time at most": "for (;;) { epoll_wait(pipes[1], &event, 1, 100); ticks++; }",
    "a timer's descriptor": "for (long n; read(pipes[1], &n, sizeof n) > 0;) ticks++;",
    "a clock's nanosecond": """
        for (long last = 0; read(pipes[1], &event, 8) > 0;) {
          clock_gettime(CLOCK_REALTIME, &until);
          if (until.tv_nsec != last) { last = until.tv_nsec; ticks++; }
        }""",
    "epoll_wait": "for (;;) { epoll_wait(pipes[1], &event, 1, 1000); ticks++; }",
    "a wait for a time at most, and then all work": """
        pthread_mutex_lock(&m);
        for (;;) {
          pthread_cond_timedwait(&c, &m, &until);
          for (int i = 0; i < queued; i++) { todo[i] = 0; ticks++; __asm__ volatile("" ::: "memory"); }
        }""",
}

ITEM = """
        for (;;) {
          pthread_mutex_lock(&m);
          while (!queued) {
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec++;
            pthread_cond_timedwait(&c, &m, &until);
          }
          queued--;
          pthread_mutex_unlock(&m);
          ticks++;
        }"""


def of_both(report: Report) -> str:
    """The severity of the finding that has both counters."""
    both = {"served", "ticks"}
    return next((f.severity for f in report.findings if both <= {p.name for p in f.participants}), "none")


def severity(compiled: Compile, tool: str, loop: str) -> str:
    """Of the finding that has both counters."""
    report = api.audit(str(compiled(tool, "c", PROGRAM.replace("LOOP", loop), "-O2")))
    return of_both(report)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("loop", SLEEPS.values(), ids=SLEEPS)
def test_who_sleeps_each_time_around_does_nothing_often(compiled: Compile, tool: str, loop: str) -> None:
    assert severity(compiled, tool, loop) in ("note", "none")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("loop", WAITS.values(), ids=WAITS)
def test_who_waits_for_work_may_be_busy(compiled: Compile, tool: str, loop: str) -> None:
    assert severity(compiled, tool, loop) == "high"


@pytest.mark.parametrize("loop", [*SLEEPS.values(), *WAITS.values()], ids=[*SLEEPS, *WAITS])
def test_source_says_the_same(tmp_path: Path, loop: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM.replace("LOOP", loop))
    report = api.check([source], flags=["-O2"], cache=False, config=False)
    found = of_both(report)
    assert found in (("note", "none") if loop in SLEEPS.values() else ("high", "medium"))


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_who_waits_for_each_item_may_be_busy(compiled: Compile, tool: str) -> None:
    """High says gcc's code, which has no loop of its own for the wait."""
    assert severity(compiled, tool, ITEM) == ("high" if tool == "gcc" else "medium")


COLLECTORS = """
#include <pthread.h>
#include <time.h>
#include <unistd.h>
struct { long served, ticks; } own __attribute__((aligned(64)));
struct collector { void (*collect)(struct collector *); unsigned every, runs; long last, highest; };
struct program { _Atomic int stop; } program __attribute__((aligned(64)));
long late __attribute__((aligned(64)));
static void a(struct collector *c) { c->last = time(0); }
static void b(struct collector *c) { c->last = getppid(); }
struct collector collectors[] __attribute__((aligned(64))) = {{a, 20}, {b, 50}, {a, 30}};
static void *serve(void *p) { char b[64]; while (read(0, b, 64) > 0) own.served++; return p; }
static void *tick(void *p) {
  struct program *of = p;
  while (!of->stop) {
    struct timespec nap = {0, 10000000};
    BEFORE
    own.ticks += 10;
    for (unsigned i = 0; i < 3; i++) {
      struct collector *c = &collectors[i];
      if (own.ticks % c->every)
        continue;
      c->collect(c);
      c->runs++;
      if (c->last > c->highest)
        c->highest = c->last;
    }
    if (nap.tv_nsec > 20000000)
      late++;
  }
  return p;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, serve, 0);
  pthread_create(&u, 0, tick, &program);
  pthread_join(t, 0);
  return (int)(own.served + own.ticks);
}
"""
NAPS = "nanosleep(&nap, 0);"
NAPS_WHERE_IDLE = "while (!of->stop) usleep(10);"


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("before", "sleeps"), [(NAPS, True), (NAPS_WHERE_IDLE, False)])
def test_a_loop_of_which_compilers_make_several_sleeps(compiled: Compile, tool: str, before: str, sleeps: bool) -> None:
    """gcc copies its test to where a round ends, and the nap is then inside of two loops."""
    program = compiled(tool, "c", COLLECTORS.replace("BEFORE", before), "-O2", "-g")
    found = api.audit(str(program)).findings
    both = {"own.served", "own.ticks"}
    severity = next((f.severity for f in found if both <= {p.name for p in f.participants}), "none")
    assert (severity in ("note", "none")) == sleeps


def severity_of_source(tmp_path: Path, suffix: str, program: str) -> str:
    """The same from the source."""
    source = tmp_path / f"program.{suffix}"
    source.write_text(program)
    report = api.check([source], flags=["-O2"], cache=False, config=False)
    return of_both(report)


@pytest.mark.parametrize("loop", SLEEPS.values(), ids=SLEEPS)
def test_source_says_so_of_who_sleeps(tmp_path: Path, loop: str) -> None:
    assert severity_of_source(tmp_path, "c", PROGRAM.replace("LOOP", loop)) in ("note", "none")


@pytest.mark.parametrize("loop", WAITS.values(), ids=WAITS)
def test_source_says_so_of_who_waits(tmp_path: Path, loop: str) -> None:
    assert severity_of_source(tmp_path, "c", PROGRAM.replace("LOOP", loop)) == "high"


CXX = """
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>
long served, ticks;
struct alignas(64) Guarded { std::mutex m; std::condition_variable c; } guarded;
struct alignas(64) State { bool stop; int queued; } state;
void serve() { char b[64]; while (read(0, b, 64) > 0) served++; }
void tick() {
  using namespace std::chrono_literals;
  std::unique_lock<std::mutex> lock(guarded.m);
  LOOP
}
int main() {
  std::thread t(serve), u(tick);
  t.join();
  u.join();
  return int(served + ticks);
}
"""
FOR_A_TIME = "while (!state.stop) { guarded.c.wait_for(lock, 1s); ticks++; }"
FOR_WORK = "while (!state.stop) { guarded.c.wait_for(lock, 1s, [] { return state.queued > 0; }); ticks++; }"
FOR_ALL_WORK = FOR_WORK.replace(
    "ticks++;",
    """for (int i = 0; i < state.queued; i++) {
    ticks++;
    __asm__ volatile("" ::: "memory");
  }""",
)


@pytest.mark.parametrize(
    ("loop", "expected"), [(FOR_A_TIME, {"note", "none"}), (FOR_WORK, {"medium"}), (FOR_ALL_WORK, {"high"})]
)
class TestConditionVariables:
    """What `wait_for` waits for: a time, or a condition that it is handed.

    Of what is done once in a round that waits for others it is not known how often others begin one: no more than
    medium.  A loop within the round runs as long as it likes.
    """

    def test_in_source(self, tmp_path: Path, loop: str, expected: set[str]) -> None:
        assert severity_of_source(tmp_path, "cpp", CXX.replace("LOOP", loop)) in expected

    def test_in_binaries(self, compiled: Compile, loop: str, expected: set[str]) -> None:
        report = api.audit(str(compiled("g++", "cpp", CXX.replace("LOOP", loop), "-O0", "-std=c++17")))
        found = of_both(report)
        assert (found in ("note", "none")) == (expected == {"note", "none"})

    def test_in_optimized_binaries(self, compiled: Compile, loop: str, expected: set[str]) -> None:
        report = api.audit(str(compiled("g++", "cpp", CXX.replace("LOOP", loop), "-O2", "-std=c++17")))
        found = of_both(report)
        assert found in expected


SLEEPS_FOR = "while (!state.stop) { std::this_thread::sleep_for(10ms); ticks++; }"
SLEEPS_UNTIL = "while (!state.stop) { std::this_thread::sleep_until(std::chrono::steady_clock::now() + 1s); ticks++; }"
YIELDS = "while (!state.stop) { std::this_thread::yield(); ticks++; }"


@pytest.mark.parametrize("loop", [SLEEPS_FOR, SLEEPS_UNTIL])
def test_the_standard_librarys_sleep_is_known_in_source(tmp_path: Path, loop: str) -> None:
    assert severity_of_source(tmp_path, "cpp", CXX.replace("LOOP", loop)) in ("note", "none")


def test_who_yields_is_busy(tmp_path: Path) -> None:
    assert severity_of_source(tmp_path, "cpp", CXX.replace("LOOP", YIELDS)) == "high"


TAKES = "int n = __atomic_load_n(&todo[1], __ATOMIC_ACQUIRE);"
NAPS_FOR = [
    "usleep(40);",
    "struct timespec t = {0, 40000}; nanosleep(&t, 0);",
    "struct timespec t = {0, 20000 + (getpid() & 1023)}; nanosleep(&t, 0);",
]
AGAIN = [
    "struct timespec t = {0, 40000}; while (nanosleep(&t, &t) && errno == EINTR);",
    "struct timespec t = {0, 20000 + (getpid() & 1023)}; while (nanosleep(&t, &t) && errno == EINTR);",
    "struct timespec t = {0, 40000}; while (nanosleep(&t, &t) == -1 && errno == EINTR);",
    "struct timespec t = {0, 40000}; int r; do { r = nanosleep(&t, &t); } while (r == -1 && errno == EINTR);",
]
IN_EACH_ROUND = {
    "usleep(10);": False,
    "usleep(200);": True,
    "usleep(20000);": True,
    "usleep(todo[2]);": True,
    "struct timespec t = {0, 20000000}; nanosleep(&t, 0);": True,
    "struct timespec t = {1, 0}; while (nanosleep(&t, &t) && errno == EINTR);": True,
}
BUILDS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]


@pytest.mark.parametrize(("tool", "level"), [*BUILDS, ("source", "")], ids="".join)
class TestNaps:
    """A thread that naps for microseconds where it finds nothing to do is as busy as who waits for work."""

    def severity(self, compiled: Compile, folder: Path, build: tuple[str, str], loop: str) -> str:
        text = "#include <errno.h>\n" + PROGRAM.replace("LOOP", loop)
        if build[0] == "source":
            return severity_of_source(folder, "c", text)
        report = api.audit(str(compiled(build[0], "c", text, build[1])))
        return of_both(report)

    @pytest.mark.parametrize("nap", NAPS_FOR)
    def test_where_there_is_nothing_to_do(
        self, compiled: Compile, tmp_path: Path, tool: str, level: str, nap: str
    ) -> None:
        loop = f"for (;;) {{ {TAKES} if (n <= 0) {{ {nap} continue; }} todo[1] = n - 1; ticks++; }}"
        assert self.severity(compiled, tmp_path, (tool, level), loop) not in ("note", "none")

    @pytest.mark.parametrize("nap", AGAIN)
    def test_made_again_as_often_as_a_signal_ends_it(
        self, compiled: Compile, tmp_path: Path, tool: str, level: str, nap: str
    ) -> None:
        loop = f"for (;;) {{ {TAKES} if (n <= 0) {{ {nap} continue; }} todo[1] = n - 1; ticks++; }}"
        assert self.severity(compiled, tmp_path, (tool, level), loop) not in ("note", "none")

    @pytest.mark.parametrize(("nap", "rests"), IN_EACH_ROUND.items(), ids=IN_EACH_ROUND)
    def test_in_every_round_it_rests_unless_that_is_shorter_still(
        self, compiled: Compile, tmp_path: Path, tool: str, level: str, nap: str, rests: bool
    ) -> None:
        severity = self.severity(compiled, tmp_path, (tool, level), f"for (;;) {{ {nap} ticks++; }}")
        assert (severity in ("note", "none")) == rests


NAPS_WHEN_IDLE = """
    if (__atomic_load_n(&state.queued, __ATOMIC_ACQUIRE) == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(40));
      continue;
    }
    state.queued--;"""
IN_THE_LIBRARY = {
    NAPS_WHEN_IDLE: False,
    "std::this_thread::sleep_for(std::chrono::milliseconds(40));": True,
    "std::this_thread::sleep_for(std::chrono::seconds(4));": True,
}


@pytest.mark.parametrize(("nap", "rests"), IN_THE_LIBRARY.items(), ids=["short", "milliseconds", "seconds"])
@pytest.mark.parametrize("build", ["g++ -O0", "g++ -O2", "clang++-19 -O0", "clang++-19 -O2", "source"])
def test_the_standard_librarys_naps(compiled: Compile, tmp_path: Path, build: str, nap: str, rests: bool) -> None:
    text = "#include <chrono>\n" + CXX.replace("LOOP", f"(void)lock; while (!state.stop) {{ {nap} ticks++; }}")
    if build == "source":
        found = severity_of_source(tmp_path, "cpp", text)
    else:
        tool, level = build.split()
        report = api.audit(str(compiled(tool, "cpp", text, level, "-std=c++17")))
        found = of_both(report)
    assert (found in ("note", "none")) == rests
