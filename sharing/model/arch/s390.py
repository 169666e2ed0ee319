"""IBM Z.  Lines have 256 bytes (z/Architecture processors since z10).  Relocations: s390x ELF ABI supplement, 2.3."""

from __future__ import annotations

from sharing.model.arch.relocation import DynamicTypes
from sharing.model.arch.row import Machine, Target

EM_S390 = 22

ROWS = (
    Machine(
        EM_S390,
        None,
        None,
        "s390x",
        line_size=256,
        pair_size=256,
        unames=("s390x",),
        targets=(Target("s390x", 64, "big"),),
        page_sizes=(4096,),
        dynamic=DynamicTypes(absolute=22, copy=9, glob_dat=10, jump_slot=11, relative=12, irelative=61),
    ),
)
