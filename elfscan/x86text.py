"""x86-64 instructions from capstone's Intel text: memory operands, registers written, known new values.

Owns the tables of mnemonics, written from the Intel SDM, volume 2.  Text rather than capstone's operand objects: making
those costs ten times as much, and their access bits are wrong for many instructions (see DecodeX86.cpp).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from elfscan.effects import NO_EFFECT, NONE, OTHER, Effect, Flow, Memory
from sharing.model import AccessKind

# arch/x86/include/uapi/asm/perf_regs.h
AX, BX, CX, DX, SI, DI, BP, SP = range(8)
R11 = 19
CALLER_SAVED = frozenset({AX, CX, DX, SI, DI, 16, 17, 18, R11})


def _registers() -> dict[str, tuple[int, int]]:
    """(perf's number, bytes) by name."""
    out: dict[str, tuple[int, int]] = {}
    for letter, number in zip("abcd", (AX, BX, CX, DX), strict=True):
        out |= {f"r{letter}x": (number, 8), f"e{letter}x": (number, 4), f"{letter}x": (number, 2)}
        out |= {f"{letter}l": (number, 1), f"{letter}h": (number, 1)}
    for name, number in (("si", SI), ("di", DI), ("bp", BP), ("sp", SP)):
        out |= {f"r{name}": (number, 8), f"e{name}": (number, 4), name: (number, 2), f"{name}l": (number, 1)}
    for n in range(8, 16):
        out |= {f"r{n}{suffix}": (n + 8, size) for suffix, size in (("", 8), ("d", 4), ("w", 2), ("b", 1))}
    return out


REGISTERS = _registers()
_SIZES = {"byte": 1, "word": 2, "dword": 4, "fword": 6, "qword": 8, "xword": 10, "tbyte": 10}
_SIZES |= {"xmmword": 16, "ymmword": 32, "zmmword": 64}
_MEMORY = re.compile(r"(?:(?P<size>\w+) ptr )?(?:(?P<segment>[c-gs]s):)?\[(?P<sum>[^\]]*)\]")
_TERM = re.compile(r"(?P<sign>^|[+-]) ?(?P<what>\w+)(?:\*(?P<scale>[1248]))?")

_STRING_UNITS = {"b": 1, "w": 2, "d": 4, "q": 8}
_STRINGS = re.compile(r"(movs|stos|lods|scas|cmps|ins|outs)([bwdq])$")
_CONDITIONAL = re.compile(r"j(?!mp)|loop|xbegin")
_READ_FIRST = re.compile(
    r"(cmp|test|bt|push|call|jmp|mul|div|idiv|out|nop|v?u?comis[sd]|v?ptest|vtestp[sd]|k(or)?test[bwdq]|fld|f?wait"
    r"|ld?mxcsr|v?ldmxcsr|l[gil]dt|ltr|lmsw|ver[rw]|wr[fg]sbase|xrstor\w*|fxrstor\w*|fldcw|fldenv|frstor|vm\w+)$"
)
_CHANGED = re.compile(
    r"(add|adc|and|sub|sbb|or|xor|inc|dec|neg|not|sh[lr]d?|sa[lr]|ro[lr]|rc[lr]|bt[src]|xadd|xchg|cmpxchg(8b|16b)?)$"
)
# With one operand, which is written; elsewhere a lone memory operand is read.
_WRITE_ALONE = re.compile(
    r"(set\w+|pop|fstp?|fistt?p?|fbstp|fn?st(cw|env|sw)|fn?save|fxsave(64)?|xsave\w*|v?stmxcsr|s[gil]dt|str|smsw|vmptrst"
    r"|rdrand|rdseed|rd[fg]sbase|rdpid|bswap)$"
)
# Hints, cache control, address computation: no data moves.
_NO_ACCESS = re.compile(r"(f?nop|prefetch\w*|clflush(opt)?|clwb|cldemote|invlpg|endbr(64|32)|lea|bnd\w*)$")
_IMPLICIT = {
    "mul": (AX, DX), "div": (AX, DX), "idiv": (AX, DX), "cdq": (DX,), "cqo": (DX,), "cwd": (DX,), "cdqe": (AX,),
    "cwde": (AX,), "cbw": (AX,), "cmpxchg": (AX,), "cmpxchg8b": (AX, DX), "cmpxchg16b": (AX, DX),
    "cpuid": (AX, BX, CX, DX), "rdtsc": (AX, DX), "rdtscp": (AX, CX, DX), "rdpmc": (AX, DX), "rdmsr": (AX, DX),
    "xgetbv": (AX, DX), "rdpru": (AX, DX), "lahf": (AX,), "in": (AX,), "xlatb": (AX,), "loop": (CX,), "loope": (CX,),
    "loopne": (CX,), "rdpkru": (AX, DX), "pcmpestri": (CX,), "pcmpistri": (CX,), "vpcmpestri": (CX,),
    "vpcmpistri": (CX,), "syscall": (AX, CX, R11), "sysenter": (AX, CX, DX), "int": (AX,), "xbegin": (AX,),
    "leave": (SP, BP), "enter": (SP, BP), "pushfq": (SP,), "popfq": (SP,), "vmcall": (AX, BX, CX, DX), "fnstsw": (),
    "vmmcall": (AX, BX, CX, DX), "vmfunc": (), "encls": (AX, BX, CX, DX), "enclu": (AX, BX, CX, DX),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Traits:
    """What a mnemonic says alone."""

    string: tuple[str, int] | None  # instruction and bytes of a unit
    reads_first: bool
    changes: bool
    writes_alone: bool
    accesses: bool


@functools.cache  # capstone knows 1,500 names
def _traits(name: str) -> _Traits:
    string = _STRINGS.match(name)
    return _Traits(
        (string[1], _STRING_UNITS[string[2]]) if string else None,
        _READ_FIRST.match(name) is not None,
        _CHANGED.match(name) is not None,
        _WRITE_ALONE.match(name) is not None,
        _NO_ACCESS.match(name) is None,
    )


def flow(mnemonic: str, operands: str) -> tuple[Flow, int | None]:
    """Where control goes, and to which address where the instruction says it."""
    name = mnemonic.rsplit(" ", 1)[-1]
    letter = name[0]
    if letter == "j" or letter == "l" or letter == "x":
        if name == "jmp":
            return Flow.JUMP, int(operands, 16) if operands.startswith("0x") else None
        if _CONDITIONAL.match(name):
            return Flow.BRANCH, int(operands, 16) if operands.startswith("0x") else None
        return Flow.NEXT, None
    if letter == "c":
        return (Flow.CALL if name == "call" else Flow.NEXT), None
    if letter in "rius" and name in ("ret", "retf", "retfq", "iretq", "iretd", "sysretq", "sysret", "sysexit"):
        return Flow.RETURN, None
    if name == "syscall":
        return Flow.SYSCALL, None
    return (Flow.STOP if name in ("ud2", "hlt", "int3", "ud0", "ud1") else Flow.NEXT), None


def _operands(text: str) -> list[str]:
    return text.split(", ") if text else []


def _memory(text: str, end: int, kind: AccessKind, *, atomic: bool) -> Memory | None:
    match = _MEMORY.search(text)
    if match is None:
        return None
    base = index = NONE
    scale, displacement, link = 1, 0, False
    for term in _TERM.finditer(match["sum"]):
        what = term["what"]
        if what[0].isdigit():
            displacement += -int(what, 0) if term["sign"] == "-" else int(what, 0)
        elif what == "rip":
            link = True
            displacement += end
        elif what not in ("riz", "eiz"):
            number, width = REGISTERS.get(what, (OTHER, 8))
            number = number if width == 8 else OTHER
            if term["scale"] or base != NONE:
                index, scale = number, int(term["scale"] or 1)
            else:
                base = number
    displacement &= (1 << 64) - 1
    displacement -= displacement >> 63 << 64
    segment = {"fs": 1, "gs": 2}.get(match["segment"] or "", 0)
    return Memory(
        kind, _SIZES.get(match["size"] or "", 0), base, index, scale, displacement, segment, atomic=atomic, link=link
    )


def effect(mnemonic: str, text: str, address: int, length: int) -> Effect:
    """What the instruction at ``address`` does; not what a called function does."""
    prefix, _, name = mnemonic.rpartition(" ")
    operands = _operands(text)
    traits = _traits(name)
    if traits.string and "xmm" not in text:  # movsd and cmpsd are also names of vector instructions
        return _string(*traits.string, repeated="rep" in prefix)
    if name in ("push", "pop", "pushfq", "popfq"):
        return _stack(name, operands, address + length)
    if name == "leave":
        frame = Memory(AccessKind.LOAD, 8, BP, implicit=True)
        return Effect((frame,), frozenset({SP, BP}), ((SP, BP, 8, False),))
    memory: list[Memory] = []
    first = operands[0] if operands else ""
    read_first = traits.reads_first or (name == "imul" and len(operands) == 1)
    if traits.accesses and "[" in text:
        atomic = "lock" in prefix or (name == "xchg")
        for at, operand in enumerate(operands):
            if "[" not in operand:
                continue
            kind = AccessKind.LOAD
            if at == 0 and not read_first:
                if traits.changes:
                    kind = AccessKind.RMW
                elif len(operands) > 1 or traits.writes_alone:
                    kind = AccessKind.STORE
            if name == "xchg":
                kind = AccessKind.RMW
            found = _memory(operand, address + length, kind, atomic=atomic)
            if found is not None:
                memory.append(found)
    writes = set(_IMPLICIT.get(name, ()))
    if name == "imul" and len(operands) == 1:
        writes |= {AX, DX}
    if name == "call":
        return Effect(tuple(memory), CALLER_SAVED)
    number, width = REGISTERS.get(first, (NONE, 0))
    if number != NONE and not read_first and name != "nop":
        writes.add(number)
    if name in ("xchg", "xadd", "mulx") and len(operands) > 1 and operands[1] in REGISTERS:
        writes.add(REGISTERS[operands[1]][0])
    if not memory and not writes:
        return NO_EFFECT
    values = _values(name, number, width, operands, address + length) if number != NONE and writes else ()
    return Effect(tuple(memory), frozenset(writes), values, bool(memory) and read_first and name in ("cmp", "test"))


def _values(
    name: str, number: int, width: int, operands: list[str], end: int
) -> tuple[tuple[int, int, int, bool], ...]:
    """The new value of the first operand where it is another register, or a constant, plus a constant."""
    second = operands[1] if len(operands) > 1 else ""
    if name in ("mov", "movabs"):
        if second[:1].isdigit() or second[:1] == "-":
            value = int(second, 0)
            return ((number, NONE, value if width == 8 else value & 0xFFFF_FFFF, False),) if width >= 4 else ()
        source, wide = REGISTERS.get(second, (NONE, 0))
        return ((number, source, 0, False),) if wide == 8 else ()
    if name == "xor" and second == operands[0] and width >= 4:
        return ((number, NONE, 0, False),)
    if width != 8:
        return ()
    if name in ("inc", "dec"):
        return ((number, number, 1 if name == "inc" else -1, False),)
    if name in ("add", "sub") and (second[:1].isdigit() or second[:1] == "-"):
        amount = int(second, 0)
        amount -= (amount & 1 << 63) << 1
        return ((number, number, amount if name == "add" else -amount, False),)
    if name == "lea":
        found = _memory(second, end, AccessKind.ADDRESS, atomic=False)
        if found is not None and found.index == NONE and found.base != OTHER and not found.segment:
            return ((number, found.base, found.displacement, found.link),)
    return ()


def _string(name: str, unit: int, *, repeated: bool) -> Effect:
    """String instructions; the direction flag is clear by every ABI.  The load comes first: it is what stalls."""
    load, store = Memory(AccessKind.LOAD, unit, SI), Memory(AccessKind.STORE, unit, DI)
    memory = {
        "movs": (load, store),
        "lods": (load,),
        "stos": (store,),
        "scas": (Memory(AccessKind.LOAD, unit, DI),),
        "cmps": (load, Memory(AccessKind.LOAD, unit, DI)),
        "ins": (store,),
        "outs": (load,),
    }[name]
    moved = {m.base for m in memory}
    writes = frozenset(moved | ({AX} if name == "lods" else set()) | ({CX} if repeated else set()))
    return Effect(memory, writes, () if repeated else tuple((r, r, unit, False) for r in sorted(moved)))


def _stack(name: str, operands: list[str], end: int) -> Effect:
    if name in ("push", "pushfq"):
        top = Memory(AccessKind.STORE, 8, SP, displacement=-8, implicit=True)
        extra = _memory(operands[0], end, AccessKind.LOAD, atomic=False) if operands and "[" in operands[0] else None
        return Effect((extra, top) if extra else (top,), frozenset({SP}), ((SP, SP, -8, False),))
    top = Memory(AccessKind.LOAD, 8, SP, implicit=True)
    extra = _memory(operands[0], end, AccessKind.STORE, atomic=False) if operands and "[" in operands[0] else None
    number = REGISTERS.get(operands[0], (NONE, 0))[0] if operands else NONE
    writes = frozenset({SP, number} - {NONE})
    # pop rsp loads it; everything else leaves it 8 higher.
    values = () if number == SP else ((SP, SP, 8, False),)
    return Effect((extra, top) if extra else (top,), writes, values)
