"""SPARC, with 64 and 32 bits.  Relocations: SPARC Compliance Definition 2.4.1, and binutils for the later ones."""

from __future__ import annotations

from sharing.model.arch.relocation import DynamicTypes
from sharing.model.arch.row import Machine, Target

EM_SPARC = 2
EM_SPARC32PLUS = 18
EM_SPARCV9 = 43

_DYNAMIC = DynamicTypes(absolute=3, copy=19, glob_dat=20, jump_slot=21, relative=22, irelative=249)

ROWS = (
    Machine(
        EM_SPARCV9,
        None,
        None,
        "sparc64",
        line_size=64,
        pair_size=64,
        unames=("sparc64",),
        targets=(Target("sparcv9", 64, "big"),),
        page_sizes=(8192,),
        dynamic=DynamicTypes(absolute=32, copy=19, glob_dat=20, jump_slot=21, relative=22, irelative=249),
    ),
    Machine(EM_SPARC32PLUS, None, None, "sparc", line_size=64, pair_size=64, dynamic=_DYNAMIC),
    Machine(EM_SPARC, None, None, "sparc", line_size=64, pair_size=64, dynamic=_DYNAMIC),
)
