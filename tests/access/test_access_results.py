"""Accesses through what a function returns are to static data where that is one address, whichever way it goes."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import AccessKind, ArgKind
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

Program = tuple[Elf, ScanResult]
COUNTED = 8  # the member that the users of the corpus change

USERS = {
    "use_plain": ("plain", COUNTED),
    "use_call": ("chained", COUNTED),
    "use_jump": ("jumped", COUNTED),
    "use_member": ("member", COUNTED),
    "use_guarded": ("_ZZ7guardedvE4only", COUNTED),
}
OTHERS = ("use_either", "use_made", "use_kept", "use_overwritten")


@pytest.fixture(params=["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
def program(request: pytest.FixtureRequest, build: Build) -> Program:
    inline = ("-mno-outline-atomics",) if request.param.endswith("aarch64") else ()
    elf = read_elf(build(request.param, "corpus/results.cpp", "-O2", *inline))
    return elf, start_scan(elf.plan).result()


def written(program: Program, function: str) -> set[int]:
    """The static addresses that a function changes."""
    elf, result = program
    row = elf.plan.functions["address"].tolist().index(elf.functions[function])
    sites = result.sites[result.sites["function"] == row]
    return set(sites["target"][(sites["kind"] == AccessKind.STORE) | (sites["kind"] == AccessKind.RMW)].tolist())


@pytest.mark.parametrize("user", USERS)
def test_the_object_behind_a_result_is_accessed(program: Program, user: str) -> None:
    name, offset = USERS[user]
    assert written(program, user) == {program[0].objects[name][0] + offset}


@pytest.mark.parametrize("user", OTHERS)
def test_a_result_that_may_be_something_else_is_none(program: Program, user: str) -> None:
    assert written(program, user) == set()


def test_a_result_is_handed_on_as_an_argument(program: Program) -> None:
    elf, result = program
    plain, _ = elf.objects["plain"]
    row = elf.plan.functions["address"].tolist().index(elf.functions["use_handed"])
    args = result.args[(result.args["function"] == row) & (result.args["kind"] == ArgKind.ADDRESS)]
    first = args[(args["arg"] == 0) & (args["callee"] == elf.functions["_ZN5Table4handEl"])]
    assert first["value"].tolist() == [plain]
