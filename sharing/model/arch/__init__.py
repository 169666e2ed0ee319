"""The table of processor architectures, one module each: found by ELF header, by ``uname -m``, by target triple.

Owns which modules there are and the search.  What a row says is ``row``'s.  A new architecture is a module and its
place in ``MACHINES``; what else it takes stands in CONTRIBUTING.
"""

from __future__ import annotations

from sharing.model.arch import arm, loongarch, mips, power, riscv, s390, sparc, x86
from sharing.model.arch.row import Machine, Target
from sharing.model.image import Architecture

# Of several rows that fit a file the first one counts.
MACHINES: tuple[Machine, ...] = (
    *x86.ROWS,
    *arm.ROWS,
    *power.ROWS,
    *s390.ROWS,
    *riscv.ROWS,
    *sparc.ROWS,
    *mips.ROWS,
    *loongarch.ROWS,
)

UNKNOWN_LINE_BYTES = 64


def machine_of_file(e_machine: int, bits: int, byteorder: str) -> Machine:
    """The row of a file; of a machine that the table does not have one that bears its number and knows nothing."""
    for row in MACHINES:
        if row.e_machine == e_machine and row.bits in (None, bits) and row.byteorder in (None, byteorder):
            return row
    return Machine(e_machine, bits, byteorder, f"machine-{e_machine}", UNKNOWN_LINE_BYTES, UNKNOWN_LINE_BYTES)


def find_architecture(e_machine: int, bits: int, byteorder: str) -> Architecture:
    """What reports say of a file's architecture."""
    row = machine_of_file(e_machine, bits, byteorder)
    return Architecture(row.name, bits, byteorder, row.line_size, row.pair_size, row.decoder != 0)


def machine_of_uname(name: str) -> Machine | None:
    """By what ``uname -m`` says there, and so perf."""
    return next((row for row in MACHINES if name in row.unames), None)


def machine_named(name: str) -> Machine | None:
    """By ``Architecture.name``; of several with that name the one that is known best, which comes first."""
    return next((row for row in MACHINES if name == row.name), None)


def machine_of_triple(triple: str) -> Machine | None:
    """By a compiler's target triple, None where the table does not have it."""
    found = _row_and_target(triple)
    return found[0] if found else None


def target_architecture(triple: str) -> Architecture | None:
    """The architecture that a compiler's target triple names, None where the table does not have it."""
    found = _row_and_target(triple)
    if found is None:
        return None
    row, target = found
    return find_architecture(row.e_machine, target.bits, target.byteorder)


def _row_and_target(triple: str) -> tuple[Machine, Target] | None:
    """The first row that has this target."""
    name = triple.partition("-")[0]
    every = ((row, target) for row in MACHINES for target in row.targets)
    return next(((row, target) for row, target in every if target.name == name), None)
