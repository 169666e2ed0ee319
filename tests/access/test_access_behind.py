"""What code does behind static pointers, and to objects that an allocator just returned."""

from __future__ import annotations

import dataclasses

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import HELD, HELD_OFFSET_BITS, AccessKind, Table
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

OFFSETS = (1 << HELD_OFFSET_BITS) - 1
HOLDERS = (1 << 62) - 1


@pytest.fixture(params=["gcc-x86-64", "gcc-aarch64", "gcc-riscv64"])
def held(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    elf = read_elf(build(request.param, "shared/held.c", "-O2", "-fno-inline"))
    plan = dataclasses.replace(elf.plan, new_results=frozenset({elf.functions["make_alloc"]}))
    return elf, start_scan(plan).result()


def of(elf: Elf, rows: Table, function: str) -> Table:
    names = [elf.names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    return rows[rows["function"] == names.index(function)]


def holder(target: int) -> int:
    return (target & HOLDERS) >> HELD_OFFSET_BITS


def places(elf: Elf, result: ScanResult, function: str) -> set[tuple[int, int]]:
    """(the holder of the pointer, bytes behind it) of all accesses there."""
    return {(holder(at), at & OFFSETS) for at in of(elf, result.behind, function)["target"].tolist()}


def test_accesses_behind_a_static_pointer(held: tuple[Elf, ScanResult]) -> None:
    elf, result = held
    shared, _ = elf.objects["shared"]
    assert places(elf, result, "count") == {(shared, 8)}
    kinds = set(of(elf, result.behind, "count")["kind"].tolist())
    assert kinds in ({AccessKind.RMW}, {AccessKind.LOAD, AccessKind.STORE})
    assert places(elf, result, "count_next") == {(shared, 16)}, "of what is behind the next pointer nothing is known"


def test_an_address_behind_a_static_pointer_is_handed_on(held: tuple[Elf, ScanResult]) -> None:
    elf, result = held
    shared, _ = elf.objects["shared"]
    handed = of(elf, result.behind_args, "hand")
    first = handed["value"][handed["arg"] == 0].tolist()  # the others are what registers were left with
    assert {(holder(value), value & OFFSETS) for value in first} == {(shared, 8)}


def test_what_static_pointers_hold(held: tuple[Elf, ScanResult]) -> None:
    """A new object by the call that made it, another pointer's by that pointer."""
    elf, result = held
    (made,), (kept,) = (of(elf, result.held, name) for name in ("set_up", "keep"))
    calls = of(elf, result.calls, "set_up")["ip"].tolist()
    assert (made["variable"], holder(int(made["what"]))) == (elf.objects["shared"][0], calls[0])
    assert (kept["variable"], holder(int(kept["what"]))) == (elf.objects["kept"][0], elf.objects["shared"][0])


def test_accesses_to_what_a_call_made(held: tuple[Elf, ScanResult]) -> None:
    elf, result = held
    calls = of(elf, result.calls, "direct")["ip"].tolist()
    assert places(elf, result, "direct") == {(calls[0], 8)}


def test_a_number_from_memory_is_an_index_and_no_pointer(held: tuple[Elf, ScanResult]) -> None:
    elf, result = held
    at, size = elf.objects["table"]
    assert places(elf, result, "indexed") == set()
    targets = of(elf, result.sites, "indexed")
    assert [t for t in targets["target"].tolist() if at <= t < at + size] == [at]
    assert set(targets["stride"][targets["target"] == at].tolist()) == {8}


def test_all_accesses_behind_pointers_where_they_are_asked_for(build: Build) -> None:
    """Those of which nothing is known too, without a target; none unless they are asked for."""
    elf = read_elf(build("gcc-x86-64", "shared/held.c", "-O2", "-fno-inline"))
    usual = start_scan(elf.plan).result().behind
    every = start_scan(dataclasses.replace(elf.plan, elsewhere=True)).result().behind
    nowhere = every[every["target"] == HELD]
    assert (usual["target"] != HELD).all()
    assert len(every) == len(usual) + len(nowhere)
    assert of(elf, nowhere, "count")["kind"].tolist() == [AccessKind.RMW]
    assert of(elf, nowhere, "count_next")["kind"].tolist() == [AccessKind.LOAD, AccessKind.RMW]
    assert of(elf, usual, "count_next")["kind"].tolist() == [AccessKind.LOAD], (
        "what the next pointer leads to is unknown"
    )
