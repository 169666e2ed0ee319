"""Line numbers that code hands on: they move with the source, and no function changed by it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from sharing.explain.code import Code
from sharing.explain.linenumbers import line_numbers, moved_numbers
from sharing.model.arch import machine_named
from sharing.model.comparison import CauseKind
from sharing.model.instructions import INSTRUCTION_DTYPE
from tests.explain.conftest import Explain

SOURCE = """
#include <stdio.h>
#define LIMIT {limit}
static int bad(const char *what, int line) {{ return fprintf(stderr, "%s: line %d\\n", what, line); }}
long total[64];
{added}
long put(long n) {{ if (n < 0) bad("put", __LINE__); total[n & 63] += n; return n; }}

long get(long n) {{ if (n < 0) bad("get", __LINE__); total[0] += n; return total[n & 63]; }}


long take(long n) {{ if (n < 0) bad("take", __LINE__); total[n & 63] -= n; return n ^ total[1]; }}
long many(long n) {{ return n < 0 ? bad("many", LIMIT) : total[n & 63]; }}
long few(long n) {{ return n < 0 ? bad("few", LIMIT) : total[n & 31]; }}
long none(long n) {{ return n < 0 ? bad("none", LIMIT) : total[n & 15]; }}
int main(int argc, char **argv) {{
  for (long i = argc; i < 100000000; i++) total[2] += put(i) + get(i) + take(i) + many(i) + few(i) + none(i);
  return argv[0] == 0;
}}
"""


def built(folder: Path, name: str, added: str = "", limit: int = 1000) -> Path:
    (folder / f"{name}.c").write_text(SOURCE.format(added=added, limit=limit))
    flags = ["-O1", "-fno-inline", "-g", "-fno-ipa-cp", "-fno-ipa-sra"]
    subprocess.run(["gcc", *flags, f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


def test_lines_added_in_front_change_no_function(explained: Explain, tmp_path: Path) -> None:
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", added="// one\n// two\n// three"))
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    assert "code: 3 functions differ in the line numbers of their source alone" in found.coverage.notes


def test_a_constant_of_several_functions_is_a_change_of_each(explained: Explain, tmp_path: Path) -> None:
    """All go from one number to one other: lines would each be another one."""
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", limit=1002))
    (cause,) = (c for c in found.causes if c.kind is CauseKind.CODE)
    assert {"many", "few", "none"} <= set(cause.symbols)


@pytest.mark.parametrize(
    ("moves", "lines"),
    [
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33), (40, 43)}}, {1, 2, 3}),
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 32)}}, set()),  # two distances, each of too few
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33), (7, 4096)}}, {1, 2}),  # the third has a constant, too
        ({1: {(10, 13)}, 2: {(10, 13)}, 3: {(10, 13)}}, set()),
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33)}, 4: set()}, {1, 2, 3}),  # the fourth changed otherwise
        ({1: {(2_000_010, 2_000_013)}, 2: {(2_000_020, 2_000_023)}, 3: {(2_000_030, 2_000_033)}}, set()),
    ],
)
def test_numbers_are_lines_where_different_ones_moved_alike(
    moves: dict[int, set[tuple[int, int]]], lines: set[int]
) -> None:
    assert line_numbers({key: frozenset(one) for key, one in moves.items()}) == lines


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        (b"\xba\x0a\0\0\0", b"\xba\x0d\0\0\0", {(10, 13)}),  # mov $10, %edx
        (b"\x41\xb8\x0a\0\0\0", b"\x41\xb8\x0d\0\0\0", {(10, 13)}),  # mov $10, %r8d
        (b"\xba\x0a\0\0\0", b"\xb9\x0a\0\0\0", set()),  # into another register
        (b"\xba\x0a\0\0\0", b"\xbe\x0d\0\0\0", set()),
        (b"\x81\xfa\x0a\0\0\0", b"\x81\xfa\x0d\0\0\0", set()),  # a number that is compared with
        (b"\x8b\x90\x0a\0\0\0", b"\x8b\x90\x0d\0\0\0", set()),  # a distance within an object
    ],
)
def test_only_numbers_that_are_loaded_may_be_lines(old: bytes, new: bytes, moves: set[tuple[int, int]]) -> None:
    machine = machine_named("x86-64")
    assert machine is not None
    assert moved_numbers(code(old), code(new), machine.number_loads) == moves
    assert moved_numbers(code(old), code(new), b"") == moved_numbers(code(old), None, machine.number_loads) == set()


def code(data: bytes) -> Code:
    """A function of one instruction."""
    row = np.zeros(1, INSTRUCTION_DTYPE)
    row["length"] = len(data)
    row["bytes"][0, : len(data)] = list(data)
    return Code(data, 0x1000, row)
