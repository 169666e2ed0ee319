"""Members of records behind pointers, by the types of debug information: who changes or reads them at one time."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity
from tests import cpp

HEAD = """
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>
#include <memory>
#include <random>
#define MANY for (int i = 0; i < 1000000; i++)
"""
# A session is reached by way of a vector of shared pointers, of which each thread takes any.
SESSIONS = """
struct Session { long id; PLAIN; BETWEEN std::atomic<long> answered{0}; };
struct Service {
  std::vector<std::shared_ptr<Session>> all;
  std::shared_ptr<Session> any(unsigned at) { return all[at % all.size()]; }
  void ask() { MANY { auto held = any(i * 7u); Session &one = *held; ASK; } }
  void answer() { MANY { auto held = any(i * 5u); Session &one = *held; ANSWER; } }
};
int main() {
  auto service = std::make_unique<Service>();
  for (int i = 0; i < 9; i++) service->all.push_back(std::make_shared<Session>());
  std::thread asking([&service] { service->ask(); }), answering([&service] { service->answer(); });
  asking.join(), answering.join();
  return service->all[0]->answered;
}
"""
PLAIN = {
    "PLAIN": "long asked = 0",
    "BETWEEN": "",
    "ASK": "one.asked += one.id",
    "ANSWER": "one.answered.fetch_add(1, std::memory_order_relaxed)",
}


def found(folder: Path, text: str, *flags: str, compiler: str = "g++", **parts: str) -> list[Finding]:
    """What is said of two members at low or above."""
    for part, words in parts.items():
        text = text.replace(part, words)
    source = folder / "records.cc"
    source.write_text(HEAD + text)
    program = source.with_suffix("")
    cpp.build(compiler, source, program, "-std=c++17", "-pthread", *flags)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.severity.rank >= Severity.LOW.rank]


def members(finding: Finding) -> set[str]:
    return {(p.member or p.name).rpartition(".")[2] for p in finding.participants[:2]}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_one_member_of_each_thread_behind_two_pointers(tmp_path: Path, compiler: str, level: str) -> None:
    (finding,) = found(tmp_path, SESSIONS, "-g", level, compiler=compiler, **PLAIN)
    assert members(finding) == {"answered", "id"}, "who asks reads the number each time around, and counts beside it"
    assert finding.severity is Severity.HIGH, "as in source"
    assert any("one object stands for all" in e.text for e in finding.evidence)


# The same in two files, where nothing but calls leads to the element and clang describes the class in the other file.
SESSION = "#pragma once\nstruct Session { Session(); long id; long asked; BETWEEN std::atomic<long> answered; };\n"
HOME = '#include "session.hpp"\nSession::Session() : id(1), asked(0), answered(0) {}\n'
APART = """
#include "session.hpp"
struct Service {
  std::vector<std::unique_ptr<Session>> all;
  void ask() { MANY all[i % 9]->asked += 3; }
  void answer() { MANY all[i % 9]->answered.fetch_add(1, std::memory_order_relaxed); }
};
int main() {
  auto service = std::make_unique<Service>();
  for (int i = 0; i < 9; i++) service->all.push_back(std::make_unique<Session>());
  std::thread asking([&service] { service->ask(); }), answering([&service] { service->answer(); });
  asking.join(), answering.join();
  return service->all[0]->answered;
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_elements_that_accessors_lead_to_of_a_class_of_another_file(tmp_path: Path, compiler: str, level: str) -> None:
    home = tmp_path / "home.cc"
    home.write_text(HEAD + HOME)
    for between, said in (("", [{"asked", "answered"}]), ("char apart[64];", [])):
        (tmp_path / "session.hpp").write_text(SESSION.replace("BETWEEN", between))
        every = found(tmp_path, APART, "-g", level, str(home), compiler=compiler)
        assert [members(one) for one in every] == said


def test_without_types_they_are_offsets_into_what_a_call_makes(tmp_path: Path) -> None:
    for one in found(tmp_path, SESSIONS, "-O2", **PLAIN):
        assert one.severity is Severity.LOW
        assert all(part.name.startswith("*heap block (allocated at") for part in one.participants[:2])


def test_not_a_line_apart(tmp_path: Path) -> None:
    assert found(tmp_path, SESSIONS, "-g", "-O2", **PLAIN | {"BETWEEN": "char apart[64];"}) == []


def test_not_a_member_that_nobody_uses_often(tmp_path: Path) -> None:
    seldom = PLAIN | {"ASK": "if ((i * 2654435761u >> 3) == 77) throw one.asked++"}
    assert found(tmp_path, SESSIONS, "-g", "-O2", **seldom) == []


# What two of the kinds of threads are handed is known, and what others are only by its type.
THREE = """
struct Service {
  std::atomic<long> answered{0}; long asked = 0; long watched = 0; char far[64]; std::vector<std::thread> clients;
  void ask() { MANY { asked++; asm volatile("" ::: "memory"); } }
  void answer() { MANY answered.fetch_add(1, std::memory_order_relaxed); }
  void watch() { MANY { watched++; asm volatile("" ::: "memory"); } }
  void tick() { MANY if (answered < 0) return; }
  void run(int n) {
    clients.emplace_back([this] { ask(); });
    clients.emplace_back([this] { answer(); });
    clients.emplace_back(&Service::tick, this);
    for (int i = 0; i < n; i++) clients.emplace_back(&Service::watch, this);
    for (auto &one : clients) one.join();
  }
};
int main(int n, char **) {
  auto service = std::make_unique<Service>();
  service->run(n);
  return service->answered;
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_pair_is_said_once_with_all_that_is_known_of_it(tmp_path: Path, compiler: str, level: str) -> None:
    (finding,) = found(tmp_path, THREE, "-g", level, compiler=compiler)
    every = {(p.member or p.name).rpartition(".")[2] for p in finding.participants}
    assert every == {"answered", "asked", "watched"}


# Each of two kinds of threads counts in a member of its own, of a record with something in it that both wait for.
COUNTS = PLAIN | {
    "BETWEEN": "PADDING long answers = 0; char apart[64]; std::atomic<int> state{1};",
    "std::atomic<long> answered{0}": "long unused = 0",
    "->answered": "->id",
    "ASK": "if (one.state) one.asked += one.id",
    "ANSWER": "if (one.state) one.answers++",
    "PADDING": "",
}


def with_words(parts: dict[str, str], changed: dict[str, str]) -> dict[str, str]:
    """The parts of a program with other words in them."""
    for old, new in changed.items():
        parts = {part: words.replace(old, new) for part, words in parts.items()}
    return parts


def of_plain(found: list[Finding]) -> list[Finding]:
    return [one for one in found if members(one) == {"asked", "answers"}]


def test_what_two_kinds_of_threads_count_in_a_record_made_for_both(tmp_path: Path) -> None:
    (finding,) = of_plain(found(tmp_path, SESSIONS, "-g", "-O2", **COUNTS))
    assert finding.severity is Severity.MEDIUM
    assert any("one object stands for all" in e.text for e in finding.evidence)


# Nothing in the record is made for several threads; what each kind counts the other never looks at all the same.
ALONE = {"std::atomic<int> state{1};": "", "one.state": "one.id >= 0"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_two_kinds_of_threads_count_in_a_plain_record(tmp_path: Path, compiler: str, level: str) -> None:
    (finding,) = of_plain(found(tmp_path, SESSIONS, "-g", level, compiler=compiler, **with_words(COUNTS, ALONE)))
    assert finding.severity is Severity.MEDIUM


@pytest.mark.parametrize("record", [pytest.param({}, id="made for both"), pytest.param(ALONE, id="plain")])
@pytest.mark.parametrize(
    "near",
    [
        pytest.param({"PADDING": "char far[64];"}, id="a line apart"),
        pytest.param({"ANSWER": "if (one.state) { one.answers++; if (one.asked < 0) throw one.id; }"}, id="handed on"),
        pytest.param({"ANSWER": "if (one.state) one.answers = i"}, id="left for another"),
        pytest.param({"ANSWER": "if (one.state) { one.answers++; one.asked++; }"}, id="by both"),
    ],
)
def test_not_what_may_go_from_thread_to_thread(tmp_path: Path, near: dict[str, str], record: dict[str, str]) -> None:
    assert of_plain(found(tmp_path, SESSIONS, "-g", "-O2", **with_words(COUNTS | near, record))) == []


def test_not_what_is_counted_under_the_lock_of_the_record(tmp_path: Path) -> None:
    locked = COUNTS | {
        "std::atomic<int> state{1};": "std::mutex lock;",
        "ASK": "std::lock_guard hold(one.lock); one.asked += one.id",
        "ANSWER": "std::lock_guard hold(one.lock); one.answers++",
    }
    assert of_plain(found(tmp_path, SESSIONS, "-g", "-O2", **locked)) == []


# In C: one kind of threads counts what the other kind, which never asks how often, finds under a key.
TABLE = """
struct Route { struct Route *next; long key; FAR long found; };
struct Router { struct Route *all[64]; };
static struct Router *router;
static long sum(long from) { for (long i = 0; i < 40; i++) from = from * 31 + i; return from; }
static struct Route *at(long key) {
  struct Route *one = router->all[key & 63];
  for (; one; one = one->next) if (one->key == key) return one;
  one = static_cast<struct Route *>(aligned_alloc(64, 128));
  one->key = key, one->found = 0, one->next = router->all[key & 63];
  return router->all[key & 63] = one;
}
static void finds() { MANY { struct Route *one = at(i % 9); one->found += i; } }
static void looks() { MANY { struct Route *one = router->all[i & 63]; if (one && one->key == sum(i)) LOOKS; } }
int main() {
  router = new Router();
  std::thread finding(finds), looking(looks);
  finding.join(), looking.join();
}
"""
ROUTES = {"FAR": "", "LOOKS": "throw i"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_what_one_kind_counts_beside_what_another_reads(tmp_path: Path, compiler: str) -> None:
    """The object is looked up or made, and what stands behind that is done to both."""
    (finding,) = found(tmp_path, TABLE, "-g", "-O2", compiler=compiler, **ROUTES)
    assert members(finding) <= {"found", "key", "next"}
    assert "found" in members(finding)
    assert finding.severity is Severity.LOW


@pytest.mark.parametrize("near", [{"sum(i)": "sum(one->found)"}, {"LOOKS": "one->found++"}, {"FAR": "char far[64];"}])
def test_not_what_the_other_kind_looks_at_as_well(tmp_path: Path, near: dict[str, str]) -> None:
    assert found(tmp_path, TABLE, "-g", "-O2", **ROUTES | near) == []


# A loop of its own, to which others post what it is to do, counts what it does without the lock.
LOOP = """
#include <pthread.h>
struct Job { struct Job *next; long size; };
struct Loop { struct Job *posted; FAR long turns; long bytes; pthread_mutex_t lock; };
static struct Loop *loops[4];
static void post(struct Loop *loop, struct Job *job) {
  pthread_mutex_lock(&loop->lock);
  job->next = loop->posted, loop->posted = job;
  pthread_mutex_unlock(&loop->lock);
}
static void run(struct Loop *loop) {
  for (;;) {
    pthread_mutex_lock(&loop->lock);
    struct Job *job = loop->posted;
    loop->posted = nullptr;
    pthread_mutex_unlock(&loop->lock);
    while (job) {
      struct Job *next = job->next;
      COUNT;
      free(job), job = next;
    }
  }
}
static void *start(void *loop) { run(static_cast<struct Loop *>(loop)); return nullptr; }
int main() {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    struct Loop *loop = loops[i] = static_cast<struct Loop *>(aligned_alloc(64, 128));
    pthread_mutex_init(&loop->lock, nullptr);
    loop->turns = loop->bytes = 0, loop->posted = nullptr;
    pthread_create(&threads[i], nullptr, start, loop);
  }
  MANY {
    struct Job *job = static_cast<struct Job *>(malloc(sizeof *job));
    job->size = i, post(loops[i & 3], job);
  }
}
"""
LOOPS = {"FAR": "", "COUNT": "loop->turns++, loop->bytes += job->size"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_lock_beside_what_one_of_its_users_counts_without_it(tmp_path: Path, compiler: str) -> None:
    (finding,) = found(tmp_path, LOOP, "-g", "-O2", compiler=compiler, **LOOPS)
    assert finding.rule == "hot-lock-shares-line"
    assert finding.severity is Severity.MEDIUM
    assert {"turns", "bytes"} <= {(p.member or p.name).rpartition(".")[2] for p in finding.participants}, "one vector"


def test_not_a_lock_beside_what_it_guards(tmp_path: Path) -> None:
    guarded = LOOPS | {"COUNT": "", "loop->posted = nullptr;\n": "loop->posted = nullptr, loop->turns++;\n"}
    assert found(tmp_path, LOOP, "-g", "-O2", **guarded) == []


# Threads of one kind: each has an object of its own, or all have one.
WORKERS = """
struct Work { long limit; std::atomic<long> done{0}; MEMBER };
static void run(OF) { MANY { if (work.done.load() > work.limit) break; UPDATE; } }
int main(int argc, char **) {
  MADE
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(STARTED);
  for (auto &one : threads) one.join();
}
"""
SHARED = {
    "MEMBER": "",
    "OF": "Work &work",
    "UPDATE": "work.done++",
    "MADE": "auto all = std::make_unique<std::vector<Work *>>(); all->push_back(new Work{argc * 1000000L});",
    "STARTED": "[&all] { run(*all->back()); }",
}


def test_what_all_change_beside_what_all_read(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, WORKERS, "-g", "-O2", **SHARED)
    assert members(finding) == {"done", "limit"}
    assert finding.severity.rank <= Severity.MEDIUM.rank


def test_not_two_members_that_the_same_threads_change(tmp_path: Path) -> None:
    """Each may have an object of its own."""
    own = SHARED | {
        "MEMBER": "long rounds = 0;",
        "UPDATE": "if (i % 2) work.done.store(i, std::memory_order_relaxed); else work.rounds++",
        "work.done.load() > work.limit": "i < 0",
    }
    assert found(tmp_path, WORKERS, "-g", "-O2", **own) == []


# A context in static storage, which a table hands to whatever function is chosen at run time.
CONTEXTS = """
struct Sum { std::atomic<long> total{0}; long weight = 3; };
struct Handler { void (*run)(void *, long); void *context; };
static Sum sum APART;
static long add(Sum *to, long by) { return to->total += by; }
static void on_add(void *context, long by) { Sum *to = static_cast<Sum *>(context); add(to, by); }
static void on_look(void *context, long by) { Sum *to = static_cast<Sum *>(context); if (to->weight == by) throw by; }
static const Handler handlers[] = {{on_add, &sum}, {on_look, &sum}};
static void work(unsigned seed) {
  MANY { seed = seed * 1664525u + 1013904223u; const Handler &one = handlers[seed >> 31]; CALL; }
}
int main() { std::thread one(work, 1), two(work, 2); one.join(); two.join(); return sum.total; }
"""
THROUGH_TABLE = {"APART": "", "CALL": "one.run(one.context, i)"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_context_that_a_table_hands_to_a_function(tmp_path: Path, compiler: str) -> None:
    (finding,) = found(tmp_path, CONTEXTS, "-g", "-O2", compiler=compiler, **THROUGH_TABLE)
    assert members(finding) == {"total", "weight"}


def test_what_direct_calls_do_to_a_variable_is_said_once_and_of_the_variable(tmp_path: Path) -> None:
    direct = CONTEXTS.replace("static void on_add(void *context, long by) {", "static void on_add(void *, long) {}")
    direct = direct.replace(" Sum *to = static_cast<Sum *>(context); add(to, by); }", "")
    (finding,) = found(
        tmp_path, direct, "-g", "-O0", **THROUGH_TABLE | {"CALL": "if (add(&sum, i) == sum.weight) break"}
    )
    assert finding.participants[0].name.startswith("sum")


# A library's own thread writes out what its callers have put into a ring.
LIBRARY = """
struct Ring { unsigned long slots[64]; PLAIN; std::atomic<unsigned long> written{0}; BETWEEN
              std::atomic<bool> stop{false}; unsigned long chain = 0; std::thread thread; };
