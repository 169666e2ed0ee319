"""What code does where a call returned a negative number is rare: it failed."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

# Steps of rarity, four a halving: of 0.16, 0.84 and a half.
RARE, MOSTLY, HALF = 11, 1, 4


@pytest.mark.parametrize(
    ("compiler", "level"),
    [
        ("gcc-x86-64", "-O0"),
        ("gcc-x86-64", "-O2"),
        ("clang-x86-64", "-O2"),
        ("clang-aarch64", "-O2"),
        ("gcc-riscv64", "-O1"),
    ],
)
def test_a_negative_result_is_rare(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "rounds/signs.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"][0])

    assert [rarity(name) for name in ("below", "below_or_zero")] == [RARE, RARE]
    assert rarity("usual") == MOSTLY
    assert [rarity(name) for name in ("set", "seven", "large", "given")] == [HALF] * 4
    # RISC-V has no comparison with a constant.
    assert rarity("failed") == (HALF if "riscv" in compiler else RARE)


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
def test_a_second_branch_on_the_same_comparison_is_known(build: Build, compiler: str) -> None:
    """Of what is not above zero, that which is not zero either."""
    elf = read_elf(build(compiler, "rounds/signs.c", "-O2", "-fno-inline"))
    result = start_scan(elf.plan).result()
    (row,) = result.sites[result.sites["target"] == elf.objects["left_over"][0]]
    (more,) = result.sites[result.sites["target"] == elf.objects["more"][0]]
    assert int(more["rarity"]) == MOSTLY
    assert int(row["rarity"]) == 2 * RARE - 1  # twice 0.16: 21.1


@pytest.mark.parametrize(
    ("compiler", "level"),
    [("gcc-x86-64", "-O2"), ("clang-x86-64", "-O2"), ("clang-aarch64", "-O2")],
)
def test_a_loop_seldom_ends_where_a_call_failed(build: Build, compiler: str, level: str) -> None:
    """It does where that is its only exit, and where zero leads there as well: that is the end of what was read."""
    elf = read_elf(build(compiler, "rounds/signs.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"].min())

    assert RARE <= rarity("stopped") <= RARE + 1
    others = {name: rarity(name) for name in ("only", "ended", "found", "last", "sent")}
    assert max(others.values()) <= MOSTLY, others
