"""A variable or member that is added together with the code that uses it, and what it then shares a line with."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.query import read_instructions
from linemate.api import audit
from linemate.explaining.run import ExplainRequest, explain
from sharing.explain.code import Code
from sharing.explain.uses import only_accesses
from sharing.model.arch import machine_named
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Finding, Severity
from sharing.model.instructions import Deed
from tests.explain.conftest import read

MEMBER = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
struct route { struct route *next; unsigned key, to; };
struct table {
  struct route **heads;
  unsigned long mask;
  unsigned long salt;
  MEMBER
} __attribute__((aligned(64)));
struct table table;
FAR
static struct route routes[1024], *heads[256];
__attribute__((noinline)) unsigned find(unsigned key) {
  unsigned at = ((key ^ table.salt) * 2654435761u) & table.mask;
  for (struct route *r = table.heads[at]; r; r = r->next)
    if (r->key == key) return r->to;
  return 0;
}
__attribute__((noinline)) unsigned pack(const unsigned char *from, unsigned sum) {
  USE
  for (int i = 0; i < 16; i++) {
    sum = sum * 31 + from[i];
    OTHER
  }
  return sum;
}
static void *look(void *arg) {
  unsigned key = (unsigned)(long)arg, sum = 0;
  for (long i = 0; i < 4000000; i++) {
    key = key * 1664525u + 1013904223u;
    sum += find(key >> 22);
  }
  return (void *)(long)sum;
}
static void *send(void *arg) {
  unsigned char text[16] = {1, 2, 3};
  unsigned sum = (unsigned)(long)arg;
  for (long i = 0; i < 4000000; i++) {
    text[i & 15]++;
    sum = pack(text, sum);
  }
  return (void *)(long)sum;
}
int main(void) {
  pthread_t t[4];
  table.heads = heads, table.mask = 255, table.salt = 7;
  SETUP
  for (unsigned i = 0; i < 1024; i++) {
    unsigned at = ((i ^ table.salt) * 2654435761u) & table.mask;
    routes[i].key = i, routes[i].to = i, routes[i].next = heads[at], heads[at] = &routes[i];
  }
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, i & 1 ? look : send, (void *)i);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return 0;
}
"""
COUNT = "atomic_fetch_add_explicit(&{}, 1, memory_order_relaxed);"
BESIDE = {"MEMBER": "atomic_ulong packed;", "USE": COUNT.format("table.packed")}
SEEN = "__attribute__((aligned(64))) struct { atomic_ulong n; char rest[56]; } seen;"
APART = {"FAR": SEEN, "USE": COUNT.format("seen.n")}
AT_START = {"MEMBER": "atomic_ulong packed;", "SETUP": COUNT.format("table.packed")}
DIVIDES = {"OTHER": "sum += sum / (from[i] + 1u);"}

SLOTS = """
#include <pthread.h>
__attribute__((aligned(64))) unsigned long limit = 60000000;
SLOTS
static unsigned long spin(unsigned long x) { return x * 6364136223846793005ul + 1442695040888963407ul; }
static void *work(void *arg) {
  long me = (long)arg;
  unsigned long x = me;
  for (unsigned long i = 0; i < limit; i++) {
    x = spin(x);
    EACH
  }
  AT_END
  return (void *)x;
}
int main(void) {
  pthread_t t[8];
  for (long i = 0; i < 8; i++) pthread_create(&t[i], 0, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
  return 0;
}
"""
NARROW = "__attribute__((aligned(64))) volatile unsigned long done[8];"
WIDE = "__attribute__((aligned(64))) volatile unsigned long done[8 * 8];"
EACH = "done[me] += x & 1;"
Compare = Callable[..., Comparison]


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """The comparison of a program with edits before and after: ``compare(MEMBER, {}, {"USE": "..."}, "gcc")``."""
    done: dict[tuple[str, str], Path] = {}

    def built(source: str, edits: dict[str, str], compiler: str) -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        for word in ("MEMBER", "FAR", "USE", "OTHER", "SETUP", "SLOTS", "EACH", "AT_END"):
            source = source.replace(word, edits.get(word, ""))
        if (source, compiler) not in done:
            folder = tmp_path_factory.mktemp("added")
            (folder / "main.c").write_text(source)
            subprocess.run([compiler, "-O2", "-g", "-pthread", "main.c", "-o", "program"], cwd=folder, check=True)
            done[source, compiler] = folder / "program"
        return done[source, compiler]

    def made(source: str, old: dict[str, str], new: dict[str, str], compiler: str = "gcc") -> Comparison:
        before, after = (str(built(source, edits, compiler)) for edits in (old, new))
        return explain(ExplainRequest(before, after))

    return made


