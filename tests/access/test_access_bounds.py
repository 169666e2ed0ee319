"""What is out of an array's bounds, or a switch's, is no way as likely as any."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

# Steps of rarity, four a halving: of 0.16, 0.84 and a half.
OUT, WITHIN, HALF = 11, 1, 4


@pytest.mark.parametrize(
    ("compiler", "level"),
    [("gcc-x86-64", "-O2"), ("clang-x86-64", "-O2")],
)
def test_what_is_out_of_bounds_is_seldom(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "rounds/bounds.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"].min())

    assert rarity("too_large") == OUT
    if compiler.startswith("gcc"):  # clang adds to one of two, behind all checks
        assert rarity("after_bad") == 2 * WITHIN + 1, "the second check leads where the first one does"
        assert rarity("also_bad") == 2 * HALF
    assert rarity("defaulted") == OUT
    assert rarity("larger") == rarity("unused") == HALF, "another number chooses"
