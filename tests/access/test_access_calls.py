"""Calls and what they are given: callees, tail calls, argument registers, thread entry points, parameters."""

from __future__ import annotations

import numpy as np
import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model import AccessKind, ArgKind, SiteFlag
from tests.access.conftest import COMPILERS, Build
from tests.access.elfplan import Elf, read_elf

_FLAGS = ("-O2", "-fno-inline", "-pthread", "-fPIE", "-pie")


@pytest.fixture(params=COMPILERS)
def threads(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    """corpus/threads.c, compiled and scanned."""
    elf = read_elf(build(request.param, "corpus/threads.c", *_FLAGS))
    return elf, start_scan(elf.plan).result()


def row_of(elf: Elf, name: str) -> int:
    return int(np.flatnonzero(elf.plan.functions["address"] == elf.functions[name])[0])


def test_a_lock_is_the_first_argument_of_the_calls_that_take_it(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    lock, _ = elf.objects["LOCK_open"]
    for name in ("open_table", "close_table"):
        args = result.args[(result.args["function"] == row_of(elf, name)) & (result.args["value"] == lock)]
        assert len(args) >= 2, "taken and released"
        assert set(args["arg"].tolist()) == {0}
        assert set(args["kind"].tolist()) == {int(ArgKind.ADDRESS)}


def test_a_member_lock_is_named_at_its_own_address(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    cache, _ = elf.objects["cache"]
    args = result.args[(result.args["function"] == row_of(elf, "close_table")) & (result.args["value"] == cache + 24)]
    assert len(args) == 2


def test_a_thread_entry_point_is_the_third_argument(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    worker = elf.functions["worker"]
    args = result.args[result.args["value"] == worker]
    assert set(args["arg"].tolist()) == {2}
    assert set(args["kind"].tolist()) == {int(ArgKind.ADDRESS)}
    assert worker in result.address_taken


def test_address_taken_has_functions_that_code_names_and_no_others(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    taken = {elf.names[address] for address in result.address_taken.tolist() if address in elf.names}
    assert {"worker", "on_event", "compare"} <= taken
    assert not taken & {"open_table", "close_table", "link_table", "stats"}


def test_direct_calls_name_their_callee(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    for caller, callee in (("main", "start"), ("main", "stop"), ("close_table", "link_table"), ("worker", "stats")):
        calls = result.calls[result.calls["function"] == row_of(elf, caller)]
        assert elf.functions[callee] in calls["callee"].tolist(), (caller, callee)


def test_calls_in_a_loop_have_its_depth(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    calls = result.calls[result.calls["function"] == row_of(elf, "worker")]
    assert set(calls["loop_depth"].tolist()) == {1}


def test_an_indirect_call_has_no_callee(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    calls = result.calls[result.calls["function"] == row_of(elf, "stop")]
    assert 0 in calls["callee"].tolist()
    assert result.counts["unknown_calls"] >= 1


def test_accesses_through_an_argument_are_parameters(threads: tuple[Elf, ScanResult]) -> None:
    elf, result = threads
    params = result.params[result.params["function"] == row_of(elf, "link_table")]
    stores = params[params["kind"] == AccessKind.STORE]
    assert set(stores["arg"].tolist()) == {0}
    assert {0, 8} == {
        offset + step
        for offset, size in zip(stores["offset"].tolist(), stores["size"].tolist(), strict=True)
        for step in range(0, size, 8)
    }


@pytest.mark.parametrize("compiler", COMPILERS)
def test_atomics_through_an_argument_are_atomic(build: Build, compiler: str) -> None:
    flags = ("-mno-outline-atomics",) if "aarch64" in compiler else ()
    elf = read_elf(build(compiler, "corpus/atomics.c", *_FLAGS, *flags))
    result = start_scan(elf.plan).result()
    params = result.params[result.params["function"] == row_of(elf, "add_to")]
    assert [(int(row["kind"]), int(row["offset"]), int(row["size"])) for row in params] == [(AccessKind.RMW, 0, 4)]
    assert params["flags"][0] & SiteFlag.ATOMIC


def test_outline_atomics_have_the_address_among_their_arguments(build: Build) -> None:
    elf = read_elf(build("gcc-aarch64", "corpus/atomics.c", "-O2", "-moutline-atomics"))
    result = start_scan(elf.plan).result()
    counter, _ = elf.objects["counter"]
    args = result.args[(result.args["function"] == row_of(elf, "bump")) & (result.args["value"] == counter)]
    assert args["arg"].tolist() == [1]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_tail_call_is_a_call_and_an_own_branch_is_not(build: Build, compiler: str) -> None:
    elf = read_elf(build(compiler, "corpus/threads.c", *_FLAGS))
    result = start_scan(elf.plan).result()
    tails = result.calls[result.calls["tail"] == 1]
    begins = elf.plan.functions["address"][tails["function"]]
    ends = begins + elf.plan.functions["size"][tails["function"]]
    assert len(tails) > 0
    assert not np.any((tails["callee"] >= begins) & (tails["callee"] < ends))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_switch_is_read_from_its_table(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "corpus/switches.c", level, "-fno-pie", "-no-pie"))
    result = start_scan(elf.plan).result()
    if (compiler, level) != ("clang-aarch64", "-O0"):  # that one compares instead
        assert result.counts["jump_tables"] >= 1
    # `where` reaches each case through the table: without it the pointer would be unknown there.
    sites = result.sites[result.sites["function"] == row_of(elf, "through_pointer")]
    state, _ = elf.objects["state"]
    touched = sites[(sites["target"] == state) & (sites["kind"] != AccessKind.ADDRESS)]
    assert {int(AccessKind.STORE), int(AccessKind.LOAD)} <= set(touched["kind"].tolist()) | (
        {int(AccessKind.STORE), int(AccessKind.LOAD)} if AccessKind.RMW in touched["kind"] else set()
    )
