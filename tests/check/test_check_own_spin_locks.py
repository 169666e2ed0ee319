"""Words that functions take by an exchange and give back by a store of zero are locks, without a pointer to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

C_PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
__attribute__((noinline)) long crunch(long x) { for (int i = 0; i < 20; i++) x = x * 2862933555L + 1; return x; }
__attribute__((aligned(64))) %(word)s; char apart[60];
__attribute__((aligned(64))) long zero; volatile long in, out; char behind[40];
static inline void take(void) { %(take)s }
static inline void give(void) { %(give)s }
%(more)s
void *fill(void *p) { for (long s = 1;;) { s = crunch(s); %(fill)s } return 0; }
void *drain(void *p) { for (long s = 1;;) { s = crunch(s); %(drain)s } return 0; }
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, fill, 0);
  pthread_create(&t[1], 0, drain, 0);
  pthread_join(t[0], 0);
  return 0;
}
"""
C_LOCKS = {
    "exchange": ("atomic_int lk", "while (atomic_exchange(&lk, 1)) ;", "atomic_store(&lk, 0);"),
    "exchange and look": (
        "struct { atomic_int v; } lk",
        "while (atomic_exchange_explicit(&lk.v, 1, memory_order_acquire) != 0) while (atomic_load(&lk.v)) ;",
        "atomic_store_explicit(&lk.v, 0, memory_order_release);",
    ),
    "compare": ("atomic_int lk", "int z = 0; while (!atomic_compare_exchange_weak(&lk, &z, 1)) z = 0;", "lk = 0;"),
    "built-in compare": (
        "int lk",
        "int z = 0; while (!__atomic_compare_exchange_n(&lk, &z, 1, 0, 2, 0)) z = 0;",
        "__atomic_store_n(&lk, 0, 3);",
    ),
    "flag": ("atomic_flag lk", "while (atomic_flag_test_and_set(&lk)) ;", "atomic_flag_clear(&lk);"),
    "sync": ("volatile int lk", "while (__sync_lock_test_and_set(&lk, 1)) while (lk) ;", "__sync_lock_release(&lk);"),
    "sync, plain store": ("volatile int lk", "while (__sync_lock_test_and_set(&lk, 1)) ;", "lk = 0;"),
    "sync compare": (
        "volatile int lk",
        "while (!__sync_bool_compare_and_swap(&lk, 0, 1)) ;",
        "__sync_lock_release(&lk);",
    ),
    "test and set": ("char lk", "while (__atomic_test_and_set(&lk, 2)) ;", "__atomic_clear(&lk, 3);"),
}
CPP_PROGRAM = """
#include <atomic>
#include <thread>
__attribute__((noinline)) long crunch(long x) { for (int i = 0; i < 20; i++) x = x * 2862933555L + 1; return x; }
alignas(64) std::%(word)s; char apart[60];
alignas(64) long zero; volatile long in, out; char behind[40];
static void take() { %(take)s }
static void give() { %(give)s }
void fill() { for (long s = 1;;) { s = crunch(s); take(); in = in + s; give(); } }
void drain() { for (long s = 1;;) { s = crunch(s); take(); out = out + s; give(); } }
int main() { std::thread a(fill), b(drain); a.join(); b.join(); }
"""
CPP_LOCKS = {
    "flag": ("atomic_flag lk", "while (lk.test_and_set(std::memory_order_acquire)) ;", "lk.clear();"),
    "exchange": ("atomic<bool> lk", "while (lk.exchange(true)) ;", "lk = false;"),
    "compare": (
        "atomic<int> lk",
        "int z = 0; while (!lk.compare_exchange_weak(z, 1)) z = 0;",
        "lk.store(0, std::memory_order_release);",
    ),
}
UNDER = {"fill": "take(); in += s; give();", "drain": "take(); out += s; give();"}


def severity(folder: Path, name: str, text: str) -> Severity | None:
    """Of what is said of the two counters."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / name
    source.write_text(text)
    options = CheckOptions(facts=FactsRequest(sources=(str(source),), flags=("-O2",)), edits=False)
    found = check_program(read_program(options), options).findings
    return next((one.severity for one in found if {p.name for p in one.participants} >= {"in", "out"}), None)


def of_c(folder: Path, lock: str, *, more: str = "", **code: str) -> Severity | None:
    word, take, give = C_LOCKS[lock]
    return severity(
        folder, "spin.c", C_PROGRAM % {"word": word, "take": take, "give": give, "more": more, **UNDER, **code}
    )


@pytest.mark.parametrize("lock", C_LOCKS)
def test_a_word_that_c_takes(tmp_path: Path, lock: str) -> None:
    assert of_c(tmp_path, lock) is Severity.LOW


@pytest.mark.parametrize("lock", CPP_LOCKS)
def test_a_word_that_cpp_takes(tmp_path: Path, lock: str) -> None:
    word, take, give = CPP_LOCKS[lock]
    assert severity(tmp_path, "spin.cc", CPP_PROGRAM % {"word": word, "take": take, "give": give}) is Severity.LOW


def test_a_word_that_is_taken_where_it_is_used(tmp_path: Path) -> None:
    tried = "if (!atomic_exchange(&lk, 1)) { %s += s; atomic_store(&lk, 0); }"
    assert of_c(tmp_path, "exchange", fill=tried % "in", drain=tried % "out") in (None, Severity.LOW)


def test_what_is_done_before_and_behind_is_not_under_it(tmp_path: Path) -> None:
    assert of_c(tmp_path, "exchange", fill="take(); give(); in += s;") is Severity.HIGH
    assert of_c(tmp_path, "exchange", drain="out += s; take(); give();") is Severity.HIGH
    assert of_c(tmp_path, "exchange", fill="if (atomic_exchange(&lk, 1)) in += s; else give();") is Severity.HIGH


def test_a_word_that_others_change_is_no_lock(tmp_path: Path) -> None:
    for change in ("atomic_fetch_add(&lk, 1)", "atomic_store(&lk, 2)", "atomic_exchange(&lk, s)"):
        assert of_c(tmp_path, "exchange", more=f"void stir(long s) {{ {change}; }}") is Severity.HIGH


def test_behind_a_word_that_nobody_gives_back_all_is_done_once(tmp_path: Path) -> None:
    """Whoever took it waits for ever where it wants it again."""
    word, take, _ = C_LOCKS["exchange"]
    text = C_PROGRAM % {"word": word, "take": take, "give": "", "more": "", **UNDER}
    assert severity(tmp_path, "spin.c", text) is None


def test_a_function_that_is_named_like_a_library_s_but_takes_no_lock_as_argument(tmp_path: Path) -> None:
    named = "static inline void spin_lock(void) { take(); } static inline void spin_unlock(void) { give(); }"
    under = {name: code.replace("take", "spin_lock").replace("give", "spin_unlock") for name, code in UNDER.items()}
    assert of_c(tmp_path, "exchange", more=named, **under) is Severity.LOW
