"""RISC-V, with 64 and 32 bits.

Line size: what the processors in use have; the ISA leaves it open.  Relocations: RISC-V ELF psABI, section 8.4.
Registers: arch/riscv/include/uapi/asm/perf_regs.h.
"""

from __future__ import annotations

from sharing.model.arch.relocation import DynamicTypes
from sharing.model.arch.row import Machine, PerfRegisters, SystemCalls, Target

EM_RISCV = 243

_PAGES = (4096,)
_ARGUMENTS = tuple(f"a{number}" for number in range(8))
_NAMES = (
    *("pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *_ARGUMENTS,
    *(f"s{number}" for number in range(2, 12)),
    *("t3", "t4", "t5", "t6"),
)

ROWS = (
    Machine(
        EM_RISCV,
        64,
        None,
        "riscv64",
        line_size=64,
        pair_size=64,
        unames=("riscv64",),
        targets=(Target("riscv64", 64, "little"),),
        page_sizes=_PAGES,
        dynamic=DynamicTypes(absolute=2, copy=4, glob_dat=2, jump_slot=5, relative=3, irelative=58),
        perf=PerfRegisters(_NAMES, _NAMES, "pc", "sp", _ARGUMENTS),
        calls=SystemCalls(98, 241, "a7", _ARGUMENTS[:6]),
    ),
    Machine(
        EM_RISCV,
        32,
        None,
        "riscv32",
        line_size=64,
        pair_size=64,
        unames=("riscv32",),
        targets=(Target("riscv32", 32, "little"),),
        page_sizes=_PAGES,
        dynamic=DynamicTypes(absolute=1, copy=4, glob_dat=1, jump_slot=5, relative=3, irelative=58),
    ),
)
