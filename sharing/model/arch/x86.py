"""x86: x86-64, its 32-bit data model x32, and i386.

Line sizes: Intel SDM volume 3, 12.1 (64 bytes, and the spatial prefetcher that completes 128-byte pairs).  Relocations:
x86-64 psABI, table 4.10; i386 psABI, table 4.9.  Registers: arch/x86/include/uapi/asm/perf_regs.h.
"""

from __future__ import annotations

from sharing.model.arch.plt import PltStub, SlotOperand
from sharing.model.arch.relocation import DATA, DynamicTypes, Formula, Operation
from sharing.model.arch.row import (
    CodeAddresses,
    FrameCode,
    GccAlignment,
    Machine,
    PerfRegisters,
    SystemCalls,
    Target,
    ThreadCalls,
)

EM_386 = 3
EM_X86_64 = 62

_PAGES = (4096,)
_NAMES_386 = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "ds", "es", "fs", "gs")
_NAMES = (*_NAMES_386, *(f"r{number}" for number in range(8, 16)))
_OPERANDS_386 = _NAMES_386[:10]
_OPERANDS = (*_OPERANDS_386, *_NAMES[16:])
_DWARF = ("ax", "dx", "cx", "bx", "si", "di", "bp", "sp", *_NAMES[16:])  # psABI, table 3.38
_REGISTERS = PerfRegisters(_NAMES, _OPERANDS, "ip", "sp", ("di", "si", "dx", "cx", "r8", "r9"), _DWARF, "ax")
_CALLS = SystemCalls(202, 298, 203, 317, "ax", ("di", "si", "dx", "r10", "r8", "r9"))

_ABS, _REL = Formula.ABSOLUTE, Formula.RELATIVE
_OBJECTS = {
    1: Operation(_ABS, DATA, 8, whole=True),  # R_X86_64_64
    2: Operation(_REL, DATA, 4),  # R_X86_64_PC32
    4: Operation(_REL, DATA, 4),  # R_X86_64_PLT32
    9: Operation(_REL, DATA, 4, through_slot=True),  # R_X86_64_GOTPCREL
    10: Operation(_ABS, DATA, 4, whole=True),  # R_X86_64_32
    11: Operation(_ABS, DATA, 4, whole=True),  # R_X86_64_32S
    24: Operation(_REL, DATA, 8),  # R_X86_64_PC64
    41: Operation(_REL, DATA, 4, through_slot=True),  # R_X86_64_GOTPCRELX
    42: Operation(_REL, DATA, 4, through_slot=True),  # R_X86_64_REX_GOTPCRELX
}
# Intel SDM volume 2, "Recommended Multi-Byte Sequence of NOP Instruction", with the prefixes that assemblers add;
# breakpoints are put between functions as well.
_PADDING = rb"[\x90\xcc]|\x66+\x90|[\x66\x2e]*\x0f\x1f(?:\0|\x40.|\x44..|\x80.{4}|\x84.{5})"
_NUMBER_LOADS = rb"(?:\x41?[\xb8-\xbf]|\x68)(.{4})"  # mov $imm32, %r32; push $imm32: Intel SDM volume 2
_NUMBER_ADDS = rb"[\x48\x49](?:\x05|\x81[\xc0-\xc7])(.{4})"  # add $imm32, %r64
# call and jmp *disp8(%r64) and *disp32(%r64).
_CALLS_THROUGH = rb"[\x3e\xf2]?[\x40-\x4f]?\xff[\x50-\x57\x60-\x67\x90-\x97\xa0-\xa7]\0+"
# ret; jmp *r/m64; ud2; hlt.
_LEAVES = rb"[\xf2\xf3]?\xc3|\xc2..|[\x3e\xf2]?[\x40-\x4f]?\xff[\x20-\x27\x60-\x67\xa0-\xa7\xe0-\xe7].*|\x0f\x0b|\xf4"
_DYNAMIC = DynamicTypes(absolute=1, copy=5, glob_dat=6, jump_slot=7, relative=8, irelative=37, tls_descriptor=36)
_THREADS = ThreadCalls(
    b"\x0f\x05",  # syscall
    (56, 435),
    # mov $number, %eax; mov $number, %rax; push $56, pop %rax; xor %eax, %eax, mov $56, %al.
    rb"(?:\xb8|\x48\xc7\xc0)(?:\x38\0\0\0|(?P<clone3>\xb3\x01\0\0)|(?P<other>..\0\0))|\x6a\x38\x58|\x31\xc0\xb0\x38",
    rb"\x48\x89\xf8",  # mov %rdi, %rax
    rb"\x11\x00\x20\x01",
    # mov $flags, %edi or %rdi; mov another register to %rdi or %edi.
    rb"(?:\xbf|\xc7\xc7)(?P<value>.{4})|\x89[\xc7\xcf\xd7\xdf\xe7\xef\xf7\xff]",
    rb"\0\x0f[\x01\x3d\x7d]\0",  # these alone, as glibc has it, and as musl has it
    b"\0\x41\0\0",
    # lea near(%rip), %rdi, perhaps through %rax; mov $whole, %edi.
    rb"\x48\x8d(?:\x3d(?P<near>.{4})|\x05(?P<via>.{4})\x48\x89\xc7)|\xbf(?P<whole>.{4})",
)
# endbr64; push %rbp, mov %rsp, %rbp.  Then registers may be saved, room made in the frame, a mark put at its end
# against overruns, and a result set, before %rdi or %xmm0 is stored there (Intel SDM volume 2).
_FRAMES = FrameCode(
    b"\xf3\x0f\x1e\xfa",
    b"\x55\x48\x89\xe5",
    rb"(?:\x41[\x54-\x57])*\x53?(?:\x48\x83\xec.|\x48\x81\xec.{4})?"
    rb"(?:\x64\x48\x8b[\x04\x14]\x25\x28\0{3}\x48\x89[\x45\x55].)?(?:\xc7\x45.{5})?"
    rb"(?:\x48?\x89[\x7d\xbd]|[\xf2\xf3]\x0f\x11[\x45\x85])",
)

