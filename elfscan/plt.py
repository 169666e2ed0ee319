"""PLT stubs: which import each stub jumps to, read from the slot that its instructions load.

Owns the byte patterns of the stubs of x86-64 and aarch64, which both GNU ld, lld and mold write in several
shapes (lazy, BIND_NOW, with IBT or BTI landing pads).  Knows no symbol names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.arrays import leading, words_at
from elfscan.elf import ElfFile
from sharing.model import Section

Array = npt.NDArray[Any]

PLT_SECTIONS = (".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt")
STUB_DTYPE = np.dtype([("address", "<u8"), ("slot", "<u8"), ("size", "<u4")])


def read_stubs(elf: ElfFile, sections: tuple[Section, ...], elf_index: tuple[int, ...]) -> Array:
    """All stubs of the PLT sections, sorted by address.  Empty on architectures whose stubs are not known."""
    parts = [np.zeros(0, STUB_DTYPE)]
    for section, index in zip(sections, elf_index, strict=True):
        if section.name not in PLT_SECTIONS or section.file_offset is None:
            continue
        data = elf.data[section.file_offset - elf.base :][: section.size]
        if elf.arch.name == "x86-64":
            entry = int(elf.sections["entry_size"][index]) if index >= 0 else 0
            parts.append(_x86_64(data, section.address, entry if entry in (8, 16) else 16))
        elif elf.arch.name == "aarch64" and elf.header.byteorder == "little":
            parts.append(_aarch64(data, section.address))
    stubs = np.concatenate(parts)
    stubs = stubs[np.argsort(stubs["address"], kind="stable")]
    return stubs[leading(stubs["address"])]


def _x86_64(data: Array, address: int, entry_size: int) -> Array:
    """``jmp *slot(%rip)`` is ff 25 rel32; endbr64 or a bnd prefix may stand before it in the entry."""
    if data.size < 6:
        return np.zeros(0, STUB_DTYPE)
    at = np.flatnonzero((data[:-5] == 0xFF) & (data[1:-4] == 0x25))
    relative = words_at(data, at + 2, "<i4").astype(np.int64)
    stubs = np.zeros(len(at), STUB_DTYPE)
    stubs["slot"] = (at + 6 + relative).view(np.uint64) + np.uint64(address)
    stubs["address"] = np.uint64(address) + (at // entry_size * entry_size).astype(np.uint64)
    stubs["size"] = entry_size
    return stubs


def _aarch64(data: Array, address: int) -> Array:
    """``adrp x16, page; ldr x17, [x16, #offset]``, after ``bti c`` where branch targets are protected."""
    code = data[: data.size // 4 * 4].view("<u4")
    if len(code) < 2:
        return np.zeros(0, STUB_DTYPE)
    adrp = code[:-1] & 0x9F00001F == 0x90000010
    load = code[1:] & 0xFFC003FF == 0xF9400211
    at = np.flatnonzero(adrp & load)
    word = code[at].astype(np.int64)
    pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
    pages = np.where(pages >= 1 << 20, pages - (1 << 21), pages)
    here = np.uint64(address) + (at * 4).astype(np.uint64)
    offset = (code[at + 1].astype(np.uint64) >> np.uint64(10) & np.uint64(0xFFF)) * np.uint64(8)
    landing = (at > 0) & (code[np.maximum(at - 1, 0)] == 0xD503245F)
    stubs = np.zeros(len(at), STUB_DTYPE)
    stubs["slot"] = (here & ~np.uint64(0xFFF)) + (pages << 12).view(np.uint64) + offset
    stubs["address"] = here - np.where(landing, 4, 0).astype(np.uint64)
    stubs["size"] = np.where(landing, 24, 16)
    return stubs
