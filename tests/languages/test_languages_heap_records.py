"""Members of an object on the heap: they meet where one static pointer leads all threads to the object."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#define CHANGE(counter) UPDATE
struct pool { long name; MEMBERS };
HOLDER
static volatile int stop;
static pthread_mutex_t lock __attribute__((aligned(64))) = PTHREAD_MUTEX_INITIALIZER;
static void set_up(void) { pool = ALLOCATION; }
static void *produce(void *unused) {
    OWN
    while (!stop) { BEFORE; CHANGE(pool->in); AFTER; }
    return unused;
}
static void *consume(void *unused) {
    OWN
    while (!stop) { BEFORE; CHANGE(pool->out); AFTER; }
    return unused;
}
int main(void) {
    pthread_t one, two;
    set_up();
    pthread_create(&one, 0, produce, 0);
    pthread_create(&two, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return &pool->in == (void *)&pool->out;
}
"""
PLAIN = {
    "HOLDER": "static struct pool *pool;",
    "MEMBERS": "long in; long out;",
    "ALLOCATION": "malloc(sizeof *pool)",
    "UPDATE": "__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED)",
    "OWN": "",
    "BEFORE": "",
    "AFTER": "",
}


@pytest.fixture(params=["-O0", "-O2"])
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def found(folder: Path, level: str, *, strip: bool = False, **changed: str) -> list[Finding]:
    """What is said of objects on the heap in the program with these parts."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    text = PROGRAM
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "pool.c"
    source.write_text(text)
    program = source.with_suffix("")
    flags = [level, "-pthread", "-s" if strip else "-g"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.line.place == "a line"]


def test_members_that_two_threads_change(tmp_path: Path, level: str) -> None:
    (finding,) = found(tmp_path, level)
    assert [p.name for p in finding.participants[:2]] == ["struct pool.in", "struct pool.out"]
    assert finding.severity is Severity.HIGH, "as in source"
    assert "3 of the 4 offsets" in finding.message
    assert "the object is the one that pool leads to, made by malloc in" in " ".join(e.text for e in finding.evidence)
    assert "_Alignas(64)" in finding.remedies[0].edit


def test_an_object_in_an_allocation_that_is_rounded_up_to_a_line(tmp_path: Path, level: str) -> None:
    """aligned_alloc wants a size that is a multiple of the alignment: there is one object, however small."""
    (finding,) = found(tmp_path, level, ALLOCATION="aligned_alloc(64, 64)")
    assert [p.name for p in finding.participants[:2]] == ["struct pool.in", "struct pool.out"]
    assert any("made by aligned_alloc" in e.text for e in finding.evidence)


def test_where_many_objects_have_room_it_is_not_known_to_be_one(tmp_path: Path, level: str) -> None:
    """What is said then is said of the type: one object stands for all."""
    findings = found(tmp_path, level, ALLOCATION="aligned_alloc(64, 256)")
    assert not any("made by aligned_alloc" in e.text for finding in findings for e in finding.evidence)


ALL = """
static struct { int kind; struct pool *first; long table[4]; pthread_mutex_t guard; } all;
#define pool all.first
static volatile unsigned number;
void *(*volatile look_at)(void *);
"""


def _made_known(findings: list[Finding]) -> bool:
    return any("the one that all.first leads to, made by malloc in" in e.text for f in findings for e in f.evidence)


def test_the_pointer_may_be_one_member_of_many(tmp_path: Path, level: str) -> None:
    """Neither who takes a lock beside it nor who sets elements of a table there comes to the pointer."""
    beside = "pthread_mutex_lock(&all.guard); all.table[number % 4] = stop; pthread_mutex_unlock(&all.guard)"
    findings = found(tmp_path, level, HOLDER=ALL, BEFORE=beside)
    assert _made_known(findings)
    assert [p.name for p in findings[0].participants[:2]] == ["struct pool.in", "struct pool.out"]


@pytest.mark.parametrize("address", ["&all", "&all.first"])
def test_not_a_pointer_that_others_have_the_address_of(tmp_path: Path, level: str, address: str) -> None:
    assert not _made_known(found(tmp_path, level, HOLDER=ALL, BEFORE=f"look_at({address})"))


def test_what_clears_an_object_does_not_join_its_members(tmp_path: Path, level: str) -> None:
    """Compilers clear two words at once: without debug information the other accesses say where members are."""
    cleared = "aligned_alloc(64, 64); __builtin_memset(pool, 0, 64)"
    members = "long first; long in; long out;"
    (finding,) = found(tmp_path, level, strip=True, ALLOCATION=cleared, MEMBERS=members)
    assert [p.name.rpartition("+")[2] for p in finding.participants[:2]] == ["0x10", "0x18"]


def test_without_debug_information_members_are_offsets(tmp_path: Path, level: str) -> None:
    (finding,) = found(tmp_path, level, strip=True)
    names = [p.name for p in finding.participants[:2]]
    assert [name.rpartition("+")[2] for name in names] == ["0x8", "0x10"]
    assert all(name.startswith("*") for name in names)


def test_not_members_that_are_a_line_apart(tmp_path: Path, level: str) -> None:
    assert found(tmp_path, level, MEMBERS="long in; char apart[64]; long out;") == []


def test_members_that_an_alignment_keeps_apart(tmp_path: Path, level: str) -> None:
    """Where the object begins a line the second begins the next; from elsewhere the two may meet."""
    apart = {"MEMBERS": "long more[4], in; char apart[16]; long out;"}
    assert found(tmp_path, level, ALLOCATION="aligned_alloc(64, 128)", **apart) == []
    assert found(tmp_path, level, ALLOCATION="malloc(sizeof *pool)", **apart) != []


def test_not_members_that_change_under_one_lock(tmp_path: Path, level: str) -> None:
    locked = {"BEFORE": "pthread_mutex_lock(&lock)", "AFTER": "pthread_mutex_unlock(&lock)"}
    assert found(tmp_path, level, UPDATE="counter++", **locked) == []


def test_not_where_each_thread_has_an_object_of_its_own(tmp_path: Path, level: str) -> None:
    assert found(tmp_path, level, OWN="struct pool *pool = malloc(sizeof *pool);") == []


def test_not_where_a_thread_sets_the_pointer_anew(tmp_path: Path, level: str) -> None:
    """Nor is the pointer's type known here, by which one object would stand for all."""
    assert found(tmp_path, level, strip=True, BEFORE="pool = malloc(sizeof *pool)") == []


