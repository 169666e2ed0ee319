"""POWER and PowerPC.  Lines of POWER processors have 128 bytes (POWER9 user's manual).  Relocations: 64-bit ELFv2 ABI,
section 3.5, and the 32-bit Power Architecture ABI supplement."""

from __future__ import annotations

from sharing.model.arch.relocation import DynamicTypes
from sharing.model.arch.row import Machine, Target

EM_PPC = 20
EM_PPC64 = 21

_PAGES = (4096, 65536)
_DYNAMIC = DynamicTypes(absolute=38, copy=19, glob_dat=20, jump_slot=21, relative=22, irelative=248)

ROWS = (
    Machine(
        EM_PPC64,
        None,
        "little",
        "ppc64le",
        line_size=128,
        pair_size=128,
        unames=("ppc64le",),
        targets=(Target("powerpc64le", 64, "little"), Target("ppc64le", 64, "little")),
        page_sizes=_PAGES,
        dynamic=_DYNAMIC,
    ),
    Machine(
        EM_PPC64,
        None,
        "big",
        "ppc64",
        line_size=128,
        pair_size=128,
        unames=("ppc64",),
        targets=(Target("powerpc64", 64, "big"), Target("ppc64", 64, "big")),
        page_sizes=_PAGES,
        dynamic=_DYNAMIC,
    ),
    Machine(
        EM_PPC,
        None,
        None,
        "ppc",
        line_size=64,
        pair_size=64,
        unames=("ppc",),
        targets=(Target("powerpc", 32, "big"),),
        page_sizes=_PAGES,
        dynamic=DynamicTypes(absolute=1, copy=19, glob_dat=20, jump_slot=21, relative=22, irelative=248),
    ),
)
