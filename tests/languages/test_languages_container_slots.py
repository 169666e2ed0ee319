"""Elements of containers of C++ that threads use by their own numbers, in optimised code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity
from tests import cpp

COMPILERS = ["g++", "clang++-19"]
C = """
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>
struct ALIGNED Slot { uint64_t done, bytes; };
static volatile bool stop;
HOLDER
static void work(POOL unsigned id) {
    uint64_t x = id;
    while (!stop) {
        for (int k = 0; k < 20; k++) { x ^= x << 13; x ^= x >> 7; }
        UPDATE; __asm__ volatile("" ::: "memory");
    }
    END;
}
int main(int argc, char **) {
    unsigned n = argc + 3;
    MADE;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n; i++) threads.emplace_back(STARTED);
    for (auto &thread : threads) thread.join();
    return 0;
}
"""
PLAIN = {
    "ALIGNED": "",
    "POOL": "",
    "UPDATE": "slots[id].done++; slots[id].bytes += x & 63",
    "END": "",
    "STARTED": "work, i",
}
VECTOR = {"HOLDER": "static std::vector<Slot> slots;", "MADE": "slots.resize(n)"}
POINTER = {"HOLDER": "static std::unique_ptr<Slot[]> slots;", "MADE": "slots.reset(new Slot[n]())"}
MEMBER = {
    "HOLDER": "struct Pool { uint64_t seed; std::vector<Slot> slots; };\n__attribute__((noinline))",
    "POOL": "Pool *pool,",
    "UPDATE": "pool->slots[id].done++; pool->slots[id].bytes += x & 63",
    "MADE": "Pool pool; pool.slots.resize(n); Pool *at = &pool",
    "STARTED": "[at, i] { work(at, i); }",
}
HOLDERS = pytest.mark.parametrize("holder", [VECTOR, POINTER, MEMBER], ids=["vector", "unique_ptr", "member"])


@pytest.fixture(params=COMPILERS)
def compiler(request: pytest.FixtureRequest) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"no {request.param}")
    return str(request.param)


def found(folder: Path, compiler: str, holder: dict[str, str], **changed: str) -> list[Finding]:
    """What is said of elements in the program with these parts, at low and above."""
    text = C
    for part, words in (PLAIN | holder | changed).items():
        text = text.replace(part, words)
    source = folder / "container.cc"
    source.write_text(text)
    program = source.with_suffix("")
    cpp.build(compiler, source, program, "-O2", "-std=c++17", "-pthread")
    findings = audit(AuditOptions(binary=str(program))).findings
    return [f for f in findings if f.severity.rank >= Severity.LOW.rank and f.rule == "packed-thread-slots"]


@HOLDERS
def test_elements_at_a_threads_own_number(tmp_path: Path, compiler: str, holder: dict[str, str]) -> None:
    (finding,) = found(tmp_path, compiler, holder)
    assert "elements of 16 bytes" in finding.message
    assert finding.severity is Severity.MEDIUM


@HOLDERS
def test_not_elements_on_lines_of_their_own(tmp_path: Path, compiler: str, holder: dict[str, str]) -> None:
    assert found(tmp_path, compiler, holder, ALIGNED="alignas(64)") == []


@HOLDERS
def test_not_elements_that_threads_write_at_their_end(tmp_path: Path, compiler: str, holder: dict[str, str]) -> None:
    last = (PLAIN | holder)["UPDATE"]
    assert found(tmp_path, compiler, holder, UPDATE="(void)0", END=last) == []


@pytest.mark.parametrize("holder", [VECTOR, POINTER], ids=["vector", "unique_ptr"])
def test_not_what_threads_set_anew(tmp_path: Path, compiler: str, holder: dict[str, str]) -> None:
    """Each may use an array of its own then."""
    again = (PLAIN | holder)["UPDATE"] + "; unsigned n = x % 64 + id + 1; " + holder["MADE"]
    assert found(tmp_path, compiler, holder, UPDATE=again) == []


def test_not_at_a_number_that_all_calls_of_a_function_change(tmp_path: Path, compiler: str) -> None:
    """What is called in a loop is given something else each time."""
    apart = MEMBER["HOLDER"] + " static void count(Pool *pool, unsigned id) { pool->slots[id].done++; }\n"
    assert found(tmp_path, compiler, MEMBER, HOLDER=apart, UPDATE="count(pool, x % pool->slots.size())") == []


def test_not_elements_that_a_thread_walks_from_its_number(tmp_path: Path, compiler: str) -> None:
    """Each thread works on many of them, and its number only says where it begins."""
    walked = "for (unsigned i = id; i < pool->slots.size(); i += parts) pool->slots[i].done++"
    parts = {"POOL": MEMBER["POOL"] + " unsigned parts,", "STARTED": "[at, n, i] { work(at, n, i); }"}
    assert found(tmp_path, compiler, MEMBER | parts, UPDATE=walked) == []
