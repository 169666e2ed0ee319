"""PLT stubs: which import each stub jumps to, read from the slot that its instructions load; and calls of stubs.

Owns how the instructions of a stub name the slot; their shape stands in the row of the architecture, and covers what
GNU ld, lld and mold write (lazy, BIND_NOW, with landing pads).  Knows no symbol names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.elf import ElfFile
from sharing.model import Section
from sharing.model.arch.plt import PltStub, SlotOperand
from sharing.model.arrays import copied, leading, words_at

Array = npt.NDArray[Any]

PLT_SECTIONS = (".plt", ".plt.sec", ".plt.got", ".plt.bnd", ".iplt")
STUB_DTYPE = np.dtype([("address", "<u8"), ("slot", "<u8"), ("size", "<u4")])


def read_stubs(elf: ElfFile, sections: tuple[Section, ...], elf_index: tuple[int, ...]) -> Array:
    """All stubs of the PLT sections, sorted by address.  Empty on architectures whose stubs are not known."""
    parts = [np.zeros(0, STUB_DTYPE)]
    shape = elf.machine.plt
    if shape is None:
        return parts[0]
    for section, index in zip(sections, elf_index, strict=True):
        if section.name not in PLT_SECTIONS or section.file_offset is None:
            continue
        data = elf.data[section.file_offset - elf.base :][: section.size]
        if shape.code:
            entry = int(elf.sections["entry_size"][index]) if index >= 0 else 0
            size = entry if entry in shape.entry_sizes else shape.size
            parts.append(_of_bytes(shape, data, section.address, size))
        else:
            parts.append(_of_words(shape, data, section.address))
    stubs = np.concatenate(parts)
    stubs = stubs[np.argsort(stubs["address"], kind="stable")]
    return stubs[leading(stubs["address"])]


def through_own_stubs(table: Array, own_stubs: Array) -> Array:
    """Make calls of a stub that leads to this image's own function calls of that function."""
    if not len(own_stubs) or not len(table):
        return table
    stub, callee = own_stubs["address"], table["callee"]
    at = np.minimum(np.searchsorted(stub, callee), len(own_stubs) - 1)
    hit = stub[at] == callee
    if not hit.any():
        return table
    table = copied(table)
    table["callee"][hit] = own_stubs["slot"][at[hit]]
    return table


def _of_bytes(shape: PltStub, data: Array, address: int, entry_size: int) -> Array:
    """Stubs with an instruction that is ``shape.code`` and a distance of 4 bytes from its end."""
    length = len(shape.code) + 4
    if data.size < length:
        return np.zeros(0, STUB_DTYPE)
    fits = np.ones(data.size - length + 1, bool)
    for number, byte in enumerate(shape.code):
        fits &= data[number : number + len(fits)] == byte
    at = np.flatnonzero(fits)
    relative = words_at(data, at + len(shape.code), "<i4").astype(np.int64)
    stubs = np.zeros(len(at), STUB_DTYPE)
    stubs["slot"] = (at + length + relative).view(np.uint64) + np.uint64(address)
    stubs["address"] = np.uint64(address) + (at // entry_size * entry_size).astype(np.uint64)
    stubs["size"] = entry_size
    return stubs


def _of_words(shape: PltStub, data: Array, address: int) -> Array:
    """Stubs whose first two instructions are the shape's words, after its landing pad where they have one."""
    code = data[: data.size // 4 * 4].view("<u4")
    if len(code) < 2:
        return np.zeros(0, STUB_DTYPE)
    (first_mask, first), (second_mask, second) = shape.words
    at = np.flatnonzero((code[:-1] & first_mask == first) & (code[1:] & second_mask == second))
    here = np.uint64(address) + (at * 4).astype(np.uint64)
    landing = np.zeros(len(at), bool)
    if shape.landing is not None:
        landing = (at > 0) & (code[np.maximum(at - 1, 0)] == shape.landing)
    stubs = np.zeros(len(at), STUB_DTYPE)
    stubs["slot"] = _SLOTS[shape.operand](here, code[at].astype(np.int64), code[at + 1].astype(np.int64))
    stubs["address"] = here - np.where(landing, 4, 0).astype(np.uint64)
    stubs["size"] = np.where(landing, shape.landing_size, shape.size)
    return stubs


def _page_plus_offset(here: Array, first: Array, second: Array) -> Array:
    pages = (first >> 5 & 0x7FFFF) << 2 | first >> 29 & 3
    pages = np.where(pages >= 1 << 20, pages - (1 << 21), pages)
    offset = (second >> 10 & 0xFFF) * 8
    return np.asarray((here & ~np.uint64(0xFFF)) + (pages << 12).view(np.uint64) + offset.view(np.uint64))


def _pc_plus_parts(here: Array, first: Array, second: Array) -> Array:
    upper = (first >> 12 << 12) - ((first >> 31) << 32)
    lower = (second >> 20) - ((second >> 31) << 12)
    return np.asarray(here + (upper + lower).view(np.uint64))


_SLOTS = {SlotOperand.PAGE_PLUS_OFFSET: _page_plus_offset, SlotOperand.PC_PLUS_PARTS: _pc_plus_parts}
