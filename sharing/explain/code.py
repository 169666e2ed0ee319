"""Whether a function's code is the same but for where things are.

Owns the comparison of instructions after masking operands that a linker sets: targets of calls and jumps out of the
function, addresses relative to the instruction pointer, absolute addresses of the image.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sharing.model.image import Image

MAX_BYTES = 1 << 16  # of one function; longer ones are compared by size alone
_NUMBER = re.compile(r"(?<![\w])-?(0x[0-9a-f]+|\d+)")
_RELATIVE = re.compile(r"\[rip [+-] 0x[0-9a-f]+\]|\[rip\]")
_DIRECT = re.compile(r"(?:^|[ #])(0x[0-9a-f]+)$")
_MASKED_ON_AARCH64 = (
    "adrp",
    "adr",
    "add",
    "ldr",
    "str",
    "ldp",
    "stp",
    "ldrb",
    "strb",
    "ldrh",
    "strh",
    "ldrsw",
    "ldxr",
    "stxr",
)


class CodeChange(StrEnum):
    SAME = "same bytes"
    RELOCATED = "same but for addresses"
    CHANGED = "changed"
    UNKNOWN = "not compared"


@dataclass(frozen=True, slots=True)
class Code:
    """The bytes of one function and where they are."""

    data: bytes
    address: int


def code_of(image: Image, file: memoryview, row: int) -> Code | None:
    """A function's bytes in its file, None where they are not there (.bss, cut files, very long functions)."""
    function = image.functions[row]
    address, size = int(function["address"]), int(function["size"])
    section = next((s for s in image.sections if s.index == int(function["section"])), None)
    if section is None or section.file_offset is None or not 0 < size <= MAX_BYTES:
        return None
    offset = section.file_offset + address - section.address
    if offset < 0 or offset + size > len(file) or address + size > section.end:
        return None
    return Code(bytes(file[offset : offset + size]), address)


def compare_code(old_image: Image, old: Code | None, new_image: Image, new: Code | None) -> CodeChange:
    """How two functions differ.  Masking needs a decoder: without one for the architecture, UNKNOWN."""
    if old is None or new is None or old_image.arch.name != new_image.arch.name:
        return CodeChange.UNKNOWN
    if old.data == new.data:
        return CodeChange.SAME
    if len(old.data) != len(new.data):
        return CodeChange.CHANGED
    one, other = _masked(old_image, old), _masked(new_image, new)
    if one is None or other is None:
        return CodeChange.UNKNOWN
    return CodeChange.RELOCATED if one == other else CodeChange.CHANGED


def loop_heads(image: Image, code: Code) -> list[int] | None:
    """Offsets in the function that a jump behind them leads back to; None without a decoder."""
    decoder = _decoder(image)
    if decoder is None:
        return None
    heads = set()
    for address, _, mnemonic, operands in decoder.disasm_lite(code.data, code.address):
        target = _branch_target(mnemonic, operands)
        if target is not None and code.address <= target <= address:
            heads.add(target - code.address)
    return sorted(heads)


def _decoder(image: Image) -> Any:
    import capstone

    modes = {
        "x86-64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    }
    mode = modes.get(image.arch.name)
    if mode is None or image.arch.byteorder != "little":
        return None
    decoder = capstone.Cs(*mode)
    decoder.skipdata = True
    return decoder


def _branch_target(mnemonic: str, operands: str) -> int | None:
    if not mnemonic.startswith(("j", "b", "cb", "tb", "loop")) or mnemonic in (
        "bt",
        "bts",
        "btr",
        "bsf",
        "bsr",
        "bswap",
    ):
        return None
    # A jump through memory ends in a displacement and a bracket: where it leads is not in the instruction.
    found = _DIRECT.search(operands)
    return int(found[1], 16) if found else None


def _masked(image: Image, code: Code) -> list[tuple[str, str]] | None:
    decoder = _decoder(image)
    if decoder is None:
        return None
    low = min((s.address for s in image.sections if s.size), default=0)
    high = max((s.end for s in image.sections), default=0)
    low = max(low, 0x1000)  # small numbers are numbers, wherever the image starts
    end = code.address + len(code.data)
    paged = image.arch.name == "aarch64"

    def number(found: re.Match[str]) -> str:
        value = int(found.group(1), 0)
        if code.address <= value < end:
            return f"+{value - code.address:#x}"
        return "@" if low <= value < high else found.group()

    out = []
    for _, _, mnemonic, operands in decoder.disasm_lite(code.data, code.address):
        text = _RELATIVE.sub("[rip @]", operands)
        if paged and mnemonic in _MASKED_ON_AARCH64:
            text = re.sub(r"#(0x[0-9a-f]+|\d+)", "#@", text)
        out.append((mnemonic, _NUMBER.sub(number, text)))
    return out
