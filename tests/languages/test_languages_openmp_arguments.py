"""What a parallel region is handed as LLVM's run-time hands it: each variable's address as an argument of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Finding, Severity

RUN_TIME = "void __kmpc_fork_call(void) {} int omp_get_thread_num(void) { return 0; }"  # a program is only read here
# What clang makes of `#pragma omp parallel`, in C.
PROGRAM = """
#include <stdlib.h>
extern void __kmpc_fork_call(void *, int, void (*)(int *, int *, ...), ...);
extern int omp_get_thread_num(void);
struct slot { long done; char apart[APART]; };
struct ring { int size; struct slot *slots; };
static void region(int *number, int *bound, struct ring **ring, int *rounds, struct slot **slots) {
    for (int i = 0; i < *rounds; i++) USED[omp_get_thread_num()].done++;
}
__attribute__((noinline)) static long work(struct ring *ring, int rounds, int threads) {
    struct slot *slots = calloc(threads, sizeof *slots);
    __kmpc_fork_call(0, HANDED, (void (*)(int *, int *, ...))region, &ring, &rounds, &slots);
    AGAIN
    return slots[0].done;
}
int main(int argc, char **argv) {
    struct ring ring = {argc, calloc(argc, sizeof(struct slot))};
    return work(&ring, atoi(argv[1]), argc) != 0;
}
"""
PLAIN = {"APART": "8", "USED": "(*slots)", "HANDED": "3", "AGAIN": ""}


def found(folder: Path, **changed: str) -> list[Finding]:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: Debian's package has its name")
    text = PROGRAM
    for part, words in (PLAIN | changed).items():
        text = text.replace(part, words)
    source, run_time = folder / "team.c", folder / "libomp.c"
    source.write_text(text)
    run_time.write_text(RUN_TIME)
    program, library = source.with_suffix(""), run_time.with_suffix(".so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", str(run_time), "-o", str(library)], check=True)
    subprocess.run(["gcc", "-O2", "-g", str(source), str(library), "-o", str(program)], check=True)
    return [f for f in audit(AuditOptions(binary=str(program))).findings if f.rule == "packed-thread-slots"]


def handed(findings: list[Finding]) -> list[Finding]:
    """Those that know what the region is handed: that small records are changed side by side is low without that."""
    return [f for f in findings if f.severity is not Severity.LOW or "argument" in f.participants[0].name]


def test_elements_behind_a_pointer_that_the_region_uses(tmp_path: Path) -> None:
    (finding,) = found(tmp_path)
    assert finding.participants[0].name == "*argument 4 of region"
    assert finding.severity is Severity.MEDIUM
    assert "elements of 16 bytes" in finding.message
    assert any("0 bytes into argument 4 of region" in one.text for one in finding.evidence)


def test_not_elements_that_are_a_line_apart(tmp_path: Path) -> None:
    assert found(tmp_path, APART="56") == []


def test_not_what_is_behind_the_arguments_that_are_handed_on(tmp_path: Path) -> None:
    """The call says how many it hands on; what is in the next register is left over."""
    assert handed(found(tmp_path, HANDED="2")) == []


def test_not_where_calls_hand_over_different_objects(tmp_path: Path) -> None:
    again = "struct slot *more = 0; __kmpc_fork_call(0, 3, (void (*)(int *, int *, ...))region, &ring, &rounds, &more);"
    assert handed(found(tmp_path, AGAIN=again)) == []
