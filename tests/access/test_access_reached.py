"""How rarely a place is come to in a round of its loop: checks before the loop say nothing of that."""

from __future__ import annotations

import dataclasses

import pytest

from elfscan.code.accessplan import start_scan
from sharing.basics.ways import in_loops
from tests.access.conftest import Build
from tests.access.elfplan import read_elf
from tests.builders.image import Builder

HALF = 4  # steps of rarity
CHECKED = 2  # where a check did not return: 0.72


@pytest.mark.parametrize(
    ("compiler", "level"),
    [("gcc-x86-64", "-O0"), ("gcc-x86-64", "-O2"), ("clang-aarch64", "-O2"), ("gcc-riscv64", "-O1")],
)
def test_checks_before_a_loop_are_told_from_tests_in_it(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "rounds/reached.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()
    image = dataclasses.replace(Builder().image(), blocks=result.blocks)

    def in_round(name: str) -> tuple[int, bool]:
        """(rarity in a round of the loop, is it rarer in a run of the function) of the place where it is written."""
        rows = result.sites[result.sites["target"] == elf.objects[name][0]]
        rarity = int(in_loops(image, rows)[0])
        return rarity, int(rows["rarity"][0]) > rarity

    assert in_round("each_checked") == (0, True)
    assert in_round("some_checked") == (HALF, True)
    assert in_round("before_checked") == (CHECKED, False)  # in no loop
    assert in_round("each_plain") == (0, False)
    assert in_round("some_plain") == (HALF, False)
