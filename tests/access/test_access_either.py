"""Accesses through a pointer that is one of two: each is known, and one of three is not."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import HELD_OFFSET_BITS, AccessKind, Table
from tests.access.conftest import COMPILERS, Build
from tests.access.elfplan import Elf, read_elf

HOLDERS = (1 << 62) - 1
WRITES = (AccessKind.STORE, AccessKind.RMW)
HALF = 4  # 4 * -log2 of the chance that it is this one
REC = 64


@pytest.fixture(params=[(one, level) for one in COMPILERS for level in ("-O0", "-O2")], ids=" ".join)
def either(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    compiler, level = request.param
    elf = read_elf(build(compiler, "shared/either.c", level, "-fno-inline", "-fno-unroll-loops"))
    return elf, start_scan(elf.plan).result()


def of(elf: Elf, rows: Table, function: str) -> Table:
    names = [elf.names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    return rows[rows["function"] == names.index(function)]


def written(elf: Elf, result: ScanResult, function: str) -> dict[tuple[str, int], set[int]]:
    """(object, offset) of what the function changes, with bytes between elements."""
    found: dict[tuple[str, int], set[int]] = {}
    for row in of(elf, result.sites, function):
        for name, (at, size) in elf.objects.items():
            if row["kind"] in WRITES and at <= row["target"] < at + size:
                found.setdefault((name, int(row["target"]) - at), set()).add(int(row["stride"]))
    found.pop(("kept", 0), None)
    return found


def test_each_of_two_variables_is_accessed(either: tuple[Elf, ScanResult]) -> None:
    assert written(*either, "two") == {("first", 0): {0}, ("second", 0): {0}}
    assert written(*either, "best") == {("first", 8): {0}, ("second", 8): {0}}
    assert written(*either, "again") == {("first", 0): {0}}, "or what a static pointer leads to"


def test_each_half_as_often(either: tuple[Elf, ScanResult]) -> None:
    elf, result = either
    rows = of(elf, result.sites, "best")
    assert set(rows["rarity"][(rows["kind"] == AccessKind.LOAD) & (rows["size"] == 8)].tolist()) == {0}
    assert set(rows["rarity"][rows["kind"] == AccessKind.STORE].tolist()) == {HALF}


def test_what_is_chosen_on_a_rare_way_is_accessed_as_seldom(build: Build) -> None:
    elf = read_elf(build("gcc-x86-64", "shared/either.c", "-O0", "-fno-inline", "-fno-unroll-loops"))
    rows = of(elf, start_scan(elf.plan).result().sites, "mostly")
    rarity = {int(row["target"]): int(row["rarity"]) for row in rows if row["kind"] == AccessKind.STORE}
    first, second = (elf.objects[name][0] + 8 for name in ("first", "second"))
    assert rarity == {first: 1, second: 11}, "4 * -log2 of 0.84 and of 0.16"


def test_each_of_two_elements_is_accessed(either: tuple[Elf, ScanResult]) -> None:
    assert written(*either, "elements") == {("table", 0): {REC}, ("other", 0): {REC}}


def test_each_of_two_arguments_is_accessed(either: tuple[Elf, ScanResult]) -> None:
    elf, result = either
    rows = of(elf, result.params, "given")
    rows = rows[[kind in WRITES for kind in rows["kind"].tolist()]]
    assert {(int(row["arg"]), int(row["offset"])) for row in rows} == {(1, 0), (2, 0)}


def test_what_each_of_two_pointers_leads_to_is_accessed(either: tuple[Elf, ScanResult]) -> None:
    elf, result = either
    holders = {(at & HOLDERS) >> HELD_OFFSET_BITS for at in of(elf, result.behind, "held")["target"].tolist()}
    assert holders == {elf.objects["current"][0], elf.objects["spare"][0]}


def test_each_is_handed_on(either: tuple[Elf, ScanResult]) -> None:
    elf, result = either
    rows = of(elf, result.args, "hand")
    assert {elf.objects["first"][0], elf.objects["second"][0]} <= set(rows["value"][rows["arg"] == 0].tolist())


@pytest.mark.parametrize("compiler", [name for name in COMPILERS if name != "clang-riscv64"])
def test_one_or_none_is_that_one(build: Build, compiler: str) -> None:
    """clang for RISC-V makes it with a mask."""
    for level in ("-O0", "-O2"):
        elf = read_elf(build(compiler, "shared/either.c", level, "-fno-inline", "-fno-unroll-loops"))
        assert written(elf, start_scan(elf.plan).result(), "maybe") == {("first", 0): {0}}


def test_what_a_search_found_is_an_element(build: Build) -> None:
    for level in ("-O0", "-O2"):
        elf = read_elf(build("gcc-x86-64", "shared/either.c", level, "-fno-inline", "-fno-unroll-loops"))
        assert written(elf, start_scan(elf.plan).result(), "search") == {("table", 8): {REC}}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
def test_one_of_three_or_what_is_not_known_is_nothing(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "shared/either.c", level, "-fno-inline", "-fno-unroll-loops"))
    result = start_scan(elf.plan).result()
    assert written(elf, result, "three") == {}
    assert written(elf, result, "unknown") == {}