def test_what_is_kept_once_for_all_threads_is_one_object_whoever_makes_it(tmp_path: Path, level: str) -> None:
    """Nobody tells how large it is, or where it begins."""
    (finding,) = found(tmp_path, level, strip=True, ALLOCATION='(void *)getenv("POOL")')
    assert [p.name.rpartition("+")[2] for p in finding.participants[:2]] == ["0x8", "0x10"]
    assert finding.severity is Severity.MEDIUM
    assert "at 3 of the 4 offsets" in finding.message


def test_an_element_of_an_array_is_known_by_its_type_alone(tmp_path: Path, level: str) -> None:
    (finding,) = found(tmp_path, level, ALLOCATION="calloc(8, sizeof *pool)")
    assert any("one object stands for all" in e.text for e in finding.evidence)
    assert not any("made by calloc" in e.text for e in finding.evidence)


def test_of_an_object_that_is_known_a_lock_is_not_said_to_be_of_any(tmp_path: Path, level: str) -> None:
    """One of the two threads takes a lock, the other one counts beside it."""
    locks = "pthread_mutex_lock((void *)&(counter)) + pthread_mutex_unlock((void *)&(counter))"
    counts = "__atomic_fetch_add((long *)&(counter), 1, __ATOMIC_RELAXED)"
    kind = "__builtin_types_compatible_p(__typeof__(counter), long)"
    update = f"__builtin_choose_expr({kind}, {counts}, {locks})"
    (finding,) = found(tmp_path, level, MEMBERS="pthread_mutex_t in; long out;", UPDATE=update)
    assert {p.name for p in finding.participants[:2]} == {"struct pool.in", "struct pool.out"}
    assert finding.severity is Severity.HIGH, "as in source"
    assert not any("stands for all" in e.text for e in finding.evidence)
    (any_one,) = found(
        tmp_path, level, MEMBERS="pthread_mutex_t in; long out;", UPDATE=update, ALLOCATION="calloc(8, 99)"
    )
    assert any_one.severity is Severity.MEDIUM
    assert sum("one object stands for all" in e.text for e in any_one.evidence) == 1