ROWS = (
    Machine(
        EM_X86_64,
        64,
        "little",
        "x86-64",
        line_size=64,
        pair_size=128,
        tls_ends_at_pointer=True,
        unames=("x86_64",),
        targets=(Target("x86_64", 64, "little"),),
        page_sizes=_PAGES,
        decoder=1,
        dynamic=_DYNAMIC,
        objects=_OBJECTS,
        # jmp *slot(%rip); endbr64 or a bnd prefix may stand before it in the entry.
        plt=PltStub(SlotOperand.NEXT_PLUS_32, 16, code=b"\xff\x25", entry_sizes=(8, 16)),
        perf=_REGISTERS,
        calls=_CALLS,
        threads=_THREADS,
        frames=_FRAMES,
        derives=True,
        padding=_PADDING,
        number_loads=_NUMBER_LOADS,
        number_adds=_NUMBER_ADDS,
        calls_through=_CALLS_THROUGH,
        leaves=_LEAVES,
        addresses=CodeAddresses.RIP_RELATIVE,
        gcc=GccAlignment.BY_SIZE,
        large_array=16,  # x86-64 psABI, 3.1.2
    ),
    Machine(
        EM_X86_64,
        32,
        "little",
        "x32",
        line_size=64,
        pair_size=128,
        page_sizes=_PAGES,
        dynamic=DynamicTypes(absolute=10, copy=5, glob_dat=6, jump_slot=7, relative=8, irelative=37),
    ),
    Machine(
        EM_386,
        32,
        "little",
        "i386",
        line_size=64,
        pair_size=64,
        unames=("i386", "i486", "i586", "i686"),
        targets=(Target("i386", 32, "little"), Target("i686", 32, "little")),
        page_sizes=_PAGES,
        dynamic=DynamicTypes(absolute=1, copy=5, glob_dat=6, jump_slot=7, relative=8, irelative=42),
        gcc=GccAlignment.BY_SIZE,
        perf=PerfRegisters(_NAMES_386, _OPERANDS_386, "ip", "sp"),  # arguments are on the stack
        calls=SystemCalls(240, 336, 241, 354, "ax", ("bx", "cx", "dx", "si", "di", "bp")),
    ),
)
