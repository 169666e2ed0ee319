"""Arguments that a call leaves in their registers, as code shows that reads them there afterwards."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model import ArgKind
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf


@pytest.fixture(params=["gcc-x86-64", "gcc-riscv64"])
def kept(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    elf = read_elf(build(request.param, "shared/kept_argument.c", "-O2", "-fPIC", "-shared"))
    return elf, start_scan(elf.plan).result()


def given(kept: tuple[Elf, ScanResult], caller: str) -> list[tuple[str, int, int]]:
    """(callee, its argument, the caller's own argument) of what a function hands on."""
    elf, result = kept
    row = elf.plan.functions["address"].tolist().index(elf.functions[caller])
    rows = result.args[(result.args["function"] == row) & (result.args["kind"] == ArgKind.PARAM)]
    return [(elf.names.get(int(r["callee"]), ""), int(r["arg"]), int(r["source"])) for r in rows]


def test_what_a_loop_reads_after_a_call_is_an_argument_of_the_next(kept: tuple[Elf, ScanResult]) -> None:
    assert ("change", 0, 0) in given(kept, "again")


def test_not_of_a_call_before_which_nobody_reads_it(kept: tuple[Elf, ScanResult]) -> None:
    assert ("change", 0, 0) in given(kept, "once")
    assert {callee for callee, _, _ in given(kept, "once")} == {"change"}
