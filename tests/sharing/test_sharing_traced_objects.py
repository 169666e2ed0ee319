"""Objects behind pointers in files without debug information: what pointers are set to tells which code means one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding
from sharing.model.operands import Moved, WordSet
from sharing.static.pointsto import Kind, Move, Object, Solver, Value
from tests.builders.image import Builder

RING = """
#include <pthread.h>
#include <stdlib.h>
struct ring { unsigned mask; ALIGNED unsigned long head; ALIGNED unsigned long tail; long cells[64]; };
struct port { long id; struct ring *ring; };
__attribute__((noinline)) static struct ring *ring_new(void) {
  struct ring *made = aligned_alloc(64, 1024);
  made->mask = 63;
  return made;
}
__attribute__((noinline)) static int put(struct ring *r, long what) {
  unsigned long at = __atomic_load_n(&r->head, __ATOMIC_RELAXED);
  if (at - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) > r->mask) return 0;
  r->cells[at & r->mask] = what;
  __atomic_store_n(&r->head, at + 1, __ATOMIC_RELEASE);
  return 1;
}
__attribute__((noinline)) static long take(struct ring *r) {
  unsigned long at = __atomic_load_n(&r->tail, __ATOMIC_RELAXED);
  if (at == __atomic_load_n(&r->head, __ATOMIC_ACQUIRE)) return -1;
  long got = r->cells[at & r->mask];
  __atomic_store_n(&r->tail, at + 1, __ATOMIC_RELEASE);
  return got;
}
static void *produce(void *port) {
  struct port *mine = port;
  for (long i = 0; i < 10000000; i += put(mine->ring, i)) ;
  return 0;
}
static void *consume(void *port) {
  struct port *mine = port;
  for (long sum = 0; sum < 10000000; ) sum += take(mine->ring);
  return 0;
}
int main(void) {
  struct port *in = malloc(sizeof *in), *out = malloc(sizeof *out);
  in->id = 1, out->id = 2;
  in->ring = ring_new();
  out->ring = OTHER;
  pthread_t threads[2];
  pthread_create(&threads[0], 0, produce, in);
  pthread_create(&threads[1], 0, consume, out);
  pthread_join(threads[0], 0), pthread_join(threads[1], 0);
}
"""

METHODS = """
#include <atomic>
#include <memory>
#include <thread>
struct Engine {
  int limit = 1000000000;
  MEMBER std::atomic<long> seen{0};
  MEMBER std::atomic<long> done{0};
  __attribute__((noinline)) void look() { for (int i = 0; i < limit; i++) seen++; }
  __attribute__((noinline)) void work() { for (int i = 0; i < limit; i++) done++; }
};
struct Server {
  std::unique_ptr<Engine> engine = std::make_unique<Engine>();
  std::thread looks, works;
  __attribute__((noinline)) void start() {
    looks = std::thread([this] { engine->look(); });
    works = std::thread([this] { engine->work(); });
  }
};
int main() {
  auto server = std::make_unique<Server>();
  server->start();
  server->looks.join(), server->works.join();
}
"""


def _findings(folder: Path, text: str, *flags: str) -> list[Finding]:
    is_c = "stdlib" in text
    source = folder / ("program.c" if is_c else "program.cc")
    source.write_text(text)
    program = folder / "program"
    line = ["gcc" if is_c else "g++", "-O2", "-pthread", "-s", *flags, str(source), "-o", str(program)]
    subprocess.run(line, check=True)
    return [one for one in audit(AuditOptions(binary=str(program))).findings if one.severity.rank > 0]


def test_ends_of_a_ring_that_two_records_lead_to(tmp_path: Path) -> None:
    (found,) = _findings(tmp_path, RING, "-DALIGNED=", "-DOTHER=in->ring")
    first, second = (part.full_name for part in found.participants[:2])
    assert found.rule == "independent-writers"
    assert first.startswith("*heap block (allocated at 0x")
    assert {first.rpartition("+")[2], second.rpartition("+")[2]} == {"0x8", "0x10"}


@pytest.mark.parametrize("flags", [("-DALIGNED=_Alignas(64)", "-DOTHER=in->ring")])
def test_ends_that_are_lines_apart_share_none(tmp_path: Path, flags: tuple[str, ...]) -> None:
    assert not _findings(tmp_path, RING, *flags)


def test_members_that_closures_of_threads_lead_to(tmp_path: Path) -> None:
    found = _findings(tmp_path, METHODS, "-DMEMBER=")
    names = {part.full_name.rpartition("+")[2] for one in found for part in one.participants}
    assert {"0x8", "0x10"} <= names


def test_members_of_closures_that_are_lines_apart_share_none(tmp_path: Path) -> None:
    assert not _findings(tmp_path, METHODS, "-DMEMBER=alignas(64)")


def _value(root: tuple[int, int, int], *steps: int) -> Value:
    return Value(root, tuple((by, False) for by in steps))


def _given(function: int, argument: int, *steps: int) -> Value:
    return _value((WordSet.GIVEN, function, argument), *steps)


def test_what_is_stored_in_one_object_is_loaded_by_way_of_another_function() -> None:
    b = Builder()
    b.function("setup").call("malloc").call("malloc").call("user")
    b.function("user")
    setup, user = 0, 1
    image = b.image()
    outer, inner, handing = image.calls["ip"].tolist()
    made = [_value((WordSet.RETURNED, ip, 0), 0) for ip in (outer, inner)]
    moves = [
        Move(Moved.ACCESS, 1, setup, 0, (_value((WordSet.RETURNED, outer, 0), 24),)),
        Move(Moved.STORED, 1, setup, 0, (made[1],)),
        Move(Moved.HANDED, handing, setup, 0, (made[0],)),
        Move(Moved.ACCESS, 2, user, 0, (_given(user, 0, 24, 8),)),
        Move(Moved.ACCESS, 3, user, 0, (_given(user, 0, 32, 8),)),
    ]
    leads = Solver(image, moves, ()).solve()
    (place,) = leads.accesses[2]
    assert (leads.objects[place[0]], place[1]) == (Object(Kind.MADE, inner), 8)
    # What nobody is seen to store is an object of its own.
    (other,) = leads.accesses[3]
    assert leads.objects[other[0]].kind is Kind.WORD


def test_what_a_thread_is_handed_is_the_argument_of_its_entry() -> None:
    b = Builder()
    b.function("main").call("malloc").call("pthread_create")
    b.function("entry"), b.function("other")
    main, entry, other = 0, 1, 2
    image = b.image()
    make, start = image.calls["ip"].tolist()
    code = _value((WordSet.UNKNOWN, 0, 0), int(image.functions["address"][entry]))
    moves = [
        Move(Moved.HANDED, start, main, 2, (code,)),
        Move(Moved.HANDED, start, main, 3, (_value((WordSet.RETURNED, make, 0), 16),)),
        Move(Moved.ACCESS, 1, entry, 0, (_given(entry, 0, 8),)),
        Move(Moved.ACCESS, 2, other, 0, (_given(other, 0, 8),)),
    ]
    leads = Solver(image, moves, (entry,)).solve()
    assert {(leads.objects[row], at) for row, at in leads.accesses[1]} == {(Object(Kind.MADE, make), 24)}
    assert {(leads.objects[row], at) for row, at in leads.accesses[2]} == {(Object(Kind.GIVEN, other), 8)}
