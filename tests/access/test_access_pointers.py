"""Pointers to functions: from where a call has its target, and where functions and arguments are stored."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import SlotKind
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf


@pytest.fixture(params=["gcc-x86-64", "gcc-aarch64", "gcc-riscv64"])
def pointers(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    elf = read_elf(build(request.param, "corpus/pointers.c", "-O2", "-fno-inline", "-fPIE", "-pie"))
    return elf, start_scan(elf.plan).result()


def called_from(elf: Elf, result: ScanResult, name: str) -> tuple[SlotKind, int]:
    names = [elf.names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    (call,) = result.calls[(result.calls["function"] == names.index(name)) & (result.calls["callee"] == 0)]
    return SlotKind(call["slot"]), int(call["where"])


def test_a_call_takes_its_target_from_so_far_behind_a_pointer(pointers: tuple[Elf, ScanResult]) -> None:
    assert called_from(*pointers, "call_work") == (SlotKind.RECORD, 8)
    assert called_from(*pointers, "call_all") == (SlotKind.RECORD, 24), "tested before it is called"


def test_a_call_takes_its_target_from_a_static_variable_or_an_argument(pointers: tuple[Elf, ScanResult]) -> None:
    elf, _ = pointers
    hook, _ = elf.objects["task_hook"]
    assert called_from(*pointers, "call_hook") == (SlotKind.STATIC, hook)
    assert called_from(*pointers, "call_given") == (SlotKind.ARGUMENT, 0)


@pytest.mark.parametrize(
    ("compiler", "most"),
    [
        pytest.param("gcc-x86-64", (0, 1, 2), id="x86-64"),
        pytest.param("gcc-aarch64", (1, 2, 3), id="a result, and where the function is, may be arguments"),
    ],
)
def test_how_many_arguments_a_call_may_hand_over(build: Build, compiler: str, most: tuple[int, ...]) -> None:
    elf = read_elf(build(compiler, "shared/handed.c", "-O2", "-fPIC", "-shared", "-fno-optimize-sibling-calls"))
    result = start_scan(elf.plan).result()
    starts = elf.plan.functions["address"].tolist()
    told = []
    for name in ("call_none", "call_one", "call_two"):
        mine = result.calls["function"] == starts.index(elf.functions[name])
        (call,) = result.calls[mine & (result.calls["callee"] == 0)]
        told.append(int(call["handed"]) - 1)
    assert tuple(told) == most
    assert not result.calls["handed"][result.calls["callee"] != 0].any()


def test_a_pointer_that_a_loop_moves_on_says_nothing(pointers: tuple[Elf, ScanResult]) -> None:
    assert called_from(*pointers, "call_each") == (SlotKind.UNKNOWN, 0)


def test_a_loop_calls_what_was_loaded_before_it(pointers: tuple[Elf, ScanResult]) -> None:
    assert called_from(*pointers, "call_rounds") == (SlotKind.RECORD, 8)


def test_of_two_loads_before_a_loop_neither_is_known_to_be_called(pointers: tuple[Elf, ScanResult]) -> None:
    assert called_from(*pointers, "call_either") == (SlotKind.UNKNOWN, 0)


def test_functions_and_arguments_are_kept_in_records_and_variables(pointers: tuple[Elf, ScanResult]) -> None:
    elf, result = pointers
    names = [elf.names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    kept = {
        (
            names[row["function"]],
            elf.names.get(int(row["value"]), int(row["arg"])),
            SlotKind(row["slot"]),
            int(row["where"]),
        )
        for row in result.kept
    }
    hook, _ = elf.objects["task_hook"]
    assert ("keep_task", 1, SlotKind.RECORD, 8) in kept
    assert ("set_handler", "on_ready", SlotKind.RECORD, 24) in kept
    assert ("set_task_hook", 0, SlotKind.STATIC, hook) in kept
