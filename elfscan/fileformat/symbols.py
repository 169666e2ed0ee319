"""Symbol tables as numpy tables: .symtab and .dynsym (or the dynamic segment's table) together.

Owns reading, names on demand, and placing a symbol in the layout.  Which symbols are variables and which
are functions is decided in ``variables`` and ``functions``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from elfscan.fileformat.gofunctions import GoFunctions, read_go_functions
from elfscan.fileformat.sections import Layout
from elfscan.relocation.tables import dynamic_relocations
from sharing.model import Section, plural
from sharing.model.arrays import picked, positions, stacked

Array = npt.NDArray[Any]

NO_SECTION, UNDEFINED, ABSOLUTE, COMMON = -1, -2, -3, -4  # ``section`` of a symbol that is in none

SYMBOL_DTYPE = np.dtype(
    [
        ("name", "<u8"),  # offset in the pool
        ("value", "<u8"),
        ("size", "<u8"),
        ("section", "<i4"),  # ELF section index, or one of the constants above
        ("type", "u1"),
        ("bind", "u1"),
        ("dynamic", "u1"),
        ("reserved", "u1"),
    ]
)

FEW_NAMES = 256  # up to here one by one is faster than by columns, which matters for thousands of small files
MAX_TABLES = 8  # of one kind; the gABI knows one, and each costs memory
_MOST_TIMES, _MOST_IN_ANY_CASE = 16, 32 << 20  # bytes of names, of those of their pool and besides
_PAD = 64  # zero bytes behind the pool, so that prefix tests need no bounds


class Names:
    """A pool of NUL-terminated names; offsets become strings only when asked for."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._bytes = np.frombuffer(raw + bytes(_PAD), np.uint8)
        self._ends: Array | None = None
        self._text = raw.decode("ascii") if raw.isascii() else None
        self._versions = b"@" in raw

    def ends(self, offsets: Array) -> Array:
        """Offset of the NUL behind each name."""
        if self._ends is None:
            self._ends = np.append(np.flatnonzero(self._bytes[: len(self._raw)] == 0), len(self._raw))
        return self._ends[np.searchsorted(self._ends, offsets)]

    def decode(self, offsets: Array, *, strip_version: bool = True) -> list[str]:
        """Names at the offsets; a symbol version (``@GLIBC_2.2.5``) is cut unless kept on purpose.

        Linkers let a name be the end of another.  Where that makes names of many times the pool, they are cut.
        """
        behind = self.ends(offsets)
        most = _MOST_TIMES * len(self._raw) + _MOST_IN_ANY_CASE
        if len(offsets) and int((behind - offsets.astype(np.int64)).sum()) > most:
            behind = np.minimum(behind, offsets.astype(np.int64) + most // len(offsets))
        starts, ends = offsets.tolist(), behind.tolist()
        if self._text is not None:
            text = self._text
            names = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        else:
            raw = self._raw
            names = [raw[a:b].decode("utf-8", "backslashreplace") for a, b in zip(starts, ends, strict=True)]
        if self._versions and strip_version:
            names = [n.partition("@")[0] or n if "@" in n else n for n in names]
        return names

    def ends_with(self, offsets: Array, suffix: re.Pattern[bytes]) -> Array:
        """Which names end with ``suffix``, a pattern whose last byte is the NUL behind the name."""
        spans = np.array([m.span() for m in suffix.finditer(self._raw)], np.int64).reshape(-1, 2)
        at = positions(spans[:, 1] - 1, self.ends(offsets))
        return (at >= 0) & (spans[at, 0] >= offsets.astype(np.int64)) if len(spans) else np.zeros(len(offsets), bool)

    def starts_with(self, offsets: Array, prefix: bytes) -> Array:
        """Which names begin with ``prefix`` (at most 64 bytes)."""
        if len(offsets) <= FEW_NAMES:
            return np.fromiter((self._raw.startswith(prefix, at) for at in offsets.tolist()), bool, len(offsets))
        result: Array = np.asarray(self._bytes[offsets] == prefix[0])
        rows = np.flatnonzero(result)
        for position in range(1, len(prefix)):
            rows = rows[self._bytes[offsets[rows] + np.uint64(position)] == prefix[position]]
        result[:] = False
        result[rows] = True
        return result

    def starts_with_any(self, offsets: Array, prefixes: Sequence[bytes]) -> Array:
        """Which names begin with one of ``prefixes``."""
        if len(offsets) <= FEW_NAMES:
            wanted = tuple(prefixes)
            return np.fromiter((self._raw.startswith(wanted, at) for at in offsets.tolist()), bool, len(offsets))
        result = np.zeros(len(offsets), bool)
        for prefix in prefixes:
            result |= self.starts_with(offsets, prefix)
        return result

    def is_empty(self, offsets: Array) -> Array:
        """Which names are empty."""
        return np.asarray(self._bytes[offsets] == 0)

    def mention(self, pattern: re.Pattern[bytes]) -> bool:
        """Does ``pattern`` occur anywhere in the table, perhaps in a name that no symbol has?"""
        return pattern.search(self._raw) is not None

    def find(self, name: str) -> int:
        """Offset of a whole name that begins after a NUL, -1 when the pool has none."""
        at = self._raw.find(b"\0" + name.encode() + b"\0")
        return at + 1 if at >= 0 else -1


class Symbols(msgspec.Struct, frozen=True):
    """All symbols of an image.  ``tables`` are (ELF section index or -1, first row, count).

    ``go``: addresses of the functions that Go's compiler made, sorted.  Without .symtab they are symbols as well.
    """

    table: Array
    names: Names
    tables: tuple[tuple[int, int, int], ...]
    go: Array = msgspec.field(default_factory=lambda: np.zeros(0, np.uint64))

    def rows_of(self, section: int) -> tuple[int, int]:
        """(first row, count) of the symbol table in an ELF section; (0, 0) when it was not read."""
        for index, first, count in self.tables:
            if index == section:
                return first, count
        return 0, 0

    def dynamic_rows(self) -> tuple[int, int]:
        """(first row, count) of the dynamic symbol table."""
        for _, first, count in self.tables:
            if count and self.table["dynamic"][first]:
                return first, count
        return 0, 0

    def lookup(self, name: str) -> int | None:
        """Value of the first defined symbol of this name."""
        offset = self.names.find(name)
        if offset < 0:
            return None
        rows = np.flatnonzero((self.table["name"] == offset) & (self.table["section"] != UNDEFINED))
        return int(self.table["value"][rows[0]]) if len(rows) else None


def has_symbol_table(elf: ElfFile) -> bool:
    """Whether the file has all its symbols (.symtab), as one that was stripped has not."""
    return bool((elf.sections["type"] == c.SHT_SYMTAB).any())


def read_symbols(elf: ElfFile, beside: ElfFile | None = None) -> Symbols:
    """.symtab, then .dynsym.  A table that does not fit the file is left out and recorded in ``elf.losses``.

    ``beside`` is the debug file of a linked file: it has the .symtab that the file itself may lack.  Of a program of Go
    without .symtab its run-time's functions are symbols.
    """
    parts: list[Array] = []
    tables: list[tuple[int, int, int]] = []
    pool: list[bytes] = []
    pool_size = rows = 0
    dynamic_lost = not len(elf.sections)
    for kind in (c.SHT_SYMTAB, c.SHT_DYNSYM):
        for index in np.flatnonzero(elf.sections["type"] == kind)[:MAX_TABLES].tolist():
            read = partial(_from_section, elf, index, pool_size)
            found = elf.losses.attempt(f"symbol table {index} ({elf.section_names[index][:80]!r})", read, None)
            if found is None:
                dynamic_lost |= kind == c.SHT_DYNSYM
                continue
            part, strings = found
            part["dynamic"] = kind == c.SHT_DYNSYM
            parts.append(part)
            tables.append((index, rows, len(part)))
            rows += len(part)
            pool.append(strings)
            pool_size += len(strings)
    if dynamic_lost:
        dynamic = elf.losses.attempt("the dynamic symbols", lambda: _from_segments(elf, pool_size), None)
        if dynamic is not None:
            parts, pool = [*parts, dynamic[0]], [*pool, dynamic[1]]
            pool_size += len(dynamic[1])
            tables.append((-1, rows, len(dynamic[0])))
    if beside is not None and not has_symbol_table(elf):
        part, strings = _of_debug_file(elf, beside, pool_size)
        parts.append(part)  # in no table of this file: its relocations do not name them
        pool.append(strings)
        pool_size += len(strings)
    go = read_go_functions(elf)
    if go is not None and all(part["dynamic"].all() for part in parts):
        parts.append(_of_go(elf, go, pool_size))
        pool.append(go.names)
    table = stacked(parts) if parts else np.zeros(0, SYMBOL_DTYPE)
    names = Names(b"".join(pool) or b"\0")
    return Symbols(table, names, tuple(tables)) if go is None else Symbols(table, names, tuple(tables), go.start)


def _of_debug_file(elf: ElfFile, beside: ElfFile, pool_at: int) -> tuple[Array, bytes]:
    """The .symtab of a debug file, with the sections of ``elf`` that have the same name and address."""
    index = int(np.flatnonzero(beside.sections["type"] == c.SHT_SYMTAB)[0])
    read = partial(_from_section, beside, index, pool_at)
    nothing = np.zeros(0, SYMBOL_DTYPE), b""
    table, strings = elf.losses.attempt(f"symbols of the debug file {beside.path}", read, nothing)
    own = {key: row for row, key in enumerate(_named_sections(elf))}
    row_of = np.array([own.get(key, NO_SECTION) for key in _named_sections(beside)] or [NO_SECTION], np.int32)
    section = table["section"]
    inside = section >= 0
    section[inside] = row_of[section[inside]]
    return table, strings


def _named_sections(elf: ElfFile) -> list[tuple[str, int]]:
    return list(zip(elf.section_names, elf.sections["address"].tolist(), strict=True))


def _of_go(elf: ElfFile, go: GoFunctions, pool_at: int) -> Array:
    """The functions of Go's run-time as local symbols."""
    table = np.zeros(len(go.start), SYMBOL_DTYPE)
    table["name"] = go.name + np.uint64(pool_at)
    table["value"], table["size"] = go.start, go.end - go.start
    table["type"], table["bind"] = c.STT_FUNC, c.STB_LOCAL
    code = elf.find_section(".text")
    table["section"] = NO_SECTION if code is None else code
    return table


def _from_section(elf: ElfFile, index: int, pool_at: int) -> tuple[Array, bytes]:
    """(symbols, their names) of a symbol table; raises Malformed where it or its string table is broken."""
    kinds = elf.sections["type"]
    link, entry_size = int(elf.sections["link"][index]), int(elf.sections["entry_size"][index])
    at = int(elf.sections["offset"][index])
    if link >= len(elf.sections) or kinds[link] != c.SHT_STRTAB:
        raise elf.malformed(at, f"symbol table {index} names section {link} as its string table")
    if entry_size not in (0, _symbol_dtype(elf).itemsize):
        raise elf.malformed(at, f"symbol table {index} has entries of {entry_size} bytes")
    strings = elf.section_bytes(link)
    part = _read_table(elf, elf.section_bytes(index), at, strings.size, pool_at, f"symbol table {index}")
    _extended_indices(elf, index, part)
    return part, strings.tobytes() + b"\0"


def _symbol_dtype(elf: ElfFile) -> np.dtype[Any]:
    o = elf.order
    if elf.header.bits == 64:
        fields = [("name", f"{o}u4"), ("info", "u1"), ("other", "u1"), ("shndx", f"{o}u2"), ("value", f"{o}u8")]
        return np.dtype([*fields, ("size", f"{o}u8")])
    fields = [("name", f"{o}u4"), ("value", f"{o}u4"), ("size", f"{o}u4"), ("info", "u1"), ("other", "u1")]
    return np.dtype([*fields, ("shndx", f"{o}u2")])


def _read_table(elf: ElfFile, data: Array, at: int, strings_size: int, pool_at: int, what: str) -> Array:
    """The records of ``data``, which begins at offset ``at``; a record without a sound name becomes an empty one."""
    dtype = _symbol_dtype(elf)
    raw = data[: data.size - data.size % dtype.itemsize].view(dtype)
    table = np.zeros(len(raw), SYMBOL_DTYPE)
    if len(raw) and int(raw["name"].max()) >= max(strings_size, 1):
        bad = raw["name"] >= max(strings_size, 1)
        first = at + int(np.flatnonzero(bad)[0]) * dtype.itemsize
        error = elf.malformed(first, f"{plural.count(int(bad.sum()), 'name')} of {what} outside of its string table")
        elf.losses.add("symbols", error)
        raw = raw.copy()
        raw[bad] = np.zeros(1, dtype)[0]
    table["name"] = raw["name"]
    table["name"] += np.uint64(pool_at)
    table["value"] = raw["value"]
    table["size"] = raw["size"]
    table["type"] = raw["info"] & 15
    table["bind"] = raw["info"] >> 4
    shndx = raw["shndx"].astype(np.int32)
    count = len(elf.sections) or c.SHN_LORESERVE  # without a section table any plain index means "defined"
    section = np.where(shndx < min(count, c.SHN_LORESERVE), shndx, NO_SECTION)
    section[shndx == c.SHN_UNDEF] = UNDEFINED
    section[shndx == c.SHN_ABS] = ABSOLUTE
    section[shndx == c.SHN_COMMON] = COMMON
    table["section"] = section
    if elf.machine.code_mask and len(table):
        value, is_code = table["value"], table["type"] == c.STT_FUNC
        value[is_code] &= ~np.uint64(elf.machine.code_mask)
    return table


def _extended_indices(elf: ElfFile, symtab: int, table: Array) -> None:
    """Files with 65,280 or more sections keep the section index of a symbol in a table beside it."""
    for row in np.flatnonzero(elf.sections["type"] == c.SHT_SYMTAB_SHNDX).tolist():
        if int(elf.sections["link"][row]) != symtab:
            continue
        what = f"section indices of symbol table {symtab}"
        words = elf.words(elf.losses.attempt(what, partial(elf.section_bytes, row), elf.data[:0]), 4)
        count = min(len(words), len(table))
        used = (table["section"][:count] == NO_SECTION) & (words[:count] != 0) & (words[:count] < len(elf.sections))
        table["section"][:count][used] = words[:count][used]


def _from_segments(elf: ElfFile, pool_at: int) -> tuple[Array, bytes] | None:
    """The dynamic symbol table by the dynamic entries, None without any; its length comes from the hash tables."""
    dynamic = elf.dynamic
    if c.DT_SYMTAB not in dynamic or c.DT_STRTAB not in dynamic:
        return None
    strings = elf.bytes_at_address(dynamic[c.DT_STRTAB][0], dynamic.get(c.DT_STRSZ, [0])[0], "the dynamic strings")
    count = 0
    dtype = _symbol_dtype(elf)
    at = elf.offset_of(dynamic[c.DT_SYMTAB][0]) or 0
    if c.DT_HASH in dynamic:
        header = elf.words(elf.bytes_at_address(dynamic[c.DT_HASH][0], 8, "the hash table"), 4)
        count = int(header[1])
    elif c.DT_GNU_HASH in dynamic:
        # It lists definitions only; imports behind the last one show in relocations.
        used = dynamic_relocations(elf)["symbol"]
        used = used[used < (elf.size - at) // dtype.itemsize]
        count = max(_gnu_hash_count(elf, dynamic[c.DT_GNU_HASH][0]), int(used.max()) + 1 if len(used) else 0)
    data = elf.bytes_at_address(dynamic[c.DT_SYMTAB][0], count * dtype.itemsize, "the dynamic symbols")
    table = _read_table(elf, data, at, strings.size, pool_at, "the dynamic symbols")
    table["dynamic"] = 1
    return table, strings.tobytes() + b"\0"


def _gnu_hash_count(elf: ElfFile, address: int) -> int:
    """Symbols covered by a GNU hash table: the largest bucket, then its chain up to the end mark."""
    buckets, first, bloom, _ = elf.words(elf.bytes_at_address(address, 16, "the GNU hash table"), 4).tolist()
    at = address + 16 + bloom * elf.header.bits // 8
    heads = elf.words(elf.bytes_at_address(at, buckets * 4, "the GNU hash buckets"), 4)
    last = int(heads.max()) if len(heads) else 0
    if last < first:
        return int(first)
    start = elf.offset_of(at + buckets * 4 + (last - first) * 4)
    if start is None:
        raise elf.malformed(None, "a chain of the GNU hash table is in no loaded segment")
    chain = elf.words(elf.data[start : start + (1 << 20)], 4)
    ends = np.flatnonzero(chain & 1)
    if not len(ends):
        raise elf.malformed(start, "a chain of the GNU hash table does not end")
    return int(last) + int(ends[0]) + 1


def place(table: Array, layout: Layout, elf: ElfFile, common: Array | None = None) -> tuple[Array, Array]:
    """(address, layout row) of each symbol; row -1 for undefined, absolute and misplaced symbols.

    Relocatable files hold offsets in sections; thread-local symbols hold offsets in the thread's block.
    ``common``: addresses for the COMMON rows, in table order.
    """
    address = table["value"].copy()
    section = table["section"]
    if len(elf.sections):
        known = section >= 0
        index = np.where(known, section, 0)
        rows = np.where(known, layout.row_of[index], -1).astype(np.int32)
        if layout.synthetic:
            address = np.where(known, address + layout.address_of[index], address)
    else:
        rows = np.where(section >= NO_SECTION, layout.locate(address), -1).astype(np.int32)
    tls = (table["type"] == c.STT_TLS) & (rows >= 0)
    if tls.any() and not layout.synthetic:
        blocks = picked(elf.segments, elf.segments["type"] == c.PT_TLS)
        address[tls] += np.uint64(int(blocks[0]["address"]) if len(blocks) else 0)
    if common is not None:
        where = np.flatnonzero(section == COMMON)
        address[where] = common
        rows[where] = layout.common_row
    return address, _inside(address, rows, layout.sections)


def _inside(address: Array, rows: Array, sections: tuple[Section, ...]) -> Array:
    """Rows with -1 where the address is not in the section; of a section that was carved, the right part."""
    starts = np.array([s.address for s in sections] + [0], np.uint64)
    ends = np.array([s.end for s in sections] + [0], np.uint64)
    for row, (section, after) in enumerate(pairwise(sections)):
        if section.name == after.name and section.end == after.address:
            rows = np.where((rows == row) & (address >= np.uint64(section.end)), row + 1, rows)
    good = (address >= starts[rows]) & (address < ends[rows])
    return np.where(good, rows, -1).astype(np.int32)
