"""Accesses through what a function returns are to what it was handed, where it tells by its arguments alone which."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import AccessKind, SiteFlag, Table
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

Program = tuple[Elf, ScanResult]
SLOT, OTHER = 16, 8  # bytes of an element, and where its second member begins
HELD, OFFSET_BITS = 1 << 62, 24


@pytest.fixture(
    params=[
        (compiler, level)
        for compiler in ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64")
        for level in ("-O0", "-O2")
    ],
    ids=" ".join,
)
def program(request: pytest.FixtureRequest, build: Build) -> Program:
    compiler, level = request.param
    alone = ("-fno-ipa-ra",) if compiler.startswith("gcc") else ()
    elf = read_elf(build(compiler, "corpus/given.cpp", level, *alone))
    return elf, start_scan(elf.plan).result()


def stores(program: Program, function: str, table: str = "sites") -> list[tuple[int, int, bool]]:
    """(where, bytes to the next element, whether at an index) of what a function stores."""
    elf, result = program
    row = elf.plan.functions["address"].tolist().index(elf.functions[function])
    sites: Table = getattr(result, table)
    mine = sites[(sites["function"] == row) & (sites["kind"] == AccessKind.STORE)]
    found = zip(mine["target"].tolist(), mine["stride"].tolist(), mine["flags"].tolist(), strict=True)
    return [(target, stride, bool(flags & SiteFlag.INDEXED)) for target, stride, flags in found]


def test_the_object_that_was_handed_over_is_accessed(program: Program) -> None:
    slots, _ = program[0].objects["slots"]
    assert stores(program, "use_member") == [(slots + 2 * SLOT + OTHER, 0, False)]
    assert stores(program, "use_number") == [(slots + 3 * SLOT + OTHER, 0, False)]
    assert stores(program, "use_element") == stores(program, "use_narrow") == [(slots + OTHER, SLOT, True)]


@pytest.mark.parametrize("user", ["use_row", "use_row_again"])
def test_so_are_elements_behind_a_word_of_it(program: Program, user: str) -> None:
    table, _ = program[0].objects["table"]
    held = HELD | (table + 8) << OFFSET_BITS
    assert (held + OTHER, SLOT, True) in stores(program, user, "behind")


@pytest.mark.parametrize("user", ["use_either", "use_third", "use_other", "use_part", "use_sum"])
def test_what_the_arguments_do_not_tell_is_no_place(program: Program, user: str) -> None:
    assert not stores(program, user)


def test_a_part_of_an_index_is_another_one(program: Program) -> None:
    if program[0].plan.arch == "aarch64":
        pytest.skip("an instruction that moves a field up is taken for a shift")
    assert not stores(program, "use_mask")
