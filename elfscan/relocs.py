"""Dynamic relocations of linked files: what the loader will have written where when the program runs.

Owns the relocation tables (REL, RELA, RELR), addresses for imports, the content of GOT slots, copied
variables, and code addresses in data.  Relocatable files are ``relocatable``'s matter; PLT stubs ``plt``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan import constants as c
from elfscan.arrays import distinct, positions, words_at
from elfscan.elf import ElfFile
from elfscan.sections import Layout
from elfscan.symbols import UNDEFINED, Symbols

Array = npt.NDArray[Any]

MAX_RELOCATIONS = 50_000_000
PLACEHOLDER_BYTES = 16  # one placeholder per import: far enough apart that offsets do not mix them up
_RESERVE = 1 << 20

RELOC_DTYPE = np.dtype([("where", "<u8"), ("addend", "<i8"), ("symbol", "<u4"), ("type", "<u4"), ("explicit", "u1")])
SLOT_DTYPE = np.dtype([("slot", "<u8"), ("value", "<u8")])


@dataclass(frozen=True, slots=True)
class Linkage:
    """What the loader makes of an image.

    ``slots`` (SLOT_DTYPE, sorted): GOT slots and the address each will hold.  ``words`` (SLOT_DTYPE, sorted):
    every relocated data word with an address of this image.  ``copied``: symbol rows of copied variables.
    ``placeholders``: (address, symbol row) of each import.  ``unread``: how many relocations were left out, since their
    numbers are not known on this architecture.
    """

    slots: Array
    words: Array
    copied: Array
    placeholders: Array
    unread: int = 0

    def word(self, address: int) -> int | None:
        """The relocated content of one data word, None when no relocation writes it."""
        row = int(np.searchsorted(self.words["slot"], address))
        if row < len(self.words) and int(self.words["slot"][row]) == address:
            return int(self.words["value"][row])
        return None


def parse_relocations(elf: ElfFile, data: Array, *, rela: bool) -> Array:
    """REL or RELA records as RELOC_DTYPE (``explicit``: the addend is in the record)."""
    word = elf.header.bits // 8
    fields = [("where", f"{elf.order}u{word}"), ("info", f"{elf.order}u{word}")]
    dtype = np.dtype([*fields, ("addend", f"{elf.order}i{word}")] if rela else fields)
    raw = data[: data.size - data.size % dtype.itemsize].view(dtype)
    if len(raw) > MAX_RELOCATIONS:
        raise elf.malformed(None, f"{len(raw)} relocations in one table")
    table = np.zeros(len(raw), RELOC_DTYPE)
    table["where"] = raw["where"]
    info = raw["info"].astype("<u8")
    if elf.header.bits == 64:
        if elf.machine.packed_types and elf.header.byteorder == "little":
            # Symbol, then four single bytes, of which the last is the first type: the words come out swapped.
            table["symbol"] = info & np.uint64(0xFFFF_FFFF)
            table["type"] = info >> np.uint64(56)
        else:
            table["symbol"] = info >> np.uint64(32)
            table["type"] = info & np.uint64(0xFFFF_FFFF)
    else:
        table["symbol"] = info >> np.uint64(8)
        table["type"] = info & np.uint64(0xFF)
    if rela:
        table["addend"] = raw["addend"]
    table["explicit"] = rela
    return table


def dynamic_relocations(elf: ElfFile) -> Array:
    """All relocations that the loader applies, sorted by nothing in particular; RELR ones are left to ``relr``.

    A table that does not fit the file is left out and recorded in ``elf.losses``.
    """
    reads: list[tuple[Callable[[], Array], bool]] = []
    loaded = (elf.sections["flags"] & c.SHF_ALLOC != 0) & (elf.sections["size"] > 0)
    for kind in (c.SHT_RELA, c.SHT_REL):
        for row in np.flatnonzero(loaded & (elf.sections["type"] == kind)).tolist():
            reads.append((partial(elf.section_bytes, row), kind == c.SHT_RELA))
    if not len(elf.sections):
        tags = elf.dynamic
        plt_is_rela = tags.get(c.DT_PLTREL, [c.DT_RELA])[0] == c.DT_RELA
        for start, size, rela in (
            (c.DT_RELA, c.DT_RELASZ, True),
            (c.DT_REL, c.DT_RELSZ, False),
            (c.DT_JMPREL, c.DT_PLTRELSZ, plt_is_rela),
        ):
            if start in tags and tags.get(size, [0])[0]:
                at = partial(elf.bytes_at_address, tags[start][0], tags[size][0], "a dynamic relocation table")
                reads.append((at, rela))
    parts: list[Array] = [np.zeros(0, RELOC_DTYPE)]
    room = elf.size
    for read, rela in reads:
        data = elf.losses.attempt("dynamic relocations", read, elf.data[:0])
        room -= data.size
        if room < 0:  # thousands of headers may name the same bytes
            elf.losses.add("dynamic relocations", elf.malformed(None, "relocation tables overlap in the file"))
            break
        parse = partial(parse_relocations, elf, data, rela=rela)
        parts.append(elf.losses.attempt("dynamic relocations", parse, parts[0]))
    return np.concatenate(parts)


def relr_addresses(elf: ElfFile) -> Array:
    """Addresses of the words that the compact table (DT_RELR) relocates relatively; none where it is broken."""
    return elf.losses.attempt("compact relocations", lambda: _relr_addresses(elf), np.zeros(0, np.uint64))


def _relr_addresses(elf: ElfFile) -> Array:
    word = elf.header.bits // 8
    rows = np.flatnonzero(elf.sections["type"] == c.SHT_RELR).tolist()
    if rows:
        entries = elf.words(elf.section_bytes(rows[0]), word)
    elif not len(elf.sections) and c.DT_RELR in elf.dynamic:
        size = elf.dynamic.get(c.DT_RELRSZ, [0])[0]
        entries = elf.words(elf.bytes_at_address(elf.dynamic[c.DT_RELR][0], size, "the RELR table"), word)
    else:
        return np.zeros(0, np.uint64)
    # An even entry is an address; each odd one is a bitmap of the 63 (31) words that follow what came before.
    entries = entries.astype(np.uint64)
    bitmap = entries & np.uint64(1) == 1
    if len(bitmap) and bitmap[0]:
        raise elf.malformed(None, "the RELR table begins with a bitmap")
    group = np.maximum.accumulate(np.where(bitmap, 0, np.arange(len(entries))))
    order_in_group = np.arange(len(entries)) - group  # 0: the address itself
    span = np.uint64((elf.header.bits - 1) * word)
    base = entries[group] + np.uint64(word) + (order_in_group.astype(np.uint64) - np.uint64(1)) * span
    parts = [entries[~bitmap]]
    for bit in range(1, elf.header.bits):
        chosen = bitmap & (entries >> np.uint64(bit) & np.uint64(1) == 1)
        parts.append(base[chosen] + np.uint64((bit - 1) * word))
    return np.sort(np.concatenate(parts))


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
    if not relocs["explicit"].all():
        relocs["addend"] = np.where(relocs["explicit"], relocs["addend"], _contents(elf, layout, relocs["where"]))
    symbolic = np.isin(relocs["type"], [types.absolute, types.glob_dat, types.jump_slot]) & (relocs["symbol"] > 0)
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
    relative = np.isin(relocs["type"], [types.relative, types.irelative])
    known = symbolic | relative
    words = np.zeros(int(known.sum()), SLOT_DTYPE)
    words["slot"], words["value"] = relocs["where"][known], value[known]
    relr = relr_addresses(elf)
    if len(relr):
        extra = np.zeros(len(relr), SLOT_DTYPE)
        extra["slot"], extra["value"] = relr, _contents(elf, layout, relr)
        words = np.concatenate([words, extra])
    words = words[np.argsort(words["slot"], kind="stable")]
    in_got = _in_got(layout, words["slot"])
    in_got |= positions(np.sort(relocs["where"][symbolic & plain]), words["slot"]) >= 0
    copied = relocs["symbol"][(relocs["type"] == types.copy) & (relocs["symbol"] > 0)].astype(np.int64) + first
    slots = words[in_got]
    if elf.header.type == c.ET_EXEC:  # the linker filled the slots that need no loader
        filled = _static_slots(elf, layout)
        slots = np.concatenate([slots, filled[positions(slots["slot"], filled["slot"]) < 0]])
        slots = slots[np.argsort(slots["slot"], kind="stable")]
    return Linkage(slots, words, copied, placeholders)


def _in_got(layout: Layout, addresses: Array) -> Array:
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
            parts.append(part[layout.locate(part["value"]) >= 0])
    return np.concatenate(parts) if parts else np.zeros(0, SLOT_DTYPE)
