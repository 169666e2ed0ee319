"""The registry of processor architectures: one row each, found by ELF machine, class and byte order.

Owns the default line sizes and which architectures can be decoded.  Does not decode anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharing.model import Architecture

# e_machine values of the System V gABI's registry.
EM_SPARC = 2
EM_386 = 3
EM_MIPS = 8
EM_SPARC32PLUS = 18
EM_PPC = 20
EM_PPC64 = 21
EM_S390 = 22
EM_ARM = 40
EM_SPARCV9 = 43
EM_X86_64 = 62
EM_AARCH64 = 183
EM_RISCV = 243
EM_LOONGARCH = 258


@dataclass(frozen=True, slots=True)
class Machine:
    """One row: which files it describes, and the value that describes them."""

    e_machine: int
    bits: int | None  # None: either class
    byteorder: str | None  # None: either order
    name: str
    line_size: int
    pair_size: int
    decodes: bool


# Line sizes: the L1 data line of the processors in use.  POWER has lines of 128 bytes, z of 256; Intel's
# adjacent-line prefetcher and many aarch64 second-level caches move two 64-byte lines together.
MACHINES: tuple[Machine, ...] = (
    Machine(EM_X86_64, 64, "little", "x86-64", 64, 128, True),
    Machine(EM_X86_64, 32, "little", "x32", 64, 128, False),
    Machine(EM_386, 32, "little", "i386", 64, 64, False),
    Machine(EM_AARCH64, 64, "little", "aarch64", 64, 128, True),
    Machine(EM_AARCH64, None, None, "aarch64", 64, 128, False),
    Machine(EM_ARM, None, None, "arm", 64, 64, False),
    Machine(EM_PPC64, None, "little", "ppc64le", 128, 128, False),
    Machine(EM_PPC64, None, "big", "ppc64", 128, 128, False),
    Machine(EM_PPC, None, None, "ppc", 64, 64, False),
    Machine(EM_S390, None, None, "s390x", 256, 256, False),
    Machine(EM_RISCV, 64, None, "riscv64", 64, 64, False),
    Machine(EM_RISCV, 32, None, "riscv32", 64, 64, False),
    Machine(EM_SPARCV9, None, None, "sparc64", 64, 64, False),
    Machine(EM_SPARC32PLUS, None, None, "sparc", 64, 64, False),
    Machine(EM_SPARC, None, None, "sparc", 64, 64, False),
    Machine(EM_MIPS, 64, None, "mips64", 64, 64, False),
    Machine(EM_MIPS, 32, None, "mips", 64, 64, False),
    Machine(EM_LOONGARCH, 64, None, "loongarch64", 64, 64, False),
)

UNKNOWN_LINE_BYTES = 64


def find_architecture(e_machine: int, bits: int, byteorder: str) -> Architecture:
    """The architecture of a file; one that is not in the registry gets a value named after its number."""
    for row in MACHINES:
        if row.e_machine == e_machine and row.bits in (None, bits) and row.byteorder in (None, byteorder):
            return Architecture(row.name, bits, byteorder, row.line_size, row.pair_size, row.decodes)
    return Architecture(f"machine-{e_machine}", bits, byteorder, UNKNOWN_LINE_BYTES, UNKNOWN_LINE_BYTES, False)
