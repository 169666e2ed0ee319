"""Threads of C++ that are started with a plain function are that function's, where the constructor is a function of
its own: what calls it for the library is no thread beside them."""

from __future__ import annotations

from linemate import api
from sharing.model.finding import Severity
from tests.inturns import in_turns
from tests.sharing.conftest import Compile

# One thread counts as fast as it can; what the other one does with the word beside is what is asked.
PROGRAM = """
#include <atomic>
#include <chrono>
#include <thread>
struct Shared { long counts; std::atomic<long> other; };
alignas(64) Shared shared;
volatile long input;
__attribute__((noinline)) long mix(long x) { return x * 3 + input; }
static void busy() {
  for (long i = 0; i < 1000000000; i++) { shared.counts += mix(i); asm volatile("" ::: "memory"); }
}
static void beside() {
  for (;;) {
    PAUSE;
    shared.other.fetch_add(1);
    if (input == 3) break;
  }
}
void (*const chosen[])() = {busy, beside};
int main(int argc, char **argv) {
  std::thread a(FIRST), b(beside);
  a.join();
  b.join();
}
"""
SLEEPS = "std::this_thread::sleep_for(std::chrono::seconds(1))"
COMPILED = [("g++", "-O1"), ("g++", "-O2"), ("g++", "-O3"), ("clang++-19", "-O2")]
every_way = in_turns("strip, build", COMPILED, {"symbols": (), "stripped": ("-s",)})


def audited(compiled: Compile, compiler: str, *flags: str, pause: str, first: str = "busy") -> tuple[str, str]:
    """(the worst that is said, how the threads are known)"""
    text = PROGRAM.replace("PAUSE", pause).replace("FIRST", first)
    report = api.audit(str(compiled(compiler, "cc", text, "-w", *flags)), min_severity=Severity.NOTE)
    worst = max((f.severity.rank for f in report.findings), default=-1)
    (threads,) = (note for note in report.coverage.notes if note.startswith("threads:"))
    return next((s.value for s in Severity if s.rank == worst), "none"), threads


@every_way
def test_one_that_sleeps_beside_a_busy_one_is_a_note(
    compiled: Compile, build: tuple[str, str], strip: tuple[str, ...]
) -> None:
    worst, threads = audited(compiled, *build, *strip, pause=SLEEPS)
    assert worst == "note"
    assert threads.count(",") == 2, "main and two more"
    assert "several" not in threads


@every_way
def test_two_busy_ones_are_high(compiled: Compile, build: tuple[str, str], strip: tuple[str, ...]) -> None:
    assert audited(compiled, *build, *strip, pause="")[0] == "high"


def test_where_one_start_hands_over_what_is_not_known_nothing_is_left_out(compiled: Compile) -> None:
    """The library's function stands for all that may run there."""
    _, threads = audited(compiled, "g++", "-O2", "-s", pause=SLEEPS, first="chosen[argc & 1]")
    assert "several" in threads
