"""Code behind a variable that it alone sets runs once; behind one that is reset, or set elsewhere, it does not."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.image import read_images
from linemate.options import CheckOptions, FactsRequest
from linemate.source import images, read_program
from sharing.basics.numbers import SELDOM
from sharing.knowledge import default_knowledge
from sharing.model import ZERO_RANGE_DTYPE, AccessKind, FunctionFlag, Image
from sharing.model.image import ZeroRange
from sharing.static.firstuse import first_uses
from sharing.static.rarecode import with_rarity
from tests.builders.image import Builder
from tests.sharing.conftest import Compile

COMPILERS = [(tool, level) for tool in ("gcc", "clang-19") for level in ("-O0", "-O2")]
COMPILERS += [("aarch64-linux-gnu-gcc", "-O2"), ("riscv64-linux-gnu-gcc", "-O2")]

# once_*: set in the code that runs while it is zero, and nowhere else.
# often_*: the near misses.
USES = """
#include <pthread.h>
#include <stdlib.h>
volatile long seen_once, seen_locked, seen_called, seen_busy, seen_elsewhere, seen_counted, seen_taken;
volatile long seen_first, seen_again, seen_failed, seen_tried;
static long *once_tried;
static int once_first = 1, often_again = 1;
static int once_plain, once_locked, once_called, often_busy, often_elsewhere, often_counted, often_taken, often_failed;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void prepare(void) { seen_called++; once_called = 1; }
__attribute__((noinline)) static void drop(void) { often_elsewhere = rand(); }
__attribute__((noinline)) void hand_out(int *where) { *where = rand(); }
__attribute__((noinline)) int work(int n) {
  if (!once_plain) { seen_once++; once_plain = 1; }
  if (!__atomic_load_n(&once_locked, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&guard);
    if (!once_locked) { seen_locked++; __atomic_store_n(&once_locked, 1, __ATOMIC_RELEASE); }
    pthread_mutex_unlock(&guard);
  }
  if (!once_called) prepare();
  if (once_first) { once_first = 0; seen_first++; }
  if (often_again) { often_again = n > 3; seen_again++; }
  if (!often_busy) { often_busy = 1; seen_busy += n; rand(); often_busy = 0; }
  if (!often_elsewhere) { seen_elsewhere++; often_elsewhere = 1; }
  if (!often_counted) { seen_counted++; }
  often_counted++;
  if (!often_taken) { seen_taken++; often_taken = 1; }
  if (!often_failed) { seen_failed++; if (rand() == n && rand() == 5 && rand() == 6 && rand() == 7) often_failed = 1; }
  if (!once_tried) {
    long *got = malloc(n);
    if (got) { seen_tried++; once_tried = got; } else { rand(); once_tried = NULL; }
  }
  return n;
}
int main(int n, char **v) {
  while (n--) { work(n); if (n == 7) drop(); if (n == 9) hand_out(&often_taken); }
  return 0;
}
"""
# Flags with a number for what is done, in place of zero and one.
STATES = """
#include <stdlib.h>
enum { RUNNING = 1000, DONE = 221, OTHER = 5 };
volatile long seen_valued, seen_busy, seen_reset, seen_rare, seen_moved;
static int once_inside, once_called, often_busy, often_reset, often_rare, often_moved;
#if defined(__x86_64__)
#define FINISH(state, to) __atomic_exchange_n(&(state), to, __ATOMIC_ACQ_REL)
#else
#define FINISH(state, to) __atomic_store_n(&(state), to, __ATOMIC_RELEASE)
#endif
__attribute__((noinline)) static void prepare(void) {
  int none = 0;
  if (__atomic_compare_exchange_n(&once_called, &none, RUNNING, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    rand();
    FINISH(once_called, DONE);
  }
}
__attribute__((noinline)) void reset(int n) { often_reset = n; }
__attribute__((noinline)) int work(int n) {
  if (__atomic_load_n(&once_called, __ATOMIC_ACQUIRE) != DONE) prepare();
  if (once_inside != OTHER) { seen_valued++; once_inside = OTHER; }
  if (often_busy != OTHER) { often_busy = OTHER; seen_busy++; rand(); often_busy = 7; }
  if (often_reset != OTHER) { seen_reset++; often_reset = OTHER; }
  if (often_rare != OTHER) {
    seen_rare++;
    if (rand() == n && rand() == 5 && rand() == 6 && rand() == 7) often_rare = OTHER;
  }
  if (often_moved != OTHER) { seen_moved++; often_moved = rand(); }
  return n;
}
int main(int n, char **v) {
  while (n--) { work(n); if (n == 7) reset(n); }
  return 0;
}
"""
# What is done until another function, or one that is seldom called from there, says that it is over.
UNTIL = """
#include <stdlib.h>
enum { DONE = 7 };
volatile long seen_served, seen_handled, seen_stopped, seen_worked, seen_finished;
static int stopping, state;
__attribute__((noinline)) void stop(void) { if (!stopping) { seen_stopped++; stopping = 1; } }
__attribute__((noinline)) void serve(void) { if (!stopping) seen_served++; }
__attribute__((noinline)) void handle(int n) {
  if (!stopping) {
    seen_handled++;
    if (rand() == n && rand() == 5 && rand() == 6 && rand() == 7) stop();
  }
}
__attribute__((noinline)) void finish(void) { if (state != DONE) { seen_finished++; state = DONE; } }
__attribute__((noinline)) void work(void) { if (state != DONE) seen_worked++; }
int main(int n, char **v) {
  while (n--) { serve(); handle(n); work(); if (n == 7) stop(); if (n == 9) finish(); }
  return 0;
}
"""
# Loops that ask a variable each time around.
LOOPS = """
#include <stdlib.h>
volatile long seen_rounds, seen_set, seen_thrown, seen_next;
static volatile int often_stop, once_set, often_clear = 1, often_next;
__attribute__((noinline)) void serve(int n) {
  while (!often_stop) { seen_rounds++; if (rand() == n) often_stop = 1; }
}
__attribute__((noinline)) void throw(int n) {
  do { seen_thrown++; if (rand() == n) { rand(); often_clear = 0; } } while (often_clear);
}
__attribute__((noinline)) void next(int n) {
  while (!often_next) { seen_next++; if (rand() != n) continue; often_next = 1; break; }
}
__attribute__((noinline)) void lazily(int n) {
  while (n--) { if (!once_set) { seen_set++; once_set = 1; continue; } rand(); }
}
int main(int n, char **v) { while (n--) { serve(n); throw(n); next(n); lazily(n); } return 0; }
"""
# Words that an exchange finds zero, with no test of their own.
TAKEN = """
#include <stdlib.h>
volatile long seen_said, seen_swapped, seen_compared, seen_returned, seen_given, seen_back, seen_reset, seen_handed;
volatile long seen_counted, seen_new;
static int once_swapped, once_compared, once_returned, often_given, often_back, often_reset, often_handed;
static int often_counted, often_new;
static _Bool once_said;
static long *once_made;
#define TAKES(word) !__atomic_exchange_n(&word, 1, __ATOMIC_ACQ_REL)
__attribute__((noinline)) static int compared(int *word, int expected) {
  return __atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
__attribute__((noinline)) void begin(void) { if (!TAKES(once_returned)) return; seen_returned++; rand(); }
__attribute__((noinline)) void reset(void) { __atomic_store_n(&often_reset, 0, __ATOMIC_RELEASE); }
__attribute__((noinline)) void hand_out(int *where) { *where = rand(); }
__attribute__((noinline)) int work(int n) {
  int none = 0;
  if (!__atomic_exchange_n(&once_said, (_Bool)1, __ATOMIC_ACQ_REL)) seen_said++;
  if (TAKES(once_swapped)) { seen_swapped++; rand(); }
  if (__atomic_compare_exchange_n(&once_compared, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) seen_compared++;
  begin();
  if (TAKES(often_given)) { seen_given++; rand(); __atomic_store_n(&often_given, 0, __ATOMIC_RELEASE); }
  if (TAKES(often_back)) { seen_back++; rand(); __atomic_exchange_n(&often_back, 0, __ATOMIC_ACQ_REL); }
  if (TAKES(often_reset)) seen_reset++;
  if (TAKES(often_handed)) seen_handed++;
  if (!__atomic_fetch_add(&often_counted, 1, __ATOMIC_RELAXED)) seen_counted++;
  return n;
}
__attribute__((noinline)) long *lazily(int n) {
  long *made = __atomic_load_n(&once_made, __ATOMIC_ACQUIRE), *none = NULL;
  if (made) return made;
  made = malloc(n);
  seen_new++;
  if (__atomic_compare_exchange_n(&once_made, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  free(made);
  return none;
}
int main(int n, char **v) {
  while (n--) { work(n); lazily(n); if (n == 7) reset(); if (n == 9) hand_out(&often_handed); }
  return 0;
}
"""
TAKEN_ONCE = {"seen_said", "seen_swapped", "seen_compared", "seen_returned", "seen_new"}
# What std::call_once is handed, and std::for_each.
CALLED = """
#include <algorithm>
#include <mutex>
long seen_lambda, seen_each;
static std::once_flag one;
int numbers[64];
void work() {
  std::call_once(one, [] { seen_lambda++; });
  std::for_each(numbers, numbers + 64, [](int n) { seen_each += n; });
}
int main(int n, char **) { while (n--) work(); }
"""
# As a C++ program does that is linked with its run-time: the guards' functions are its own, and without names.
GUARDS = """
#include <stdlib.h>
extern "C" {
__attribute__((noinline)) int __cxa_guard_acquire(unsigned char *guard) {
  if (__atomic_load_n(guard, __ATOMIC_ACQUIRE)) return 0;
  guard[1] = 2;
  return 1;
}
__attribute__((noinline)) void __cxa_guard_release(unsigned char *guard) {
  __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
  guard[1] = 1;
}
void __cxa_guard_abort(unsigned char *guard) { guard[1] = 0; }
}
struct Number { long value; __attribute__((noinline)) Number(const char *s) { value = strtol(s, nullptr, 10); } };
__attribute__((noinline)) long one_of(long n) {
  static Number even("12"), odd("13");
  return n & 1 ? odd.value : even.value;
}
__attribute__((noinline)) long required(const long *p) {
  static Number least("2");
  if (!*p) __builtin_trap();
  return least.value + *p;
}
int main(int n, char **v) {
  long sum = n;
  while (n--) sum += one_of(sum) + required(&sum);
  return (int)sum;
}
"""
ONCE = {"seen_once", "seen_locked", "seen_first", "seen_tried", "prepare"}
OFTEN = {
    "seen_called",
    "seen_again",
    "seen_busy",
    "seen_elsewhere",
    "seen_counted",
    "seen_taken",
    "seen_failed",
}  # the first is prepare's own


def rarities(image: Image) -> dict[str, int]:
    """The rarity of what changes each variable that is called seen_*, and of the call of ``prepare``."""
    names = {int(row["address"]): image.names[row["name"]] for row in (*image.variables, *image.functions)}
    changed = image.sites[np.isin(image.sites["kind"], [AccessKind.STORE, AccessKind.RMW])]
    found = {names.get(int(site["target"]), ""): int(site["rarity"]) for site in changed}
    found |= {names.get(int(call["callee"]), ""): int(call["rarity"]) for call in image.calls}
    return {name: rarity for name, rarity in found.items() if name.startswith("seen_") or name == "prepare"}


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_what_is_done_while_a_variable_is_zero_is_done_once(compiled: Compile, tool: str, level: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", USES, level)), types=False)
    found = rarities(with_rarity(image))
    assert found.keys() == {*ONCE, *OFTEN}
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == ONCE


# RISC-V compares with zero alone, and clang without optimisation hands the number over on the stack.
@pytest.mark.parametrize(("tool", "level"), [c for c in COMPILERS[:-1] if c != ("clang-19", "-O0")])
def test_what_is_done_until_a_variable_is_done_with_is_done_once(compiled: Compile, tool: str, level: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", STATES, level)), types=False)
    found = rarities(with_rarity(image))
    assert found.keys() == {"seen_valued", "seen_busy", "seen_reset", "seen_rare", "seen_moved", "prepare"}
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == {"seen_valued", "prepare"}


# AArch64 asks for one bit of a guard, and gcc for RISC-V leaves the test to the function that it calls.
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_static_objects_of_functions_are_made_once(compiled: Compile, tool: str) -> None:
    """Several guards in a row, of which a compiler repeats the tests, and one behind an instruction that traps."""
    (image,) = read_images(str(compiled(tool, "cpp", GUARDS, "-O2", "-fno-exceptions")), types=False)
    calls = with_rarity(image).calls
    names = {int(row["address"]): image.names[row["name"]] for row in image.functions if row["name"] >= 0}
    made = [int(call["rarity"]) for call in calls if names.get(int(call["callee"])) == "__cxa_guard_release"]
    assert len(made) == 3
    assert min(made) >= SELDOM
    work = [int(call["rarity"]) for call in calls if "required" in names.get(int(call["callee"]), "")]
    assert max(work) < SELDOM


def test_source_says_the_same(tmp_path: Path) -> None:
    source = tmp_path / "uses.c"
    source.write_text(USES)
    options = CheckOptions(facts=FactsRequest(sources=(str(source),)), assume_threads=True)
    ((_, image),) = images(read_program(options), options, default_knowledge())
    found = rarities(with_rarity(image))
    assert found.keys() == {*ONCE, *OFTEN}
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == ONCE


# On AArch64 an exchange is a function that stands for the instruction.
@pytest.mark.parametrize("tool", ["gcc", "clang-19", "aarch64-linux-gnu-gcc"])
def test_what_is_done_by_who_takes_a_word_for_good_is_done_once(compiled: Compile, tool: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", TAKEN, "-O2")), types=False)
    found = rarities(with_rarity(image))
    assert found.keys() >= TAKEN_ONCE
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == TAKEN_ONCE


def test_functions_that_stand_for_an_exchange_need_no_name(compiled: Compile, tmp_path: Path) -> None:
    program = compiled("aarch64-linux-gnu-gcc", "c", TAKEN, "-O2")
    stripped = tmp_path / "stripped"
    subprocess.run(["aarch64-linux-gnu-strip", "-o", str(stripped), str(program)], check=True)
    (named,), (image,) = (read_images(str(path), types=False) for path in (program, stripped))
    held, same = (
        one.zero_ranges[one.zero_ranges["what"] == ZeroRange.HELD][["variable", "begin", "end"]].tolist()
        for one in (named, image)
    )
    assert len(held) >= len(TAKEN_ONCE) - 1
    assert held == same


def test_source_says_the_same_of_who_takes_a_word(tmp_path: Path) -> None:
    found = rarities(with_rarity(read_source(tmp_path / "taken.c", TAKEN)))
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == TAKEN_ONCE


def test_what_is_called_once_is_done_once(tmp_path: Path) -> None:
    image = read_source(tmp_path / "called.cc", CALLED)
    names = {int(row["address"]): image.names[row["name"]] for row in image.functions}
    called = {names.get(int(call["callee"]), ""): int(call["rarity"]) for call in image.calls}
    lambdas = {name: rarity for name, rarity in called.items() if "4workvE" in name}
    assert sorted(rarity >= SELDOM for rarity in lambdas.values()) == [False, True]
    assert lambdas["_ZZ4workvENK3$_0clEv"] >= SELDOM


def read_source(path: Path, text: str) -> Image:
    path.write_text(text)
    options = CheckOptions(facts=FactsRequest(sources=(str(path),)), assume_threads=True)
    ((_, image),) = images(read_program(options), options, default_knowledge())
    return image


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_a_loop_that_goes_on_until_it_is_stopped_runs_often(compiled: Compile, tool: str, level: str) -> None:
    """Its own code sets the variable, once; until then it comes around without."""
    (image,) = read_images(str(compiled(tool, "c", LOOPS, level)), types=False)
    found = rarities(with_rarity(image))
    assert found.keys() == {"seen_rounds", "seen_set", "seen_thrown", "seen_next"}
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == {"seen_set"}


def test_source_says_the_same_of_loops(tmp_path: Path) -> None:
    source = tmp_path / "loops.c"
    source.write_text(LOOPS)
    options = CheckOptions(facts=FactsRequest(sources=(str(source),)), assume_threads=True)
    ((_, image),) = images(read_program(options), options, default_knowledge())
    found = rarities(with_rarity(image))
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == {"seen_set"}


@pytest.mark.parametrize(("tool", "level"), [c for c in COMPILERS[:-1] if c != ("clang-19", "-O0")])
def test_what_others_do_until_it_is_set_is_done_often(compiled: Compile, tool: str, level: str) -> None:
    (image,) = read_images(str(compiled(tool, "c", UNTIL, level)), types=False)
    found = rarities(with_rarity(image))
    assert found.keys() == {"seen_served", "seen_handled", "seen_stopped", "seen_worked", "seen_finished"}
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == {"seen_stopped", "seen_finished"}


def test_source_says_the_same_of_what_others_do(tmp_path: Path) -> None:
    source = tmp_path / "until.c"
    source.write_text(UNTIL.replace("state != DONE", "!state"))
    options = CheckOptions(facts=FactsRequest(sources=(str(source),)), assume_threads=True)
    ((_, image),) = images(read_program(options), options, default_knowledge())
    found = rarities(with_rarity(image))
    assert {name for name, rarity in found.items() if rarity >= SELDOM} == {"seen_stopped", "seen_finished"}


def test_a_program_without_such_code_has_no_ranges() -> None:
    b = Builder()
    b.variable("count", 8)
    b.function("work").store("count")
    assert len(first_uses(b.image(), b.image().functions)) == 0


def image_with(*, exported: bool = False, cleared_by: FunctionFlag | None = None) -> Image:
    """``work`` calls ``prepare``, which sets ``ready``, behind a test of it."""
    b = Builder()
    b.variable("ready", 4)
    b.function("prepare", flags=FunctionFlag.EXPORTED if exported else FunctionFlag(0)).store("ready")
    b.function("work").load("ready").call("prepare")
    if cleared_by is not None:
        b.function("finish", flags=cleared_by).store("ready")
    image = b.image()
    ranges = np.zeros(1, ZERO_RANGE_DTYPE)
    ranges["variable"], ranges["size"], ranges["what"] = image.variables["address"], 4, ZeroRange.IS_ZERO
    ranges["begin"], ranges["end"], ranges["function"] = (
        image.calls["ip"],
        image.calls["ip"] + 1,
        image.calls["function"],
    )
    return dataclasses.replace(image, zero_ranges=ranges)


def test_a_function_that_sets_it_is_called_from_there_only() -> None:
    image = image_with()
    assert len(first_uses(image, image.functions)) == 1


def test_a_function_that_others_may_call_as_well_does_not_count() -> None:
    image = image_with(exported=True)
    assert len(first_uses(image, image.functions)) == 0


def test_what_the_end_of_a_program_resets_was_done_once_all_the_same() -> None:
    cold = image_with(cleared_by=FunctionFlag.COLD)
    assert len(first_uses(cold, cold.functions)) == 1
    often = image_with(cleared_by=FunctionFlag(0))
    assert len(first_uses(often, often.functions)) == 0
