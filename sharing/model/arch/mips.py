"""MIPS, with 64 and 32 bits.  The loader's relocations combine several types in one record and are not read."""

from __future__ import annotations

from sharing.model.arch.row import Machine, Target

EM_MIPS = 8

ROWS = (
    Machine(
        EM_MIPS,
        64,
        None,
        "mips64",
        line_size=64,
        pair_size=64,
        unames=("mips64",),
        targets=(Target("mips64", 64, "big"), Target("mips64el", 64, "little")),
        packed_types=True,  # MIPS64 ELF object file specification, table 27
    ),
    Machine(EM_MIPS, 32, None, "mips", line_size=64, pair_size=64, unames=("mips",)),
)
