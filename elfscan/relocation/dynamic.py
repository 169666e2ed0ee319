"""Dynamic relocations of linked files: what the loader will have written where when the program runs.

Owns addresses for imports, the content of GOT slots, copied variables, and code addresses in data.  The tables are
``reloctables``' matter, relocatable files ``relocatable``'s, PLT stubs ``plt``'s.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.sections import Layout
from elfscan.fileformat.symbols import UNDEFINED, Symbols
from elfscan.relocation.tables import dynamic_relocations, relr_addresses
from sharing.model.arrays import among, distinct, picked, positions, words_at

Array = npt.NDArray[Any]

PLACEHOLDER_BYTES = 16  # one placeholder per import: far enough apart that offsets do not mix them up
_RESERVE = 1 << 20

SLOT_DTYPE = np.dtype([("slot", "<u8"), ("value", "<u8")])


class Linkage(msgspec.Struct, frozen=True):
    """What the loader makes of an image.

    ``slots`` (SLOT_DTYPE, sorted): GOT slots and the address each will hold.  ``words`` (SLOT_DTYPE, sorted):
    every relocated data word with an address of this image.  ``copied``: symbol rows of copied variables.
    ``placeholders``: (address, symbol row) of each import.  ``descriptors``: addresses of pairs of words by which code
    finds a thread-local variable.  ``unread``: how many relocations were left out, since their numbers are not known on
    this architecture.
    """

    slots: Array
    words: Array
    copied: Array
    placeholders: Array
    unread: int = 0
    descriptors: Array = msgspec.field(default_factory=lambda: np.zeros(0, np.uint64))

    def word(self, address: int) -> int | None:
        """The relocated content of one data word, None when no relocation writes it."""
        row = int(np.searchsorted(self.words["slot"], address))
        if row < len(self.words) and int(self.words["slot"][row]) == address:
            return int(self.words["value"][row])
        return None


def placeholder_base(layout: Layout, count: int) -> int:
    """An unused address range for ``count`` imports: above all sections, or below where there is no room."""
    need = count * PLACEHOLDER_BYTES + _RESERVE
    top = max((s.end for s in layout.sections), default=0)
    base = -(-top // _RESERVE) * _RESERVE + _RESERVE
    if base + need < 1 << 64:
        return base
    # Kernel space reaches to the top: the largest gap between sections has room.
    spans = sorted((s.address, s.end) for s in layout.sections)
    gaps = [(b - a, a) for (_, a), (b, _) in zip([(0, 0), *spans], spans, strict=False) if b > a]
    return max(gaps)[1] + _RESERVE if gaps and max(gaps)[0] > need + _RESERVE else 0


def read_linkage(elf: ElfFile, symbols: Symbols, addresses: Array, layout: Layout) -> Linkage:
    """Slots, relocated words and copies of a linked file.  ``addresses``: of each symbol row, placed."""
    first, count = symbols.dynamic_rows()
    section = symbols.table["section"]
    imports = first + np.flatnonzero(section[first : first + count] == UNDEFINED)
    imports = imports[~symbols.names.is_empty(symbols.table["name"][imports])]
    placeholders = np.zeros(len(imports), SLOT_DTYPE)
    steps = np.arange(len(imports), dtype=np.uint64) * np.uint64(PLACEHOLDER_BYTES)
    placeholders["slot"] = np.uint64(placeholder_base(layout, len(imports))) + steps
    placeholders["value"] = imports
    target = addresses.copy()
    target[imports] = placeholders["slot"]
    types = elf.machine.dynamic
    relocs = dynamic_relocations(elf)
    empty = np.zeros(0, SLOT_DTYPE)
    if types is None or not (len(relocs) or c.DT_RELR in elf.dynamic):
        unread = len(relocs) if types is None else 0
        return Linkage(_static_slots(elf, layout), empty, np.zeros(0, np.int64), placeholders, unread)
    explicit, given = relocs["explicit"], relocs["addend"]
    if not explicit.all():
        relocs["addend"] = np.where(explicit, given, _contents(elf, layout, relocs["where"]))
    symbolic = among(relocs["type"], [types.absolute, types.glob_dat, types.jump_slot]) & (relocs["symbol"] > 0)
    beyond = (symbolic | (relocs["type"] == types.copy)) & (relocs["symbol"] >= max(count, 1))
    if beyond.any():
        why = f"{int(beyond.sum())} relocations name a symbol beyond the {count} dynamic ones"
        elf.losses.add("dynamic relocations", elf.malformed(None, why))
        relocs, symbolic = relocs[~beyond], symbolic[~beyond]
    rows = np.where(symbolic, relocs["symbol"].astype(np.int64) + first, 0)
    addend = relocs["addend"].astype(np.int64).view(np.uint64)
    plain = relocs["type"] != types.absolute
    value = np.where(symbolic, target[rows] if len(target) else 0, np.uint64(0)) + np.where(
        symbolic & plain, np.uint64(0), addend
    )
    relative = among(relocs["type"], [types.relative, types.irelative])
    known = symbolic | relative
    words = np.zeros(int(known.sum()), SLOT_DTYPE)
    where = relocs["where"]
    words["slot"], words["value"] = where[known], value[known]
    relr = relr_addresses(elf)
    if len(relr):
        extra = np.zeros(len(relr), SLOT_DTYPE)
        extra["slot"], extra["value"] = relr, _contents(elf, layout, relr)
        words = np.concatenate([words, extra])
    words = picked(words, np.argsort(words["slot"], kind="stable"))
    known_slots = in_got(layout, words["slot"])
    known_slots |= positions(np.sort(where[symbolic & plain]), words["slot"]) >= 0
    kind, symbol = relocs["type"], relocs["symbol"]
    copied = symbol[(kind == types.copy) & (symbol > 0)].astype(np.int64) + first
    slots = words[known_slots]
    if elf.header.type == c.ET_EXEC:  # the linker filled the slots that need no loader
        filled = _static_slots(elf, layout)
        slots = np.concatenate([slots, picked(filled, positions(slots["slot"], filled["slot"]) < 0)])
        slots = slots[np.argsort(slots["slot"], kind="stable")]
    descriptors = where[kind == types.tls_descriptor] if types.tls_descriptor else empty["slot"]
    return Linkage(slots, words, copied, placeholders, descriptors=descriptors)


def in_got(layout: Layout, addresses: Array) -> Array:
    """Which addresses are in a global offset table, whose slots code calls through and loads from by name."""
    result = np.zeros(len(addresses), bool)
    for section in layout.sections:
        if section.name in (".got", ".got.plt"):
            result |= (addresses >= section.address) & (addresses < section.end)
    return result


def _contents(elf: ElfFile, layout: Layout, addresses: Array) -> Array:
    """The words that the file holds at addresses (implicit addends), 0 where it holds none; as int64."""
    word = elf.header.bits // 8
    result = np.zeros(len(addresses), np.int64)
    rows = layout.locate(addresses)
    for row in distinct(rows[rows >= 0]).tolist():
        section = layout.sections[row]
        if section.file_offset is None or section.size < word:
            continue
        here = np.flatnonzero((rows == row) & (addresses <= np.uint64(section.end - word)))
        offsets = (addresses[here] - np.uint64(section.address)).astype(np.int64) + section.file_offset - elf.base
        result[here] = words_at(elf.data, offsets, f"{elf.order}i{word}")
    return result


def _static_slots(elf: ElfFile, layout: Layout) -> Array:
    """The GOT of a file that needs no relocation: its content is in the file."""
    parts = []
    for section in layout.sections:
        if section.name in (".got", ".got.plt") and section.file_offset is not None:
            start = section.file_offset - elf.base
            values = elf.words(elf.data[start : start + section.size], elf.header.bits // 8)
            part = np.zeros(len(values), SLOT_DTYPE)
            steps = np.arange(len(values), dtype=np.uint64) * np.uint64(elf.header.bits // 8)
            part["slot"] = np.uint64(section.address) + steps
            part["value"] = values
            parts.append(picked(part, layout.locate(part["value"]) >= 0))
    return np.concatenate(parts) if parts else np.zeros(0, SLOT_DTYPE)
