"""The second order of blocks: what lies on arms of one branch is on no way through its function, all else is."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from elfscan.code.accessplan import start_scan
from sharing.basics.ways import points
from tests.access.conftest import Build
from tests.access.elfplan import read_elf
from tests.builders.image import Builder

APART = {
    frozenset({"then_if", "otherwise_if"}),
    frozenset({"then_switch", "otherwise_switch"}),
    frozenset({"then_loop", "otherwise_loop"}),
    frozenset({"then_return", "after_return"}),
}


@pytest.mark.parametrize(
    ("compiler", "level"),
    [("gcc-x86-64", "-O0"), ("gcc-x86-64", "-O2"), ("clang-aarch64", "-O2"), ("gcc-riscv64", "-O1")],
)
def test_arms_of_a_branch_are_apart_and_nothing_else(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "corpus/arms.c", level, "-fno-inline"))
    result = start_scan(elf.plan).result()
    image = dataclasses.replace(Builder().image(), blocks=result.blocks)
    found = set()
    for kind in ("if", "switch", "loop", "return"):
        names = [name for name in elf.objects if name.endswith(f"_{kind}")]
        rows = {name: result.sites[result.sites["target"] == elf.objects[name][0]] for name in names}
        function = rows[f"after_{kind}"]["function"][0]
        places = {name: points(image, at[at["function"] == function]) for name, at in rows.items()}
        for one, other in itertools.combinations(names, 2):
            led = places[one].behind(places[other]).any() or places[other].behind(places[one]).any()
            if not led:
                found.add(frozenset({one, other}))
    assert found == APART
