"""aarch64 instructions from capstone's text: memory operands, registers written, known new values.

Owns the forms of loads and stores, by mnemonic as in ``elfscan/native/access/MemoryForm.cpp``.  Written from the Arm
Architecture Reference Manual, chapter C6.
"""

from __future__ import annotations

import re

from elfscan.effects import NO_EFFECT, NONE, OTHER, Effect, Flow, Memory
from sharing.model import AccessKind

# arch/arm64/include/uapi/asm/perf_regs.h: x0 to x29, lr, sp, pc
LR, SP = 30, 31
CALLER_SAVED = frozenset({*range(19), LR})

_PLAIN = re.compile(r"(ld|st)(a?pu?r|l?u?r|np|p|tr|ra[ab]|lar|ar|llr|lr|r|ur)(s?)([bhw]?)$")
_PLAIN_ATOMIC = re.compile(r"ld(apu?r|lar|ar)|st(l?lr|lur)")
_RMW = re.compile(r"(?:(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)|swp|cas(p?))a?l?([bh]?)$")
_EXCLUSIVE = re.compile(r"(ld|st)[al]?x([rp])([bh]?)$")
_VECTOR = re.compile(r"(ld|st)([1-4])(r?)$")
_BASE = re.compile(r"\[(?P<sum>[^\]]*)\](?P<pre>!)?(?:, (?P<post>[^,]+))?$")
_LANES = {"b": 1, "h": 2, "s": 4, "d": 8}
_UNITS = {"b": 1, "h": 2, "w": 4}
_VECTOR_REGISTER = re.compile(r"v\d+\.(\d*)([bhsd])")
_NO_WRITE = re.compile(
    r"(f?cmpe?|cmn|tst|f?ccmpe?|ccmn|msr|dc|ic|tlbi|at|nop|hint|prfu?m|[di]sb|dmb|cb[nz]*|tb[nz]+|bti|pac\w+|st\w+|sys)$"
)


def register_of(name: str) -> tuple[int, int]:
    """(perf's number, bytes); (NONE, 0) of what is no general register, the zero register included."""
    if name in ("sp", "fp", "lr"):
        return {"sp": SP, "fp": 29, "lr": LR}[name], 8
    if name == "wsp":
        return SP, 4
    if name[:1] in "xw" and name[1:].isdigit() and int(name[1:]) <= 30:
        return int(name[1:]), 8 if name[0] == "x" else 4
    return NONE, 0


_VECTOR_BYTES = {"b": 1, "h": 2, "s": 4, "d": 8, "q": 16}


def _width(name: str) -> int:
    if name[:1] in _VECTOR_BYTES and name[1:].isdigit():
        return _VECTOR_BYTES[name[0]]
    return 4 if name[:1] == "w" else 8


def flow(mnemonic: str, operands: str) -> tuple[Flow, int | None]:
    """Where control goes, and to which address where the instruction says it."""
    if mnemonic == "b":
        return Flow.JUMP, int(operands[1:], 16)
    if mnemonic.startswith("b.") or mnemonic in ("cbz", "cbnz", "tbz", "tbnz"):
        return Flow.BRANCH, int(operands.rsplit("#", 1)[1], 16)
    if mnemonic in ("bl", "blr", "blraa", "blrab", "blraaz", "blrabz"):
        return Flow.CALL, None
    if mnemonic in ("br", "braa", "brab", "braaz", "brabz"):
        return Flow.JUMP, None
    if mnemonic in ("ret", "retaa", "retab", "eret"):
        return Flow.RETURN, None
    if mnemonic == "svc":
        return Flow.SYSCALL, None
    return (Flow.STOP if mnemonic in ("udf", "brk", "hlt") else Flow.NEXT), None


