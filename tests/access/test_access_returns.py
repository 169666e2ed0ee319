"""A way that returns at once is taken less often than the one that goes on."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

HALF = 4  # steps of rarity, four a halving


@pytest.mark.parametrize(
    ("compiler", "level"),
    [
        ("gcc-x86-64", "-O2"),
        ("clang-x86-64", "-O1"),
        ("gcc-aarch64", "-O1"),
        ("gcc-riscv64", "-O1"),
    ],
)
def test_a_way_that_returns_at_once_is_the_rarer_one(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "rounds/returns.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()

    def rarity(name: str) -> int:
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        return int(rows["rarity"].min())

    assert rarity("guarded") == 6  # 0.72 three times; a half three times would be 12
    # Either of two tests, three quarters were each a half; or both in one branch, as compilers may make it.
    assert (rarity("refused"), rarity("accepted")) in ((HALF, HALF), (7, 2))
    assert rarity("called") == rarity("other") == HALF  # a call is no return at once
    assert rarity("both") == HALF
    assert rarity("last") == HALF  # behind it is no more than a call
