"""Offsets of elements that data chooses are steps of an element, on whichever way they are a number that code has."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from sharing.model.image import AccessKind, SiteFlag
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

SHARD, HEAD = 16, 8  # bytes of an element, and in front of the elements in a record


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_steps_are_those_of_elements(build: Build, compiler: str, level: str) -> None:
    lse = ("-mno-outline-atomics", "-march=armv8.1-a") if "aarch64" in compiler else ()
    elf = read_elf(build(compiler, "shared/offsets.c", level, *lse))
    sites = start_scan(elf.plan).result().sites
    sites = sites[(sites["kind"] != AccessKind.ADDRESS) & (sites["flags"] & SiteFlag.INDEXED != 0)]

    def found(name: str) -> set[tuple[int, int]]:
        at, size = elf.objects[name]
        here = sites[(sites["target"] >= at) & (sites["target"] < at + size)]
        return {(int(s["target"]) - at, int(s["stride"])) for s in here}

    assert found("by_text") == {(0, SHARD), (8, SHARD)}
    assert found("behind") == {(HEAD, SHARD), (HEAD + 8, SHARD)}
    assert found("by_one_of_two") == {(0, SHARD)}
    assert (0, 1) in found("by_any")