static void write_out(Ring *ring) {
  unsigned long at = 0;
  while (!ring->stop.load()) {
    if (ring->next.load() == at) continue;
    ring->chain = ring->chain * 31 + ring->slots[at++ % 64];
    ring->written.store(at);
  }
}
extern "C" Ring *ring_open() { auto ring = new Ring; ring->thread = std::thread(write_out, ring); return ring; }
extern "C" void ring_put(Ring *ring, unsigned long value) {
  unsigned long at = ring->next.fetch_add(1);
  while (at - ring->written.load() >= 64) { }
  ring->slots[at % 64] = value;
}
"""
RING = {"PLAIN": "alignas(64) std::atomic<unsigned long> next{0}", "BETWEEN": ""}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_record_of_a_library_with_a_thread_of_its_own(tmp_path: Path, compiler: str) -> None:
    said = found(tmp_path, LIBRARY, "-g", "-O2", "-shared", "-fPIC", compiler=compiler, **RING)
    (finding,) = said
    assert finding.severity is Severity.LOW, "how often callers come is not known"
    assert "next" in members(finding)
    assert members(finding) & {"written", "chain"}


def test_not_of_a_library_where_the_two_are_a_line_apart(tmp_path: Path) -> None:
    apart = {"PLAIN": RING["PLAIN"] + "; char apart[64]", "BETWEEN": "char after[64];"}
    said = found(tmp_path, LIBRARY, "-g", "-O2", "-shared", "-fPIC", **apart)
    assert not [one for one in said if "next" in members(one)]
