"""Arm: aarch64 in both byte orders, and 32-bit Arm.

Line sizes: Arm's Cortex-A and Neoverse manuals (64 bytes; many second-level caches move two lines together).
Relocations: AAELF64, section 5.7, and AAELF32, section 5.6.  Registers: arch/arm64/include/uapi/asm/perf_regs.h.
"""

from __future__ import annotations

from sharing.model.arch.plt import PltStub, SlotOperand
from sharing.model.arch.relocation import DATA, DynamicTypes, Field, Formula, Operation
from sharing.model.arch.row import (
    CodeAddresses,
    GccAlignment,
    Machine,
    MemorySampler,
    PerfRegisters,
    SystemCalls,
    Target,
    ThreadCalls,
)

EM_ARM = 40
EM_AARCH64 = 183

_PAGES = (4096, 16384, 65536)
_NAMES = (*(f"x{number}" for number in range(30)), "lr", "sp", "pc")
_ARGUMENTS = tuple(f"x{number}" for number in range(8))

_ABS, _REL, _PAGE = Formula.ABSOLUTE, Formula.RELATIVE, Formula.PAGE
_ADR = Field(((1, 0, 29), (20, 2, 5)))
_IMM12 = Field(((11, 0, 10),), low=12)
_IMM14, _IMM19, _IMM26 = Field(((13, 0, 5),)), Field(((18, 0, 5),)), Field(((25, 0, 0),))
_OBJECTS = {
    257: Operation(_ABS, DATA, 8, whole=True),  # R_AARCH64_ABS64
    258: Operation(_ABS, DATA, 4, whole=True),  # R_AARCH64_ABS32
    260: Operation(_REL, DATA, 8),  # R_AARCH64_PREL64
    261: Operation(_REL, DATA, 4),  # R_AARCH64_PREL32
    273: Operation(_REL, _IMM19, shift=2),  # R_AARCH64_LD_PREL_LO19
    274: Operation(_REL, _ADR),  # R_AARCH64_ADR_PREL_LO21
    275: Operation(_PAGE, _ADR, shift=12),  # R_AARCH64_ADR_PREL_PG_HI21
    276: Operation(_PAGE, _ADR, shift=12),  # R_AARCH64_ADR_PREL_PG_HI21_NC
    277: Operation(_ABS, _IMM12),  # R_AARCH64_ADD_ABS_LO12_NC
    278: Operation(_ABS, _IMM12),  # R_AARCH64_LDST8_ABS_LO12_NC
    279: Operation(_REL, _IMM14, shift=2),  # R_AARCH64_TSTBR14
    280: Operation(_REL, _IMM19, shift=2),  # R_AARCH64_CONDBR19
    282: Operation(_REL, _IMM26, shift=2),  # R_AARCH64_JUMP26
    283: Operation(_REL, _IMM26, shift=2),  # R_AARCH64_CALL26
    284: Operation(_ABS, _IMM12, shift=1),  # R_AARCH64_LDST16_ABS_LO12_NC
    285: Operation(_ABS, _IMM12, shift=2),  # R_AARCH64_LDST32_ABS_LO12_NC
    286: Operation(_ABS, _IMM12, shift=3),  # R_AARCH64_LDST64_ABS_LO12_NC
    299: Operation(_ABS, _IMM12, shift=4),  # R_AARCH64_LDST128_ABS_LO12_NC
    309: Operation(_REL, _IMM19, shift=2, through_slot=True),  # R_AARCH64_GOT_LD_PREL19
    311: Operation(_PAGE, _ADR, shift=12, through_slot=True),  # R_AARCH64_ADR_GOT_PAGE
    312: Operation(_ABS, _IMM12, shift=3, through_slot=True),  # R_AARCH64_LD64_GOT_LO12_NC
    314: Operation(_REL, DATA, 4),  # R_AARCH64_PLT32
}
_DYNAMIC = DynamicTypes(
    absolute=257, copy=1024, glob_dat=1025, jump_slot=1026, relative=1027, irelative=1032, tls_descriptor=1031
)

ROWS = (
    Machine(
        EM_AARCH64,
        64,
        "little",
        "aarch64",
        line_size=64,
        pair_size=128,
        unames=("aarch64",),
        targets=(Target("aarch64", 64, "little"), Target("arm64", 64, "little")),
        page_sizes=_PAGES,
        decoder=2,
        dynamic=_DYNAMIC,
        objects=_OBJECTS,
        # adrp x16, page; ldr x17, [x16, #offset], after bti c where branch targets are protected.
        plt=PltStub(
            SlotOperand.PAGE_PLUS_OFFSET,
            16,
            words=((0x9F00001F, 0x90000010), (0xFFC003FF, 0xF9400211)),
            landing=0xD503245F,
            landing_size=24,
        ),
        perf=PerfRegisters(_NAMES, _NAMES, "pc", "sp", _ARGUMENTS, _NAMES[:32]),
        calls=SystemCalls(98, 241, 122, 277, "x8", _ARGUMENTS[:6]),
        # svc #0; mov x8, #220 (clone) or #435 (clone3); mov w8, w0, mov x8, x0 or uxtw x8, w0.
        threads=ThreadCalls(
            b"\x01\x00\x00\xd4",
            (220, 435),
            rb"(?:\x88\x1b|(?P<clone3>\x68\x36)|(?P<other>[\x08\x28\x48\x68\x88\xa8\xc8\xe8].))\x80[\x52\xd2]",
            rb"\xe8\x03\x00[\x2a\xaa]|\x08\x7c\x40[\x93\xd3]",
            rb"\x00\x24\xa0[\x72\xf2]",
        ),
        derives=True,
        padding=rb"\x1f\x20\x03\xd5",  # nop
        addresses=CodeAddresses.PAGE_AND_OFFSET,
        gcc=GccAlignment.FOR_VECTORS,
        section_anchors=True,
        sampler=MemorySampler("arm_spe_0", "Statistical Profiling Extension", "arm_spe_pmu"),
    ),
    Machine(
        EM_AARCH64,
        None,
        None,
        "aarch64",
        line_size=64,
        pair_size=128,
        unames=("aarch64_be",),
        targets=(Target("aarch64_be", 64, "big"),),
        page_sizes=_PAGES,
        dynamic=_DYNAMIC,
    ),
    Machine(
        EM_ARM,
        None,
        None,
        "arm",
        line_size=64,
        pair_size=64,
        unames=("armv6l", "armv7l", "armv8l"),
        targets=(Target("arm", 32, "little"), Target("armv7", 32, "little")),
        page_sizes=(4096,),
        dynamic=DynamicTypes(absolute=2, copy=20, glob_dat=21, jump_slot=22, relative=23, irelative=160),
        code_mask=1,  # says "Thumb" (AAELF32 5.5.3)
    ),
)
