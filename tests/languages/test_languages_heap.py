"""An audit that finds nothing says when threads use what code alone does not place: objects behind pointers."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.static.behindpointers import NOTE
from tests import cpp
from tests.languages.conftest import GoBuild

CPP = """
#include <atomic>
#include <memory>
#include <thread>
struct Counts { std::atomic<long> in, out; };
int main() {
    auto counts = std::make_shared<Counts>();
    std::thread reader([counts] { for (int i = 0; i < 1000000; i++) counts->in++; });
    std::thread writer([counts] { for (int i = 0; i < 1000000; i++) counts->out++; });
    reader.join();
    writer.join();
    return counts->in == counts->out;
}
"""
C = """
#include <pthread.h>
static _Alignas(ALIGNMENT) long in, out __attribute__((aligned(ALIGNMENT)));
static void *reader(void *unused) { for (int i = 0; i < 1000000; i++) __atomic_fetch_add(&in, 1, 0); return unused; }
static void *writer(void *unused) { for (int i = 0; i < 1000000; i++) __atomic_fetch_add(&out, 1, 0); return unused; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, reader, 0);
    pthread_create(&two, 0, writer, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return in == out;
}
"""
GO = """
package main
import "sync"
type Server struct { in, out uint64; all sync.WaitGroup }
var server = &Server{}
func (s *Server) read() { defer s.all.Done(); for i := 0; i < 1000000; i++ { s.in += uint64(i) & 1 } }
func (s *Server) write() { defer s.all.Done(); for i := 0; i < 1000000; i++ { s.out += uint64(i) & 3 } }
func main() {
    server.all.Add(2)
    go server.read()
    go server.write()
    server.all.Wait()
    println(server.in, server.out)
}
"""


def test_objects_that_threads_of_go_reach_by_pointers(go_build: GoBuild) -> None:
    assert said(go_build("behind", GO)) == (True, 0)


def test_objects_that_threads_of_c_plus_plus_share_are_told_by_what_pointers_are_set_to(tmp_path: Path) -> None:
    """Not what destructors do to the state of a thread, of which there are two."""
    program = _compiled(tmp_path, "g++", "heap.cpp", CPP, "-g0")
    assert said(program) == (False, 1)
    (finding,) = audit(AuditOptions(binary=str(program))).findings
    assert {one.name.rpartition("+")[2] for one in finding.participants[:2]} == {"0x10", "0x18"}


def test_not_where_types_tell_which_object_it_is(tmp_path: Path) -> None:
    program = _compiled(tmp_path, "g++", "heap.cpp", CPP)
    assert said(program) == (False, 1)
    (finding,) = audit(AuditOptions(binary=str(program))).findings
    assert {one.name for one in finding.participants} == {"Counts.in", "Counts.out"}


def test_not_where_all_that_threads_use_is_in_static_storage(tmp_path: Path) -> None:
    assert said(_compiled(tmp_path, "gcc", "apart.c", C.replace("ALIGNMENT", "64"))) == (False, 0)


def test_not_where_something_is_found(tmp_path: Path) -> None:
    """Beside a pair that is known it would only be one more line to read."""
    text = C.replace("ALIGNMENT", "8").replace("void *unused) {", "void *unused) { if (unused) *(long *)unused = 0;")
    assert said(_compiled(tmp_path, "gcc", "together.c", text)) == (False, 1)


REGISTRY = """
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
TYPE { void *sink; _Atomic int running; _Atomic unsigned shards; } registry_t;
static registry_t *registry;
static void __attribute__((noinline)) add(registry_t *r) { for (int i = 0; i < 9; i++) r->shards++; }
static void *worker(void *unused) {
    while (registry->running) { registry->shards++; thrd_yield(); }
    return unused;
}
static void *client(void *arg) {
    registry_t *r = arg;
    while (r->running) add(r);
    return arg;
}
int main(void) {
    pthread_t one, two, three;
    registry = calloc(1, sizeof *registry);
    registry->running = 1;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_create(&three, 0, client, registry);
    thrd_sleep(&(struct timespec){.tv_sec = 1}, 0);
    registry->running = 0;
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return registry->shards != 0;
}
"""


@pytest.mark.parametrize("kind", ["typedef struct registry", "typedef struct"])
def test_a_pair_is_said_once_by_which_way_ever_threads_come_to_it(tmp_path: Path, kind: str) -> None:
    """A static pointer leads to it by the name of a typedef, an argument by the tag: to one record."""
    program = _compiled(tmp_path, "gcc", "registry.c", REGISTRY.replace("TYPE", kind))
    pairs = [
        tuple(sorted(who.name for who in one.participants[:2])) for one in audit(AuditOptions(str(program))).findings
    ]
    assert pairs
    assert len({pair[0].removeprefix("struct ").partition(".")[0] for pair in pairs}) == len(pairs) == 1
    assert pairs[0][0].startswith("struct registry." if kind != "typedef struct" else "registry_t.")


def said(program: Path) -> tuple[bool, int]:
    """Does the report have the note, and how many findings has it?"""
    report = audit(AuditOptions(binary=str(program)))
    return NOTE in report.coverage.notes, len(report.findings)


def _compiled(folder: Path, compiler: str, name: str, text: str, debug: str = "-g") -> Path:
    source = folder / name
    source.write_text(text)
    program = source.with_suffix("")
    return cpp.build(compiler, source, program, "-O2", debug, "-pthread")
