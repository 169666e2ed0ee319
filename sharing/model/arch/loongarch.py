"""LoongArch with 64 bits.  Relocations: LoongArch ELF psABI, table 5."""

from __future__ import annotations

from sharing.model.arch.relocation import DynamicTypes
from sharing.model.arch.row import Machine, Target

EM_LOONGARCH = 258

ROWS = (
    Machine(
        EM_LOONGARCH,
        64,
        None,
        "loongarch64",
        line_size=64,
        pair_size=64,
        unames=("loongarch64",),
        targets=(Target("loongarch64", 64, "little"),),
        page_sizes=(4096, 16384, 65536),
        dynamic=DynamicTypes(absolute=2, copy=4, glob_dat=2, jump_slot=5, relative=3, irelative=12),
    ),
)
