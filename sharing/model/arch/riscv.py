"""RISC-V, with 64 and 32 bits.

Line size: what the processors in use have; the ISA leaves it open.  Relocations: RISC-V ELF psABI, section 8.4.
Registers: arch/riscv/include/uapi/asm/perf_regs.h.
"""

from __future__ import annotations

from sharing.model.arch.plt import PltStub, SlotOperand
from sharing.model.arch.relocation import DATA, DynamicTypes, Field, Formula, Operation
from sharing.model.arch.row import CodeAddresses, Machine, PerfRegisters, SystemCalls, Target, ThreadCalls

EM_RISCV = 243

_PAGES = (4096,)
_ARGUMENTS = tuple(f"a{number}" for number in range(8))
_NAMES = (
    *("pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
    *_ARGUMENTS,
    *(f"s{number}" for number in range(2, 12)),
    *("t3", "t4", "t5", "t6"),
)

_ABS, _REL = Formula.ABSOLUTE, Formula.RELATIVE
_ADD, _SUB, _PAIRED = Formula.ADDED, Formula.SUBTRACTED, Formula.PAIRED
# Formats of instructions: The RISC-V Instruction Set Manual, volume I, chapters "RV32I" and "C".
_UPPER = Field(((31, 12, 12),), rounds=0x800)
_LOWER_I, _LOWER_S = Field(((11, 0, 20),)), Field(((11, 5, 25), (4, 0, 7)))
_BRANCH = Field(((12, 12, 31), (10, 5, 25), (4, 1, 8), (11, 11, 7)))
_JUMP = Field(((20, 20, 31), (10, 1, 21), (11, 11, 20), (19, 12, 12)))
_RVC_BRANCH = Field(((8, 8, 12), (4, 3, 10), (7, 6, 5), (2, 1, 3), (5, 5, 2)))
_RVC_JUMP = Field(((11, 11, 12), (4, 4, 11), (9, 8, 9), (10, 10, 8), (6, 6, 7), (7, 7, 6), (3, 1, 3), (5, 5, 2)))
_CALL = Operation(_REL, _UPPER, then=Operation(_REL, _LOWER_I, at=4))
_OBJECTS = {
    1: Operation(_ABS, DATA, 4, whole=True),  # R_RISCV_32
    2: Operation(_ABS, DATA, 8, whole=True),  # R_RISCV_64
    16: Operation(_REL, _BRANCH),  # R_RISCV_BRANCH
    17: Operation(_REL, _JUMP),  # R_RISCV_JAL
    18: _CALL,  # R_RISCV_CALL
    19: _CALL,  # R_RISCV_CALL_PLT
    20: Operation(_REL, _UPPER, through_slot=True),  # R_RISCV_GOT_HI20
    23: Operation(_REL, _UPPER),  # R_RISCV_PCREL_HI20
    24: Operation(_PAIRED, _LOWER_I),  # R_RISCV_PCREL_LO12_I
    25: Operation(_PAIRED, _LOWER_S),  # R_RISCV_PCREL_LO12_S
    26: Operation(_ABS, _UPPER, whole=True),  # R_RISCV_HI20
    27: Operation(_ABS, _LOWER_I),  # R_RISCV_LO12_I
    28: Operation(_ABS, _LOWER_S),  # R_RISCV_LO12_S
    33: Operation(_ADD, DATA, 1),  # R_RISCV_ADD8
    34: Operation(_ADD, DATA, 2),  # R_RISCV_ADD16
    35: Operation(_ADD, DATA, 4),  # R_RISCV_ADD32
    36: Operation(_ADD, DATA, 8),  # R_RISCV_ADD64
    37: Operation(_SUB, DATA, 1),  # R_RISCV_SUB8
    38: Operation(_SUB, DATA, 2),  # R_RISCV_SUB16
    39: Operation(_SUB, DATA, 4),  # R_RISCV_SUB32
    40: Operation(_SUB, DATA, 8),  # R_RISCV_SUB64
    44: Operation(_REL, _RVC_BRANCH, 2),  # R_RISCV_RVC_BRANCH
    45: Operation(_REL, _RVC_JUMP, 2),  # R_RISCV_RVC_JUMP
    57: Operation(_REL, DATA, 4),  # R_RISCV_32_PCREL
}

ROWS = (
    Machine(
        EM_RISCV,
        64,
        "little",
        "riscv64",
        line_size=64,
        pair_size=64,
        unames=("riscv64",),
        targets=(Target("riscv64", 64, "little"),),
        page_sizes=_PAGES,
        decoder=3,
        dynamic=DynamicTypes(absolute=2, copy=4, glob_dat=2, jump_slot=5, relative=3, irelative=58),
        objects=_OBJECTS,
        # auipc t3, upper; ld t3, lower(t3); jalr t1, t3; nop.
        plt=PltStub(SlotOperand.PC_PLUS_PARTS, 16, words=((0xFFF, 0xE17), (0xFFFFF, 0xE3E03))),
        perf=PerfRegisters(_NAMES, _NAMES, "pc", "sp", _ARGUMENTS, ("", *_NAMES[1:])),
        calls=SystemCalls(98, 241, 122, 277, "a7", _ARGUMENTS[:6]),
        # ecall; li a7, 220 (clone) or 435 (clone3); mv a7, a0.  The flags of fork begin with lui 0x1200.
        derives=True,
        threads=ThreadCalls(
            b"\x73\x00\x00\x00",
            (220, 435),
            rb"\x93\x08(?:\xc0\x0d|(?P<clone3>\x30\x1b)|(?P<other>..))",
            rb"\xaa\x88|\x93\x08\x05\x00",
            rb"[\x37\xb7][\x00-\x0f]\x20\x01",
        ),
        padding=rb"\x13\0\0\0|\x01\0",  # nop, c.nop
        addresses=CodeAddresses.PC_AND_PARTS,
        section_anchors=True,
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
        section_anchors=True,
    ),
)
