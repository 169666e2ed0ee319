"""Object files and kernel modules: a synthetic layout, and their relocations applied to a copy of their bytes.

Owns what a linker would do as far as the access scan needs it: places for COMMON symbols, addresses for
undefined symbols, GOT slots, and the operands of the code.  The instruction formats are ``relocops``'s.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.program import Program
from elfscan.fileformat.sections import Layout, relocatable_layout
from elfscan.fileformat.symbols import COMMON, UNDEFINED, Symbols, place
from elfscan.relocation.dynamic import PLACEHOLDER_BYTES, SLOT_DTYPE, Linkage, placeholder_base
from elfscan.relocation.operations import compute, extent, store
from elfscan.relocation.tables import RELOC_DTYPE, parse_relocations
from sharing.model import Section, SectionKind, plural
from sharing.model.arch.relocation import Formula
from sharing.model.arrays import distinct, picked, positions, words_at
from sharing.model.process import scratch

Array = npt.NDArray[Any]

MAX_COMMON_ALIGNMENT = 1 << 20
MAX_COMMON_BYTES = 1 << 40
NOWHERE = 1 << 62  # offset of a COMMON symbol that has no place: outside of the section


def link(elf: ElfFile, symbols: Symbols) -> Program:
    """Place a relocatable file and relocate it.  What no assembler writes is left out and recorded in its losses."""
    common, common_bytes, alignment = _place_common(elf, symbols)
    layout = relocatable_layout(elf, common_bytes, alignment)
    base = layout.sections[layout.common_row].address if common_bytes else 0
    address, section = place(symbols.table, layout, elf, common + np.uint64(base))
    table = symbols.table
    imports = np.flatnonzero((table["section"] == UNDEFINED) & ~symbols.names.is_empty(table["name"]))
    start = placeholder_base(layout, len(imports) + len(table))
    placeholders = np.zeros(len(imports), SLOT_DTYPE)
    steps = np.arange(len(imports), dtype=np.uint64) * np.uint64(PLACEHOLDER_BYTES)
    placeholders["slot"] = np.uint64(start) + steps
    placeholders["value"] = imports
    target = address.copy()
    target[imports] = placeholders["slot"]
    slot_base = start + len(imports) * PLACEHOLDER_BYTES

    buffer, offsets = _copy_sections(elf, layout)
    slots, words, absolute, unread = _relocate(elf, symbols, layout, target, slot_base, buffer, offsets)
    linkage = Linkage(slots, words, np.zeros(0, np.int64), placeholders, unread)
    program = Program(elf, layout, symbols, address, section, linkage, elf.path, tuple(offsets), absolute)
    if elf.arch.decodes:
        handle = tempfile.NamedTemporaryFile(dir=scratch.folder(), suffix=".bin", delete=False)  # noqa: SIM115
        program.code_path = handle.name
        program.cleanup = lambda: os.unlink(handle.name)
        with handle:
            handle.write(buffer.data)
    return program


def _place_common(elf: ElfFile, symbols: Symbols) -> tuple[Array, int, int]:
    """(offset of each COMMON symbol in its section, size of that section, its alignment); gABI: value = alignment."""
    rows = np.flatnonzero(symbols.table["section"] == COMMON)
    at, largest = 0, 1
    offsets = []
    common = symbols.table[rows]
    for alignment, size in zip(common["value"].tolist(), common["size"].tolist(), strict=True):
        alignment = max(1, alignment)
        start = -(-at // alignment) * alignment
        why = ""
        if alignment & (alignment - 1) or alignment > MAX_COMMON_ALIGNMENT:
            why = f"a COMMON symbol has alignment {alignment:#x}"
        elif start + size > MAX_COMMON_BYTES:
            why = "COMMON symbols exceed the address space"
        if why:
            elf.losses.add("a COMMON symbol", elf.malformed(None, why))
            offsets.append(NOWHERE)
            continue
        largest = max(largest, alignment)
        offsets.append(start)
        at = start + size
    return np.array(offsets, np.uint64), at, largest


def _copy_sections(elf: ElfFile, layout: Layout) -> tuple[Array, list[int]]:
    """(bytes of all placed sections, the offset there of each, -1 for sections without bytes)."""
    offsets: list[int] = []
    total = 0
    room = elf.size
    for section in layout.sections:
        if section.file_offset is None:
            offsets.append(-1)
        elif section.size > room:  # thousands of sections may name the same bytes
            error = elf.malformed(section.file_offset - elf.base, f"{section.name[:80]!r} overlaps others in the file")
            elf.losses.add("the bytes of a section", error)
            offsets.append(-1)
        else:
            offsets.append(total)
            room -= section.size
            total += -(-section.size // 16) * 16
    buffer = np.zeros(total, np.uint8)
    for section, offset in zip(layout.sections, offsets, strict=True):
        if section.file_offset is not None and offset >= 0:
            start = section.file_offset - elf.base
            buffer[offset : offset + section.size] = elf.data[start : start + section.size]
    return buffer, offsets


def _read_addends(elf: ElfFile, relocs: Array, body: Array, absolute: int) -> None:
    """Fill in the addends that REL tables leave in the patched words: of whole addresses, all that is needed."""
    word = elf.header.bits // 8
    rows = np.flatnonzero((relocs["type"] == absolute) & (relocs["where"] + np.uint64(word) <= np.uint64(body.size)))
    relocs["addend"][rows] = words_at(body, relocs["where"][rows], f"{elf.order}i{word}")


def _read_relocations(elf: ElfFile, index: int, section: Section, count: int, room: int) -> tuple[Array, int]:
    """(the usable records of relocation section ``index``, bytes read) for a section and ``count`` symbols.

    ``room``: how many bytes may still be read; more than the file has would be the same bytes again.
    """
    data = elf.section_bytes(index)
    at = int(elf.sections["offset"][index])
    if data.size > room:
        raise elf.malformed(at, f"relocation section {index} overlaps others in the file")
    relocs = parse_relocations(elf, data, rela=elf.sections["type"][index] == c.SHT_RELA)
    for bad, what in (
        (relocs["symbol"] >= count, f"with a symbol number of {count} or more"),
        (relocs["where"] >= section.size, f"outside of section {section.name[:80]!r}"),
    ):
        if bad.any():
            why = f"{plural.count(int(bad.sum()), 'relocation')} of section {index} {what}"
            elf.losses.add("relocations", elf.malformed(at, why))
    return picked(relocs, (relocs["symbol"] < count) & (relocs["where"] < section.size)), data.size


def _relocate(
    elf: ElfFile, symbols: Symbols, layout: Layout, target: Array, slot_base: int, buffer: Array, offsets: list[int]
) -> tuple[Array, Array, bool, int]:
    """Apply every relocation of the placed sections to ``buffer``.

    Returns (slots, data words, whether code holds whole addresses, relocations whose numbers are not known).
    """
    absolute, unread = False, 0
    operations, dynamic = elf.machine.objects or {}, elf.machine.dynamic
    slots = np.zeros(len(symbols.table), SLOT_DTYPE)  # one per symbol: most stay unused
    slots["slot"] = np.uint64(slot_base) + np.arange(len(slots), dtype=np.uint64) * np.uint64(8)
    slots["value"] = target
    used = np.zeros(len(slots), bool)
    words = [np.zeros(0, SLOT_DTYPE)]
    kinds = elf.sections["type"]
    room = elf.size
    for index in np.flatnonzero((kinds == c.SHT_RELA) | (kinds == c.SHT_REL)).tolist():
        patched = int(elf.sections["info"][index])
        row = int(layout.row_of[patched]) if patched < len(elf.sections) else -1
        if patched >= len(elf.sections):
            at = elf.section_header_at(index)
            why = f"relocation section {index} applies to section {patched}, which does not exist"
            elf.losses.add("relocations", elf.malformed(at, why))
        if row < 0 or offsets[row] < 0:
            continue
        section = layout.sections[row]
        first, count = symbols.rows_of(int(elf.sections["link"][index]))
        read = partial(_read_relocations, elf, index, section, count, room)
        relocs, size = elf.losses.attempt("relocations", read, (np.zeros(0, RELOC_DTYPE), 0))
        room -= size
        if not len(relocs):
            continue
        body = buffer[offsets[row] : offsets[row] + section.size]
        if not relocs["explicit"].all() and dynamic is not None:
            _read_addends(elf, relocs, body, dynamic.absolute)
        rows = first + relocs["symbol"].astype(np.int64)
        addend = relocs["addend"].astype(np.int64).view(np.uint64)
        if dynamic is not None:
            stored = relocs["type"] == dynamic.absolute
            part = np.zeros(int(stored.sum()), SLOT_DTYPE)
            part["slot"] = relocs["where"][stored] + np.uint64(section.address)
            part["value"] = (target[rows] + addend)[stored]
            words.append(part)
        else:
            unread += len(relocs)
        if not operations or not relocs["explicit"].all():
            continue
        absolute |= _patch(elf, _Relocations(relocs, rows, addend, section, index), body, target, slots, used)
    stored_words = np.concatenate(words)
    return slots[used], stored_words[np.argsort(stored_words["slot"], kind="stable")], absolute, unread


class _Relocations(msgspec.Struct, frozen=True):
    """The records of relocation section ``index`` for a placed section, with the symbol row and addend of each."""

    records: Array
    rows: Array
    addend: Array
    section: Section
    index: int


def _patch(elf: ElfFile, relocs: _Relocations, body: Array, target: Array, slots: Array, used: Array) -> bool:
    """Change the operands in ``body``; note which slots are ``used``.  Whether its code names whole addresses."""
    operations, section = elf.machine.objects or {}, relocs.section
    in_code, absolute = section.kind is SectionKind.CODE, False
    kinds = [kind for kind in distinct(relocs.records["type"]).tolist() if kind in operations]
    uppers = [np.zeros(0, SLOT_DTYPE)]  # the place and the value of each upper half
    # Paired ones last: they take what others computed.
    for kind in sorted(kinds, key=lambda kind: operations[kind].formula is Formula.PAIRED):
        operation = operations[kind]
        mine = relocs.records["type"] == kind
        fits = relocs.records["where"] + np.uint64(extent(operation)) <= np.uint64(section.size)
        if not fits[mine].all():
            why = f"{int((mine & ~fits).sum())} relocations reach outside of section {section.name[:80]!r}"
            elf.losses.add("relocations", elf.malformed(int(elf.sections["offset"][relocs.index]), why))
            mine &= fits
        where, symbol, addend = relocs.records["where"][mine], relocs.rows[mine], relocs.addend[mine]
        place = np.uint64(section.address) + where
        named = target[symbol]
        if operation.through_slot:
            used[symbol] = True
            named = slots["slot"][symbol]
        if operation.formula is Formula.PAIRED:
            pairs = np.concatenate(uppers)
            pairs = pairs[np.argsort(pairs["slot"], kind="stable")]
            at = positions(pairs["slot"], named)
            where, place, addend = where[at >= 0], place[at >= 0], np.zeros(int((at >= 0).sum()), np.uint64)
            named = pairs["value"][at[at >= 0]]
        value = compute(operation, place, named, addend)
        if operation.field.rounds and operation.formula is Formula.RELATIVE:
            part = np.zeros(len(place), SLOT_DTYPE)
            part["slot"], part["value"] = place, value
            uppers.append(part)
        absolute |= in_code and operation.whole and bool(len(where))
        store(operation, body, where, value)
    return absolute
