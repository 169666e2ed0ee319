"""Queries about code of RISC-V: instructions for the comparison of two builds, targets, hostile bytes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.query import direct_targets, read_instructions
from sharing.model.arch import find_architecture
from sharing.model.instructions import Holding
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

RISCV = find_architecture(243, 64, "little")
BASE = 0x10000

SOURCE = """
%s
static long table[8]; int counter; int (*hook)(int);
__attribute__((noinline)) int twice(int x) { counter += x; return 2 * x; }
long touch(int i) { table[i]++; if (hook) return hook(i); return twice(i) + counter; }
int main(int argc, char **argv) { for (int i = 0; i < argc; i++) touch(i); return counter; }
"""
PADDING = "long padding[700] = {1}; int padded(int x) { return (int)padding[x & 63] + x; }"


def bytes_of(elf: Elf, name: str) -> tuple[int, bytes]:
    """Where a function is, and its code."""
    start = elf.functions[name]
    size = int(elf.plan.functions["size"][elf.plan.functions["address"] == start][0])
    address, offset, _ = next(row for row in elf.plan.code if row[0] <= start < row[0] + row[2])
    return start, Path(elf.plan.path).read_bytes()[offset + start - address :][:size]


def image_of(elf: Elf) -> tuple[int, int]:
    return min(row[0] for row in elf.plan.code), max(start + size for start, size in elf.plan.data)


@pytest.mark.parametrize("flags", [("-fno-pie", "-no-pie"), ("-fPIE", "-pie"), ("-fPIE", "-pie", "-march=rv64g")])
def test_code_that_moved_is_the_same_instructions(build: Build, tmp_path: Path, flags: tuple[str, ...]) -> None:
    """More variables and code in front: every address differs, and nothing else."""
    names = ("twice", "touch", "main")
    parts, raw = [], []
    for number, padding in enumerate(("", PADDING)):
        source = tmp_path / f"{number}.c"
        source.write_text(SOURCE % padding)
        elf = read_elf(build("gcc-riscv64", source, "-O2", "-Wl,--no-relax", *flags))
        functions = [bytes_of(elf, name) for name in names]
        parts.append(read_instructions(RISCV, functions, image_of(elf)))
        raw.append([code for _, code in functions])
    assert all(one != other for one, other in zip(*raw, strict=True))
    assert parts[0] is not None
    assert parts[1] is not None
    for one, other in zip(*parts, strict=True):
        for column in ("offset", "length", "jumps", "target_is", "other_is", "bytes"):
            assert (one[column] == other[column]).all(), column


def test_a_number_that_changes_is_a_difference(build: Build, tmp_path: Path) -> None:
    parts = []
    for number, step in enumerate((100, 101)):
        source = tmp_path / f"{number}.c"
        source.write_text(SOURCE.replace("+= x", f"+= x + {step}") % "")
        elf = read_elf(build("gcc-riscv64", source, "-O2", "-Wl,--no-relax"))
        parts.append(read_instructions(RISCV, [bytes_of(elf, "twice")], image_of(elf)))
    (one,), (other,) = parts
    assert (one["bytes"] != other["bytes"]).any(axis=1).sum() == 1


def test_jumps_lead_inside_and_calls_out(build: Build, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(SOURCE % "")
    elf = read_elf(build("gcc-riscv64", source, "-O2", "-fno-inline"))
    start, code = bytes_of(elf, "main")
    (rows,) = read_instructions(RISCV, [(start, code)], image_of(elf)) or ()
    inside = rows[rows["jumps"] == 1]
    assert len(inside) >= 1
    assert (inside["target_is"] == Holding.INSIDE).any()
    assert (inside["target"][inside["target_is"] == Holding.INSIDE] < len(code)).all()
    found = direct_targets(RISCV, [(start, start + len(code))], lambda low, high: code[low - start : high - start])
    assert elf.functions["touch"] in found.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_are_answered(seed: int) -> None:
    data = random.Random(seed).randbytes(20_000)
    functions = [(BASE + at, data[at : at + 333]) for at in range(0, len(data), 333)]
    parts = read_instructions(RISCV, functions, (BASE, 4 * BASE))
    assert parts is not None
    for part, (_, code) in zip(parts, functions, strict=True):
        assert part["offset"].tolist() == np.append(0, np.cumsum(part["length"])[:-1]).tolist()
        assert int(part["length"].sum()) == len(code)
