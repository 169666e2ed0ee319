"""Elements that threads are given of an array behind a pointer, and of what is on the stack of who starts them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

BUILDS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang-19", "-O0"), ("clang-19", "-O2")]
C = """
#include <pthread.h>
#include <stdlib.h>
#define THREADS 4
struct item { MEMBERS };
struct shared { struct item *items; long *table; };
static volatile int stop;
static struct item *items;
static struct shared shared;
__attribute__((noinline)) static long mixed(long n) { return n * 31 + (n >> 3); }
static void *work(void *given) {
    long sum = 1;
    OWN
    while (!stop) { UPDATE; }
    return given;
}
int main(void) {
    pthread_t threads[THREADS];
    ARRAY
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, GIVEN);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
"""
AFRESH = '__asm__ volatile("" ::: "memory")'
PLAIN = {
    "MEMBERS": "long count, bytes;",
    "OWN": "struct item *mine = given;",
    "UPDATE": f"mine->count++; mine->bytes += 3; {AFRESH}",
    "ARRAY": "struct item *array = calloc(THREADS, sizeof *array);",
    "GIVEN": "&array[i]",
}
ON_STACK = {"ARRAY": "struct item array[THREADS] = {0};"}
# GCC keeps the pointer in a register that a callee of the same unit leaves alone, though it may change it.
ACROSS_CALL = {"UPDATE": f"sum = mixed(sum); mine->count += sum; {AFRESH}"}
BY_NUMBER = {
    "OWN": "long mine = (long)given;",
    "UPDATE": f"items[mine].count++; {AFRESH}",
    "ARRAY": "items = calloc(THREADS, sizeof *items);",
    "GIVEN": "(void *)i",
}
BEHIND_WORD = {
    "OWN": "struct shared *all = given; long mine = (long)pthread_self() & 3;",
    "UPDATE": f"all->items[mine].count++; {AFRESH}",
    "ARRAY": "shared.items = calloc(THREADS, sizeof *items); struct shared all = shared;",
    "GIVEN": "&all",
}


@pytest.fixture(params=BUILDS, ids=" ".join)
def built(request: pytest.FixtureRequest) -> tuple[str, str]:
    if shutil.which(request.param[0]) is None:
        pytest.skip(f"no {request.param[0]}")
    return request.param[0], request.param[1]


def found(folder: Path, built: tuple[str, str], **changed: str) -> list[Finding]:
    """What is said of elements in the program with these parts, at low and above."""
    text = C
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source = folder / "elements.c"
    source.write_text(text)
    program = source.with_suffix("")
    subprocess.run([built[0], built[1], "-g", "-pthread", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.severity.rank >= Severity.LOW.rank and f.rule == "packed-thread-slots"]


SHAPES = [{}, ON_STACK, BY_NUMBER, ACROSS_CALL, ON_STACK | ACROSS_CALL]
NAMES = ["heap", "stack", "by number", "across a call", "on the stack across a call"]


@pytest.mark.parametrize("array", SHAPES, ids=NAMES)
def test_elements_that_threads_are_given(tmp_path: Path, built: tuple[str, str], array: dict[str, str]) -> None:
    (finding,) = found(tmp_path, built, **array)
    on_stack = array.items() >= ON_STACK.items()  # gcc keeps no type of these
    assert finding.severity in ((Severity.MEDIUM, Severity.HIGH) if on_stack else (Severity.HIGH,))


@pytest.mark.parametrize("array", SHAPES, ids=NAMES)
def test_not_elements_on_lines_of_their_own(tmp_path: Path, built: tuple[str, str], array: dict[str, str]) -> None:
    assert found(tmp_path, built, MEMBERS="long count, bytes, more[14];", **array) == []


def test_not_elements_that_are_only_read(tmp_path: Path, built: tuple[str, str]) -> None:
    assert found(tmp_path, built, UPDATE="if (mine->count + mine->bytes) break") == []


def test_elements_of_an_array_that_a_word_of_a_handed_record_leads_to(tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    (finding,) = found(tmp_path, ("gcc", "-O2"), **BEHIND_WORD)
    assert finding.participants[0].name == "*shared.items"


def test_not_where_threads_set_the_word(tmp_path: Path) -> None:
    """Each may have an array of its own then: that small records are changed side by side is all that is said."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    own = BEHIND_WORD["OWN"] + "all->items = calloc(THREADS, sizeof *items);"
    of_work = found(tmp_path, ("gcc", "-O2"), **{**BEHIND_WORD, "OWN": own})
    assert [f for f in of_work if f.severity is not Severity.LOW] == []
    assert not [f for f in of_work if "argument of work" in f.participants[0].name]


def test_not_elements_of_a_table_at_numbers_that_change(tmp_path: Path, built: tuple[str, str]) -> None:
    """What a thread was given says nothing of where it counts next: only that code chooses is left to say."""
    walks = {
        "OWN": "unsigned long key = 7;",
        "UPDATE": "key = key * 1103515245 + 12345; items[key % 4096].count++; " + AFRESH,
    }
    table = {"ARRAY": "items = calloc(4096, sizeof *items);", "GIVEN": "0"}
    findings = found(tmp_path, built, **walks, **table)
    assert all(finding.severity is Severity.LOW and "perhaps its own" in finding.message for finding in findings)


INSIDE = """
#include <pthread.h>
#include <stdlib.h>
struct queue { long in; long out; struct item *slots[64]; };
static volatile int stop;
static struct item *last;
static void *put(void *given) {
    struct queue *queue = given;
    while (!stop) { queue->slots[__atomic_fetch_add(&queue->in, 1, __ATOMIC_RELAXED) % 64] = given; }
    return given;
}
static void *take(void *given) {
    struct queue *queue = given;
    while (!stop) { last = queue->slots[__atomic_fetch_add(&queue->out, 1, __ATOMIC_RELAXED) % 64]; }
    return given;
}
int main(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    pthread_t one, two;
    pthread_create(&one, 0, put, queue);
    pthread_create(&two, 0, take, queue);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
"""


def test_an_array_in_a_record_makes_the_record_no_array(tmp_path: Path, built: tuple[str, str]) -> None:
    source = tmp_path / "inside.c"
    source.write_text(INSIDE)
    program = source.with_suffix("")
    subprocess.run([built[0], built[1], "-pthread", str(source), "-o", str(program)], check=True)
    findings = audit(AuditOptions(binary=str(program))).findings
    pairs = [{p.name.rpartition("+")[2] for p in f.participants[:2]} for f in findings if f.line.place == "a line"]
    assert any(len(pair) == 2 and "0x8" in pair for pair in pairs)
