"""What is done once in so many rounds counts as that rare: by a modulus, a mask, or a counter that is set back."""

from __future__ import annotations

import math

import pytest

from elfscan.code.accessplan import start_scan
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

HALF = 4  # steps of rarity: four a halving
ROUNDS = {
    "modulus": 100_000,
    "remainder_of": 1000,
    "masked": 1 << 16,
    "masked_high": 1 << 14,
    "equal_reset": 50_000,
    "order_reset": 50_000,
    "down_reset": 50_000,
    "inner": 20_000,
    "large": 1_000_003,
    "in_memory": 1 << 12,
    "fetched": 1 << 12,
}
A_LOOP = 10  # rounds that an inner loop is taken to make
SEVERAL = 4  # numbers that are left of one that is divided by what is no constant


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
def test_one_of_so_many_rounds_is_rare(build: Build, compiler: str) -> None:
    """Where the compiler makes an inner loop of those between two such rounds, ten of them are the loop's."""
    elf = read_elf(build(compiler, "rounds/counted.c", "-O2", "-fno-inline"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"].max())

    for name, rounds in ROUNDS.items():
        seldom = 4 * math.log2(rounds)
        assert seldom - 4 * math.log2(A_LOOP) - 1 <= rarity(name) <= seldom + 2, name
    assert {name: rarity(name) for name in ("multiple", "flag", "whole", "few", "third")} == pytest.approx(
        {"multiple": HALF, "flag": HALF, "whole": HALF, "few": HALF, "third": 4 * math.log2(3)}, abs=2.5
    )
    assert rarity("around") == pytest.approx(4 * math.log2(SEVERAL), abs=1)
    assert rarity("each_round") <= 1
    assert rarity("seldom_entered") <= HALF + 1


def test_memory_that_counts_is_known_without_optimisation(build: Build) -> None:
    elf = read_elf(build("gcc-x86-64", "rounds/counted.c", "-O0"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"].max())

    for name in ("modulus", "masked_high", "equal_reset", "order_reset", "down_reset", "large"):
        assert rarity(name) >= 4 * math.log2(ROUNDS[name]) - 1, name
    assert {rarity(name) for name in ("flag", "whole", "few")} == {HALF}