def causes(found: Comparison, kind: CauseKind, *, improves: bool = False) -> list[Cause]:
    return [c for c in found.causes if c.kind is kind and c.improves == improves]


@pytest.mark.parametrize("compiler", ["gcc", "clang", "clang-19"])
def test_a_counter_added_to_a_line_that_others_read_is_a_cause_of_layout(compare: Compare, compiler: str) -> None:
    found = compare(MEMBER, {}, BESIDE, compiler)
    first = found.causes[0]
    assert first.kind is CauseKind.LAYOUT
    assert first.strength >= 0.7
    assert "`table.packed` is added, used by `pack`; it now shares line" in first.summary
    assert any("pack now also writes `table.packed`, and is else as before" in text for text in first.evidence)
    assert "without table.packed" in first.refute[0]
    assert not causes(found, CauseKind.CODE)
    assert any(r.kind is CauseKind.CODE and "`pack`" in r.why for r in found.not_ruled_out)


def test_a_counter_on_a_line_of_its_own_is_changed_code(compare: Compare) -> None:
    found = compare(MEMBER, {}, APART)
    assert found.causes[0].kind is CauseKind.CODE
    assert not causes(found, CauseKind.LAYOUT)


def test_a_counter_that_only_the_start_uses_is_no_cause_of_layout(compare: Compare) -> None:
    assert not causes(compare(MEMBER, {}, AT_START), CauseKind.LAYOUT)


def test_code_that_changed_otherwise_as_well_stays_a_cause_as_strong(compare: Compare) -> None:
    other, both = compare(MEMBER, {}, DIVIDES), compare(MEMBER, {}, BESIDE | DIVIDES)
    alone = compare(MEMBER, {}, BESIDE)
    (code,), (layout,) = causes(both, CauseKind.CODE), causes(both, CauseKind.LAYOUT)
    assert code.strength == pytest.approx(causes(other, CauseKind.CODE)[0].strength, abs=0.05)
    assert "`pack`" in code.summary
    assert layout.strength < alone.causes[0].strength
    assert any("changed otherwise as well" in text for text in layout.evidence)


def test_what_is_taken_away_again_is_an_improvement(compare: Compare) -> None:
    found = compare(MEMBER, BESIDE, {})
    (better,) = causes(found, CauseKind.LAYOUT, improves=True)
    assert "`packed`" in better.summary
    assert "gone" in better.summary


def test_an_added_array_of_slots_is_a_cause_of_layout(compare: Compare) -> None:
    found = compare(SLOTS, {}, {"SLOTS": NARROW, "EACH": EACH})
    (layout,) = causes(found, CauseKind.LAYOUT)
    assert "`done`" in layout.summary
    assert "added" in layout.summary


def test_slots_of_which_each_has_a_line_are_none(compare: Compare) -> None:
    found = compare(SLOTS, {}, {"SLOTS": WIDE, "EACH": EACH.replace("[me]", "[8 * me]")})
    assert not causes(found, CauseKind.LAYOUT)


def test_slots_that_threads_now_write_all_the_time_are_told_beside_the_code(compare: Compare) -> None:
    found = compare(SLOTS, {"SLOTS": NARROW, "AT_END": "done[me] = x;"}, {"SLOTS": NARROW, "EACH": EACH})
    (layout,) = causes(found, CauseKind.LAYOUT)
    assert "in both builds; by estimate threads now use both often: `work`" in layout.summary
    assert causes(found, CauseKind.CODE), "it is the code that changed"


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (MEMBER, {}, BESIDE),
        (MEMBER, {}, BESIDE | DIVIDES),
        (SLOTS, {}, {"SLOTS": NARROW, "EACH": EACH}),
        (SLOTS, {"SLOTS": NARROW, "AT_END": "done[me] = x;"}, {"SLOTS": NARROW, "EACH": EACH}),
    ],
)
def test_what_an_audit_newly_reports_is_among_the_causes(
    compare: Compare, source: str, old: dict[str, str], new: dict[str, str]
) -> None:
    found = compare(source, old, new)
    owners = [
        {re.split(r"[.\[+]", m.name)[0] for f in reports(target.path) for m in f.participants[:2]}
        for target in found.targets
    ]
    newly = owners[1] - owners[0]
    assert newly
    told = {name for c in causes(found, CauseKind.LAYOUT) for m in c.new_line_mates for name in (m.first, m.second)}
    assert newly <= {re.split(r"[.\[+]", name)[0] for name in told}