def _form(name: str, operands: list[str]) -> tuple[AccessKind, int, bool] | None:
    """(kind, bytes, atomic) of a load or store."""
    if match := _RMW.match(name):
        unit = _UNITS.get(match[2]) or _width(operands[0])
        return AccessKind.RMW, unit * (2 if match[1] else 1), True
    if match := _EXCLUSIVE.match(name):
        moved = operands[0] if match[1] == "ld" else operands[1]
        kind = AccessKind.LOAD if match[1] == "ld" else AccessKind.RMW
        return kind, (_UNITS.get(match[3]) or _width(moved)) * (2 if match[2] == "p" else 1), True
    if match := _VECTOR.match(name):
        registers = _VECTOR_REGISTER.findall(", ".join(operands))
        lane = "]" in ", ".join(operands).split("[")[1] and "}[" in ", ".join(operands)
        each = sum(_LANES[unit] * (1 if lane or match[3] else int(count or 1)) for count, unit in registers)
        return (AccessKind.LOAD if match[1] == "ld" else AccessKind.STORE), each, False
    if match := _PLAIN.match(name):
        pair = 2 if match[2] in ("p", "np") else 1
        unit = _UNITS.get(match[4]) or _width(operands[0])
        kind = AccessKind.LOAD if match[1] == "ld" else AccessKind.STORE
        return kind, unit * pair, _PLAIN_ATOMIC.match(name) is not None
    return None


def effect(mnemonic: str, text: str, address: int, length: int) -> Effect:
    """What the instruction does; not what a called function does."""
    operands = text.split(", ") if text else []
    if mnemonic in ("bl", "blr", "blraa", "blrab", "blraaz", "blrabz"):
        return Effect((), CALLER_SAVED)
    if mnemonic == "svc":
        return Effect((), frozenset({0}))
    form = _form(mnemonic, operands) if operands else None
    if form is not None:
        return _access(text, operands, *form, exclusive_store=mnemonic.startswith(("stx", "stlx")))
    if not operands or _NO_WRITE.match(mnemonic) or "[" in text:
        return NO_EFFECT
    number, width = register_of(operands[0])
    if number == NONE:
        return NO_EFFECT
    return Effect((), frozenset({number}), _values(mnemonic, number, width, operands))


def _values(mnemonic: str, number: int, width: int, operands: list[str]) -> tuple[tuple[int, int, int, bool], ...]:
    immediate = operands[-1].startswith("#")
    if mnemonic in ("adr", "adrp"):
        return ((number, NONE, int(operands[1][1:], 0), True),)
    if mnemonic == "mov" and len(operands) == 2:
        if immediate:
            value = int(operands[1][1:], 0)
            return ((number, NONE, value if width == 8 else value & 0xFFFF_FFFF, False),)
        source, wide = register_of(operands[1])
        return ((number, source, 0, False),) if wide == 8 and source != NONE else ()
    if mnemonic in ("add", "adds", "sub", "subs") and width == 8 and len(operands) >= 3 and operands[2][:1] == "#":
        source, _ = register_of(operands[1])
        amount = int(operands[2][1:], 0)
        if len(operands) > 3:
            if operands[3] != "lsl #12" and operands[3] != "lsl #0xc":
                return ()
            amount <<= 12
        return ((number, source, amount if mnemonic[0] == "a" else -amount, False),) if source != NONE else ()
    return ()


def _access(
    text: str, operands: list[str], kind: AccessKind, size: int, atomic: bool, *, exclusive_store: bool
) -> Effect:
    moved = [register_of(o)[0] for o in text.split("[")[0].split(", ") if o]
    if kind is AccessKind.LOAD or (kind is AccessKind.RMW and not exclusive_store):
        writes = {r for r in moved if r != NONE}
    else:
        writes = {moved[0]} - {NONE} if exclusive_store else set()
    match = _BASE.search(text)
    if match is None:
        if operands[-1].startswith("#"):  # a literal
            literal = Memory(kind, size, displacement=int(operands[-1][1:], 0), link=True)
            return Effect((literal,), frozenset(writes))
        return Effect((), frozenset(writes))
    terms = match["sum"].split(", ")
    base = register_of(terms[0])[0]
    base = OTHER if base == NONE else base
    index, scale, displacement = NONE, 1, 0
    for term in terms[1:]:
        if term.startswith("#"):
            displacement = int(term[1:], 0)
        elif term.startswith("lsl #"):
            scale = 1 << int(term[5:], 0)
        elif term.startswith(("sxt", "uxt")):
            index = OTHER
        else:
            number, wide = register_of(term)
            index = number if wide == 8 else OTHER
    values: tuple[tuple[int, int, int, bool], ...] = ()
    if base != OTHER and (match["pre"] or match["post"]):
        writes.add(base)
        step = match["post"] or ""
        if match["pre"] or step.startswith("#"):
            values = ((base, base, displacement if match["pre"] else int(step[1:], 0), False),)
    memory = Memory(kind, size, base, index, scale, displacement, atomic=atomic)
    return Effect((memory,), frozenset(writes), values)
