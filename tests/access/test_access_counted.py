"""A number that a function takes from a counter, which it moves on by one, is as good as one that it was given."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from sharing.model.image import AccessKind, SiteFlag
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

TAKEN = ("by_plain", "by_new", "by_wide", "by_member", "by_masked")
ATOMIC = "by_atomic"  # one instruction of x86-64
OTHERS = ("of_other", "of_parts", "of_atomic_parts", "of_nobody", "of_earlier", "of_rounds")


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_numbers_of_counters_are_given(build: Build, compiler: str, level: str) -> None:
    lse = ("-mno-outline-atomics", "-march=armv8.1-a") if "aarch64" in compiler else ()
    alone = ("-fno-ipa-ra",) if compiler.startswith("gcc") else ()
    elf = read_elf(build(compiler, "shared/counted.c", level, *lse, *alone))
    result = start_scan(elf.plan).result()
    names = {at: name for name, at in elf.functions.items()}
    of = [names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    stores = result.behind[(result.behind["flags"] & SiteFlag.INDEXED != 0) & (result.behind["stride"] == 16)]
    stores = stores[stores["kind"] != AccessKind.LOAD]
    found: dict[str, set[tuple[int, bool]]] = {}
    for site in stores:
        bytes_on, given = int(site["target"]) & (1 << 24) - 1, bool(site["flags"] & SiteFlag.GIVEN)
        found.setdefault(of[site["function"]], set()).add((bytes_on, given))
    taken = (*TAKEN, ATOMIC) if "x86" in compiler else TAKEN
    assert {name: found.get(name) for name in taken} == {name: {(0, True)} for name in taken}
    assert {name: found.get(name) for name in OTHERS} == {name: {(0, False)} for name in OTHERS}