def reports(path: str) -> list[Finding]:
    return [f for f in audit(path).findings if f.severity.rank >= Severity.MEDIUM.rank]


# Machine code of x86-64, and what is the same in another build: lock add, mov, loads, a loop.
LOAD, LOAD_OTHER = bytes.fromhex("488b07"), bytes.fromhex("488b0e")  # mov (%rdi),%rax; mov (%rsi),%rcx
ADD, ADD_TWO = bytes.fromhex("4883c001"), bytes.fromhex("4883c002")  # add $1,%rax; add $2,%rax
DIVIDE = bytes.fromhex("48f7f1")  # div %rcx
COUNTS = bytes.fromhex("f0830501000000" + "01")  # lock addl $1,1(%rip)
LOOP = bytes.fromhex("48ffc9" + "75fb")  # dec %rcx; jne to itself
RETURN = bytes.fromhex("c3")


def code(*instructions: bytes) -> tuple[Code, list[int]]:
    """A function, and where its instructions are."""
    machine = machine_named("x86-64")
    assert machine is not None
    data, start = b"".join(instructions), 0x401000
    arch = read(Path("/bin/true")).arch
    tables = read_instructions(arch, [(start, data)], (0x400000, 0x500000))
    assert tables is not None
    return Code(data, start, tables[0]), [start + at for at in np.cumsum([0, *map(len, instructions)]).tolist()]


def only(old: tuple[bytes, ...], new: tuple[bytes, ...]) -> bool:
    one, (other, at) = code(*old)[0], code(*new)
    return only_accesses(one, other, frozenset(at[n] for n, data in enumerate(new) if data == COUNTS))


def test_an_access_that_was_added_is_all_that_differs() -> None:
    assert only((LOAD, ADD, RETURN), (LOAD, COUNTS, ADD, RETURN))
    assert only((LOAD, ADD, RETURN), (LOAD_OTHER, COUNTS, ADD, RETURN)), "registers do not matter"
    assert only((LOAD, DIVIDE, RETURN), (DIVIDE, COUNTS, LOAD, RETURN)), "in the order that the compiler likes"


def test_other_work_besides_is_seen() -> None:
    assert not only((LOAD, ADD, RETURN), (LOAD, COUNTS, ADD_TWO, DIVIDE, RETURN))
    assert not only((LOAD, ADD, RETURN), (LOAD, COUNTS, LOAD, ADD, RETURN))
    assert not only((LOAD, ADD, RETURN), (LOAD, COUNTS, *[ADD_TWO] * 5, ADD, RETURN)), "more than an access needs"
    assert not only((LOAD, LOOP, RETURN), (LOAD, COUNTS, LOOP, LOOP, RETURN)), "a loop"
    assert not only((LOAD, ADD, RETURN), (LOAD, ADD_TWO, RETURN)), "without an access"
    assert not only((LOAD, COUNTS, RETURN), (LOAD, COUNTS, RETURN)), "an access in the place of another"
    assert not only((DIVIDE, LOOP, RETURN), (LOOP[:3], DIVIDE, COUNTS, bytes.fromhex("75f0"), RETURN)), "into a loop"


def test_an_instruction_is_the_same_with_other_registers_alone() -> None:
    rows = code(LOAD, LOAD_OTHER, ADD, ADD_TWO, COUNTS, DIVIDE)[0].instructions
    assert rows is not None
    shape, does = rows["shape"].tolist(), rows["does"].tolist()
    assert shape[0] == shape[1]
    assert shape[2] != shape[3]
    assert does == [Deed.OTHER, Deed.OTHER, Deed.RECKONS, Deed.RECKONS, Deed.OTHER, Deed.OTHER]
