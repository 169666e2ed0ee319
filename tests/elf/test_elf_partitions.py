"""What gcc takes to be seldom run is known by where GNU ld and gold put it, without names or sections."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.partitions import seldom_run
from sharing.model import FUNCTION_DTYPE, FunctionFlag
from tests.elf.conftest import Read

DECLARED = {"odd", "even", "third"}
COLD = {*DECLARED, "work.cold", "main.cold"}
PROGRAM = """
#include <stdlib.h>
#define SELDOM __attribute__((cold, noinline))
volatile long counts[9];
SELDOM void odd(long x) { counts[0] += x; }
SELDOM void even(long x) { counts[1] += 2 * x; }
SELDOM void third(long x) { counts[2] -= x; }
__attribute__((noinline)) long work(long x) { if (x == 7) { odd(x); third(x); abort(); } return counts[3] += x; }
__attribute__((noinline)) long other(long x) { return counts[4] ^= x; }
__attribute__((hot, noinline)) long busy(long x) { return counts[5] ^= 3 * x; }
__attribute__((constructor)) static void start(void) { counts[6] = 1; }
__attribute__((destructor)) static void end(void) { counts[6] = 0; }
static __attribute__((noinline)) void serve(long x) { for (long i = 0; i < x; i++) counts[7] += work(i); }
int main(int argc, char **argv) {
  if (argc > 9) even(argc);
  serve(argc);
  return other(argc) + busy(argc);
}
"""


def linked(tmp_path: Path, linker: str, *flags: str, compiler: str = "gcc") -> Path:
    """The program with its symbols, and without as ``stripped`` beside it."""
    driver = "clang-19" if linker == "lld" else compiler
    for tool in (compiler, driver, "ld.lld-19" if linker == "lld" else f"ld.{linker}"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    compiled = tmp_path / "program.o"
    subprocess.run([compiler, *(flags or ["-O2"]), "-fPIC", "-c", "-o", str(compiled), str(source)], check=True)
    shape = ["-shared"] if "-DLIBRARY" in flags else []
    subprocess.run([driver, f"-fuse-ld={linker}", *shape, "-o", str(program), str(compiled)], check=True)
    subprocess.run(["strip", "-o", str(tmp_path / "stripped"), str(program)], check=True)
    return program


def aside(read: Read, program: Path) -> set[str]:
    """What is set aside in the stripped program, by the names that it had."""
    image, bare = read(program), read(program.with_name("stripped"))
    flags = dict(zip(bare.functions["address"].tolist(), bare.functions["flags"].tolist(), strict=True))
    rows = zip(image.functions["address"].tolist(), image.functions["name"].tolist(), strict=True)
    return {image.names[name] for at, name in rows if name >= 0 and flags.get(at, 0) & FunctionFlag.ASIDE}


@pytest.mark.parametrize("linker", ["bfd", "gold"])
@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-ffunction-sections"), ("-O2", "-DLIBRARY")])
def test_what_gcc_sets_aside_is_known_and_nothing_else(
    tmp_path: Path, read: Read, linker: str, flags: tuple[str, ...]
) -> None:
    """Not main, which is with what starts the program, nor what it alone calls: that may be its loop."""
    assert aside(read, linked(tmp_path, linker, *flags)) == COLD


def test_what_clang_sets_aside_is_known_where_gnu_ld_links_it(tmp_path: Path, read: Read) -> None:
    assert aside(read, linked(tmp_path, "bfd", compiler="clang-19")) == DECLARED


@pytest.mark.parametrize(
    ("linker", "compiler", "flags"),
    [
        ("lld", "gcc", ("-O2",)),  # leaves it among all others
        ("bfd", "gcc", ("-O2", "-fno-reorder-functions", "-fno-reorder-blocks-and-partition")),
        ("bfd", "gcc", ("-Os",)),  # aligns nothing
    ],
)
def test_without_that_order_or_alignment_nothing_is_told(
    tmp_path: Path, read: Read, linker: str, compiler: str, flags: tuple[str, ...]
) -> None:
    assert not aside(read, linked(tmp_path, linker, *flags, compiler=compiler))


def rows_set_aside(front: list[int], behind: list[int], initial: tuple[int, ...] = ()) -> list[int]:
    """Of functions at these addresses, in front of the run-time's at 0x2000 and 0x2040 and behind."""
    table = np.zeros(len(front) + 2 + len(behind), FUNCTION_DTYPE)
    table["address"] = [*front, 0x2000, 0x2040, *behind]
    return seldom_run(table, (*initial, 0x2000, 0x2040), (0x2000,)).tolist()


BEHIND = [0x2100, 0x2140, 0x21F0]


def test_the_last_that_begins_anywhere_ends_the_part() -> None:
    assert rows_set_aside([0x1000, 0x1003, 0x1015, 0x1030], BEHIND) == [0, 1, 2]


def test_what_starts_the_program_is_no_more_of_it() -> None:
    assert rows_set_aside([0x1000, 0x1003, 0x1030, 0x1041], BEHIND, (0x1030,)) == [0, 1]


def test_functions_that_begin_anywhere_behind_as_well_tell_nothing() -> None:
    assert not rows_set_aside([0x1000, 0x1003, 0x1015], [0x2101, 0x2140, 0x21F3])


def test_one_that_begins_anywhere_among_many_others_tells_nothing() -> None:
    assert not rows_set_aside([0x1000, 0x1010, 0x1020, 0x1033], BEHIND)


def test_without_the_run_time_nothing_is_told() -> None:
    table = np.zeros(3, FUNCTION_DTYPE)
    table["address"] = [0x1000, 0x1003, 0x2000]
    assert not len(seldom_run(table, (), ()))
    assert not len(seldom_run(table, (0x2000,), (0x1003,)))
