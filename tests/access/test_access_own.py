"""Indexes that come from thread-local storage are the running thread's own, others are not."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from sharing.model import AccessKind, SiteFlag
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

OWN = ("by_number", "by_member", "by_call", "by_spilled")
OTHERS = ("by_shared", "by_argument", "of_nobody", "by_hash", "by_other_call")
GIVEN = "by_given"  # where two ways meet: without optimization they meet in memory
MASKED = "by_masked"  # other machines' bit fields are not followed


def flags_of(compiler: str) -> tuple[str, ...]:
    """An address that a callee is known to leave in its register is not followed across the call."""
    return ("-fno-ipa-ra",) if compiler.startswith("gcc") else ()


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_own_are_indexes_from_storage_of_the_thread(build: Build, compiler: str, level: str) -> None:
    elf = read_elf(build(compiler, "corpus/own.c", level, "-fno-inline", *flags_of(compiler)))
    sites = start_scan(elf.plan).result().sites
    written = sites[sites["kind"] != AccessKind.ADDRESS]

    def flags(name: str) -> list[bool]:
        at, size = elf.objects[name]
        here = written[(written["target"] >= at) & (written["target"] < at + size)]
        return [bool(f & SiteFlag.OWN) for f in here["flags"][(here["flags"] & SiteFlag.INDEXED) != 0].tolist()]

    own = [*OWN, *([GIVEN] if level == "-O2" else []), *([MASKED] if "x86" in compiler else [])]
    assert {name: (bool(flags(name)), all(flags(name))) for name in own} == dict.fromkeys(own, (True, True))
    assert {name: any(flags(name)) for name in OTHERS} == dict.fromkeys(OTHERS, False)
