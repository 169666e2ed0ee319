"""Locks that code takes by itself: what they guard is used in turns, where they are surely held."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Severity
from tests.sharing.conftest import Compile

# Two counters on one line that begins with them, each changed by a thread of its own.
PROGRAM = """
#include <pthread.h>
#include <sched.h>
char before[64] __attribute__((aligned(64)));
GATE __attribute__((aligned(64)));
long first __attribute__((aligned(64)));
long second;
char after[64] __attribute__((aligned(64)));
#define OFTEN __attribute__((noinline))
LOCK
OFTEN static void add(long n) { second += n; }
static void *one(void *p) { for (;;) { FIRST } return p; }
static void *two(void *p) { for (;;) { SECOND } return p; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, one, 0);
  pthread_create(&t, 0, two, 0);
  pthread_exit(0);
}
"""
EXCHANGE = (
    "int gate",
    """
static inline void take(void) { while (__atomic_exchange_n(&gate, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause(); }
static inline void give(void) { __atomic_store_n(&gate, 0, __ATOMIC_RELEASE); }
""",
)
TRY = ("int gate", "#define TRY (!__atomic_exchange_n(&gate, 1, __ATOMIC_ACQUIRE))\n" + EXCHANGE[1])
WAITS_BY_CALL = """
OFTEN static void wait_for(int *gate) {
  do sched_yield(); while (WAIT);
}
static inline void take(void) { if (__builtin_expect(__atomic_exchange_n(&gate, 1, 2), 0)) wait_for(&gate); }
static inline void give(void) { __atomic_store_n(&gate, 0, __ATOMIC_RELEASE); }
"""
LOCKS = {
    "exchange": EXCHANGE,
    "byte": ("_Bool gate", EXCHANGE[1].replace("&gate, 1", "&gate, (_Bool)1")),
    "given back by an exchange": ("int gate", EXCHANGE[1].replace("store_n(&gate, 0", "exchange_n(&gate, 0")),
    "old builtins": (
        "int gate",
        """
static inline void take(void) { while (__sync_lock_test_and_set(&gate, 1)) ; }
static inline void give(void) { __sync_lock_release(&gate); }
""",
    ),
    "compare and swap": (
        "int gate",
        """
static inline void take(void) {
  int none = 0;
  while (!__atomic_compare_exchange_n(&gate, &none, 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) none = 0;
}
static inline void give(void) { __atomic_store_n(&gate, 0, __ATOMIC_RELEASE); }
""",
    ),
    "ticket": (
        "struct { unsigned next, turn; } gate",
        """
static inline void take(void) {
  unsigned mine = __atomic_fetch_add(&gate.next, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&gate.turn, __ATOMIC_ACQUIRE) != mine) __builtin_ia32_pause();
}
static inline void give(void) { __atomic_store_n(&gate.turn, gate.turn + 1, __ATOMIC_RELEASE); }
""",
    ),
    "functions": ("int gate", EXCHANGE[1].replace("static inline", "OFTEN static")),
    "a function that gives": ("int gate", EXCHANGE[1].replace("static inline void give", "OFTEN static void give")),
    "waits by a call": (
        "int gate",
        WAITS_BY_CALL.replace("WAIT)", "__atomic_exchange_n(gate, 1, __ATOMIC_ACQUIRE))"),
    ),
    "ends with what waits": (
        "int gate",
        WAITS_BY_CALL.replace("WAIT)", "__atomic_exchange_n(gate, 1, __ATOMIC_ACQUIRE))").replace("inline", "OFTEN"),
    ),
}
# There an exchange and a compare-and-swap are functions that stand for the instruction.
ARM = "aarch64-linux-gnu-gcc"
# Which number such a function is handed is not followed to where the lock is given back.
OUTLINED = {name: LOCKS[name] for name in LOCKS if name not in ("ticket", "given back by an exchange")}
TURNS = ("take(); first++; give();", "take(); second += 2; give();")
TOGETHER = {
    "behind it": ("take(); first++; give();", "take(); give(); second += 2;"),
    "before it": ("take(); first++; give();", "second += 2; take(); give();"),
    "by what is called behind it": ("take(); first++; give();", "take(); give(); add(2);"),
    "where one way gives it back": (
        "take(); first++; give();",
        "take(); if (before[1]) give(); second += 2; if (!before[1]) give();",
    ),
}


def judged(compiled: Compile, tool: str, gate: str, lock: str, use: tuple[str, str], strip: bool = False) -> set[str]:
    """How severe what is said of the two counters is."""
    text = PROGRAM.replace("GATE", gate).replace("LOCK\n", lock).replace("FIRST", use[0]).replace("SECOND", use[1])
    # Which registers a callee leaves alone is not followed.
    flags = ["-O2", "-g"] + (["-fno-toplevel-reorder", "-fno-ipa-ra"] if "gcc" in tool else [])
    if tool == ARM:
        flags.append("-D__builtin_ia32_pause()=(void)0")
    program = compiled(tool, "c", text, *flags)
    if strip:
        stripped = program.with_name("stripped")
        subprocess.run(["strip", "-o", stripped, program], check=True)
        program = stripped
    report = api.audit(str(program), min_severity=Severity.NOTE)
    return {f.severity for f in report.findings if f.rule in ("aligned-without-padding", "independent-writers")}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("gate", "lock"), LOCKS.values(), ids=LOCKS)
def test_what_one_lock_guards_is_used_in_turns(compiled: Compile, tool: str, gate: str, lock: str) -> None:
    assert judged(compiled, tool, gate, lock, TURNS) == {"low"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("gate", "lock"), LOCKS.values(), ids=LOCKS)
def test_what_is_done_without_the_lock_is_not(compiled: Compile, tool: str, gate: str, lock: str) -> None:
    assert judged(compiled, tool, gate, lock, TOGETHER["behind it"]) == {"high"}


@pytest.mark.parametrize(("gate", "lock"), OUTLINED.values(), ids=OUTLINED)
def test_locks_by_functions_that_stand_for_an_exchange(compiled: Compile, gate: str, lock: str) -> None:
    assert judged(compiled, ARM, gate, lock, TURNS) == {"low"}
    assert judged(compiled, ARM, gate, lock, TOGETHER["behind it"]) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("use", TOGETHER.values(), ids=TOGETHER)
def test_it_has_to_be_held_on_all_ways(compiled: Compile, tool: str, use: tuple[str, str]) -> None:
    assert judged(compiled, tool, *EXCHANGE, use) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_what_is_called_while_it_is_held_is_under_it(compiled: Compile, tool: str) -> None:
    assert judged(compiled, tool, *EXCHANGE, (TURNS[0], "take(); add(2); give();")) == {"low"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_an_attempt_holds_it_only_where_it_did_not_fail(compiled: Compile, tool: str) -> None:
    tries = ("if (TRY) { first++; give(); }", "if (TRY) { second += 2; give(); }")
    assert judged(compiled, tool, *TRY, tries) == {"low"}
    assert judged(compiled, tool, *TRY, (tries[0], "if (TRY) give(); second += 2;")) == {"high"}
    assert judged(compiled, tool, *TRY, (tries[0], "if (TRY) give(); else second += 2;")) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_call_that_only_waits_takes_nothing(compiled: Compile, tool: str) -> None:
    waits = WAITS_BY_CALL.replace("WAIT)", "__atomic_load_n(gate, __ATOMIC_ACQUIRE))")
    assert judged(compiled, tool, "int gate", waits, TURNS) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_what_others_may_clear_is_no_lock(compiled: Compile, tool: str) -> None:
    """One thread fills a place and sets the mark, the other takes what is there and clears it."""
    fill = "if (!__atomic_exchange_n(&gate, 1, 2)) first++;"
    empty = "if (__atomic_load_n(&gate, 2)) { second += 2; __atomic_store_n(&gate, 0, 3); }"
    assert judged(compiled, tool, "int gate", "", (fill, empty)) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_word_with_more_states_is_no_lock(compiled: Compile, tool: str) -> None:
    two = "take(); second += 2; __atomic_store_n(&gate, before[1], __ATOMIC_RELEASE);"
    assert judged(compiled, tool, *EXCHANGE, (TURNS[0], two)) == {"high"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_symbols_are_not_needed(compiled: Compile, tool: str) -> None:
    assert judged(compiled, tool, *EXCHANGE, TURNS, strip=True) == {"note"}
    assert judged(compiled, tool, *EXCHANGE, TOGETHER["behind it"], strip=True) & {"low", "high"}


HANDED = """
#include <pthread.h>
#include <stdlib.h>
struct both { int gate; char apart[60]; long first, second; char after[48]; };
#define TAKE while (__atomic_exchange_n(&p->gate, 1, __ATOMIC_ACQUIRE))
#define GIVE __atomic_store_n(&p->gate, 0, __ATOMIC_RELEASE)
static void *one(void *a) { for (struct both *p = a;;) { TAKE; p->first++; GIVE; } return a; }
static void *two(void *a) { for (struct both *p = a;;) { TAKE; SECOND } return a; }
int main(void) {
  static struct both both __attribute__((aligned(64)));
  struct both *p = PLACE;
  pthread_t t;
  pthread_create(&t, 0, one, p);
  pthread_create(&t, 0, two, p);
  pthread_exit(0);
}
"""


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize("place", ["&both", "aligned_alloc(64, sizeof both)"])
def test_a_lock_in_a_record_that_threads_are_handed(compiled: Compile, tool: str, place: str) -> None:
    text = HANDED.replace("PLACE", place)

    def severities(second: str) -> set[str]:
        program: Path = compiled(tool, "c", text.replace("SECOND", second), "-O2", "-g")
        found = api.audit(str(program), min_severity=Severity.NOTE).findings
        return {f.severity for f in found if f.rule == "independent-writers"}

    assert severities("p->second += 2; GIVE;") == {"low" if place == "&both" else "note"}
    assert severities("GIVE; p->second += 2;") <= {"high", "medium"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_the_lock_is_named_as_one(compiled: Compile, tool: str) -> None:
    """Beside what it guards, in one object, it is in its place: whoever uses that has the lock."""
    text = HANDED.replace("PLACE", "&both").replace("char apart[60];", "")
    text = text.replace("SECOND", "p->first += 2; GIVE;")
    report = api.audit(str(compiled(tool, "c", text, "-O2", "-g")), min_severity=Severity.NOTE)
    (found,) = (f for f in report.findings if f.rule == "hot-lock-shares-line")
    assert found.severity == Severity.NOTE
    assert found.participants[0].role == "spinlock"


HIGH = ("-mcmodel=kernel", "-fno-pic", "-static", "-nostdlib", "-Wl,-Ttext-segment=0xffffffff81000000")


def test_addresses_of_the_upper_half_are_addresses(compiled: Compile) -> None:
    """As a kernel's are: what calls are handed is kept as a signed number, words are not."""
    text = """
int gate, other;
long first, second;
__attribute__((noipa)) static void take(int *at) { while (__atomic_exchange_n(at, 1, 2)); }
__attribute__((noipa)) static void give(int *at) { __atomic_store_n(at, 0, 3); }
void _start(void) { for (;;) { take(&gate); first++; give(&gate); take(&other); second++; give(&other); } }
"""
    report = api.audit(str(compiled("gcc", "c", text, "-O2", *HIGH)), min_severity=Severity.NOTE)
    assert report.coverage.counts["lock_calls"] == 2
