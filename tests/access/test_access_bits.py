"""Words of sets of bits are those in which code changes a bit that it chose by number."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import start_scan
from sharing.model import AccessKind, SiteFlag
from tests.access.conftest import Build
from tests.access.elfplan import read_elf

SETS = ("set_bits", "cleared", "flipped", "halves", "many", "atomically", "swapped")
OTHERS = ("counts", "sums", "masks", "flags", "merged")
WRITES = (AccessKind.STORE, AccessKind.RMW)


COMPILERS = ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64", "clang-riscv64")


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [
        *[(compiler, (level,)) for compiler in COMPILERS for level in ("-O0", "-O2")],
        ("gcc-x86-64", ("-O2", "-mbmi2")),
        ("gcc-aarch64", ("-O2", "-march=armv8.1-a")),
    ],
)
def test_a_bit_that_code_chooses_makes_its_word_one_of_a_set(
    build: Build, compiler: str, flags: tuple[str, ...]
) -> None:
    inline = ("-mno-outline-atomics",) if "aarch64" in compiler else ()
    elf = read_elf(build(compiler, "shared/bits.c", *flags, *inline))
    sites = start_scan(elf.plan).result().sites

    def marks(name: str) -> set[bool]:
        at, size = elf.objects[name]
        here = sites[(sites["target"] >= at) & (sites["target"] < at + size)]
        return {bool(s["flags"] & SiteFlag.BITMAP) for s in here if s["kind"] in WRITES}

    assert {name: marks(name) for name in SETS} == {name: {True} for name in SETS}
    assert {name: marks(name) for name in OTHERS} == {name: {False} for name in OTHERS}
