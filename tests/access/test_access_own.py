"""Indexes that come from thread-local storage are the running thread's own, others are not."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from sharing.model import AccessKind, SiteFlag
from tests.access.conftest import COMPILERS, Build
from tests.access.elfplan import read_elf

OWN = ("by_number", "by_member", "by_masked", "by_given")
OTHERS = ("by_shared", "by_argument", "of_nobody", "by_hash")


@pytest.mark.parametrize("compiler", [name for name in COMPILERS if "x86" in name])
def test_own_are_indexes_from_storage_of_the_thread(build: Build, compiler: str) -> None:
    elf = read_elf(build(compiler, "corpus/own.c", "-O2", "-fno-inline"))
    sites = start_scan(elf.plan).result().sites
    written = sites[sites["kind"] != AccessKind.ADDRESS]

    def flags(name: str) -> list[bool]:
        at, size = elf.objects[name]
        here = written[(written["target"] >= at) & (written["target"] < at + size)]
        return [bool(f & SiteFlag.OWN) for f in here["flags"][(here["flags"] & SiteFlag.INDEXED) != 0].tolist()]

    assert all(flags(name) and all(flags(name)) for name in OWN), {name: flags(name) for name in OWN}
    assert not any(any(flags(name)) for name in OTHERS), {name: flags(name) for name in OTHERS}
