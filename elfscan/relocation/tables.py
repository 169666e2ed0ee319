"""Relocation tables as a file holds them: REL, RELA and RELR records.

Owns their formats.  What the loader makes of them is ``dynamic``'s matter, what a linker would ``relocatable``'s.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile

Array = npt.NDArray[Any]

MAX_RELOCATIONS = 50_000_000

RELOC_DTYPE = np.dtype([("where", "<u8"), ("addend", "<i8"), ("symbol", "<u4"), ("type", "<u4"), ("explicit", "u1")])


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
