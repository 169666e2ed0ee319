"""Which sections a program has in memory, where, and who may write them after start-up.

Owns the classification into ``SectionKind`` and the layout: real addresses for linked files, synthetic
ones for relocatable files, segments as pseudo sections where the section table was stripped.  Reads no
symbols; ranges that only symbols delimit are carved by ``Layout.carve``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ADDRESS_LIMIT, ElfFile
from sharing.model import Section, SectionKind
from sharing.model.arrays import picked

Array = npt.NDArray[Any]

SYNTHETIC_BASE = 0x100000  # far from 0, so that small integers are not taken for addresses
SYNTHETIC_GAP_BYTES = 4096  # more than any line: sections of a relocatable file never share one
MAX_ALIGNMENT = 1 << 30

# Linker and loader tables: they are written by the loader, never by the program's own variables.
_TABLES = re.compile(
    r"\.(got(\.plt)?|dynamic|(pre)?(init|fini)_array.*|ctors.*|dtors.*|jcr|tm_clone_table|eh_frame.*|gcc_except_table.*"
    r"|opd|toc1?|plt.*|branch_lt|MIPS\.\w+)$|__(bug_table|modver|jump_table|tracepoints_ptrs|mcount_loc|ex_table)$"
    r"|\.(orc_\w+|call_sites|return_sites|retpoline_sites|static_call_sites|static_call\.text)$"
)
_PERCPU = re.compile(r"\.(data\.\.percpu|data\.percpu|percpu)(\.|$)|\.data\.\.percpu")
# The kernel frees these after boot (include/linux/init.h); .apicdrivers and .x86_cpu_dev.init are their own sections.
_INIT = re.compile(
    r"\.(init|exit|meminit|devinit|cpuinit|memexit|devexit|cpuexit)\.(data|rodata|bss|setup|ramfs|scratch|text)?"
    r"|\.initcall|\.init_array\.kernel|\.con_initcall|\.apicdrivers$|\.x86_\w+\.init$|\.brk$|\.iommu_table$"
)
# Written while the program starts, then made read-only: by the kernel, or by the program's own mprotect.
_RELRO = re.compile(r"\.data\.\.ro_after_init|\.data\.rel\.ro|\.data\.ro$|\.?(__)?ro_after_init$|\.relro_padding$")
_CONSTANT = re.compile(r"\.(rodata|rodata1|srodata|lrodata|init_rodata|modinfo)(\.|$)")


def classify(name: str, flags: int, kind: int, *, in_relro: bool) -> SectionKind:
    """Who may write a section after start-up, by its flags and by the names that toolchains agree on."""
    if flags & c.SHF_TLS:
        return SectionKind.TLS
    if flags & c.SHF_EXECINSTR:
        return SectionKind.CODE
    if _PERCPU.match(name):
        return SectionKind.PERCPU
    if _INIT.match(name):
        return SectionKind.INIT
    if _CONSTANT.match(name):
        return SectionKind.CONSTANT
    if not flags & c.SHF_WRITE:
        return SectionKind.CONSTANT if kind == c.SHT_PROGBITS else SectionKind.OTHER
    if _TABLES.match(name):
        return SectionKind.RELRO if in_relro else SectionKind.OTHER
    if in_relro or _RELRO.match(name):
        return SectionKind.RELRO
    return SectionKind.WRITABLE if kind in (c.SHT_PROGBITS, c.SHT_NOBITS) else SectionKind.OTHER


class Layout(msgspec.Struct, frozen=True):
    """The allocated sections by address.

    ``row_of`` maps an ELF section index to the row of its first Section (-1: not allocated); ``address_of``
    to its address here.  ``elf_index`` is the way back.
    """

    sections: tuple[Section, ...]
    row_of: Array
    address_of: Array
    elf_index: tuple[int, ...]
    synthetic: bool
    common_row: int = -1

    def locate(self, addresses: Array, *, tls: bool = False) -> Array:
        """Row of the section that holds each address, -1 for none.

        Thread-local sections are templates: their addresses overlap other sections and name no memory, so
        they are found only when asked for.  Where sections of a hostile file overlap, the later start wins.
        """
        rows = [s.index for s in self.sections if (s.kind is SectionKind.TLS) == tls and s.size]
        if not rows:
            return np.full(len(addresses), -1, np.int32)
        starts = np.array([self.sections[r].address for r in rows], np.uint64)
        ends = np.array([self.sections[r].end for r in rows], np.uint64)
        found = np.searchsorted(starts, addresses, side="right") - 1
        inside = (found >= 0) & (addresses < ends[np.maximum(found, 0)])
        return np.where(inside, np.array(rows, np.int32)[np.maximum(found, 0)], -1).astype(np.int32)

    def carve(self, start: int, end: int, kind: SectionKind) -> Layout:
        """The layout with the part of one section in [start, end) made a section of its own of ``kind``."""
        parts: list[tuple[Section, int]] = []
        for section, index in zip(self.sections, self.elf_index, strict=True):
            low, high = max(start, section.address), min(end, section.end)
            if low >= high or section.kind not in (SectionKind.WRITABLE, SectionKind.CONSTANT, SectionKind.RELRO):
                parts.append((section, index))
                continue
            for first, last, part_kind in (
                (section.address, low, section.kind),
                (low, high, kind),
                (high, section.end, section.kind),
            ):
                if first < last:
                    offset = None if section.file_offset is None else section.file_offset + first - section.address
                    part = replace(section, address=first, size=last - first, kind=part_kind, file_offset=offset)
                    parts.append((part, index))
        return _assemble(parts, self.address_of, self.synthetic)


def _assemble(parts: list[tuple[Section, int]], address_of: Array, synthetic: bool) -> Layout:
    parts.sort(key=lambda p: (p[0].address, p[0].size))
    row_of = np.full(len(address_of), -1, np.int32)
    common_row = -1
    for row, (section, index) in enumerate(parts):
        if index < 0:
            common_row = row if section.name == "COMMON" else common_row
        elif row_of[index] < 0:
            row_of[index] = row
    sections = tuple(replace(section, index=row) for row, (section, _) in enumerate(parts))
    return Layout(sections, row_of, address_of, tuple(i for _, i in parts), synthetic, common_row)


def linked_layout(elf: ElfFile) -> Layout:
    """Sections of an executable or shared object at the addresses that the linker gave them."""
    if not len(elf.sections):
        return _segment_layout(elf)
    relro = [
        (int(s["address"]), int(s["address"]) + int(s["size"]))
        for s in picked(elf.segments, elf.segments["type"] == c.PT_GNU_RELRO)
    ]
    limit = ADDRESS_LIMIT if elf.header.bits == 64 else 1 << 32
    parts: list[tuple[Section, int]] = []
    for index in _allocated(elf):
        raw = elf.sections[index]
        address, size = int(raw["address"]), int(raw["size"])
        if address + size > limit:
            error = elf.malformed(elf.section_header_at(index), f"{_called(elf, index)} ends beyond the address space")
            elf.losses.add("a section", error)
            continue
        in_relro = any(start <= address and address + size <= end for start, end in relro)
        parts.append((_section(elf, index, address, in_relro=in_relro), index))
    return _assemble(parts, elf.sections["address"].copy(), False)


def relocatable_layout(elf: ElfFile, common_bytes: int, common_alignment: int) -> Layout:
    """Sections of a relocatable file one after the other from SYNTHETIC_BASE, then one for COMMON symbols."""
    parts: list[tuple[Section, int]] = []
    addresses = np.zeros(len(elf.sections), np.uint64)
    at = SYNTHETIC_BASE
    limit = ADDRESS_LIMIT >> 1 if elf.header.bits == 64 else 1 << 31
    for index in _allocated(elf):
        alignment = max(1, int(elf.sections[index]["align"]))
        if alignment & (alignment - 1) or alignment > MAX_ALIGNMENT:
            error = elf.malformed(elf.section_header_at(index), f"{_called(elf, index)} has alignment {alignment:#x}")
            elf.losses.add("a section", error)
            continue
        start = -(-at // alignment) * alignment
        size = int(elf.sections[index]["size"])
        end = -(-(start + size + SYNTHETIC_GAP_BYTES) // SYNTHETIC_GAP_BYTES) * SYNTHETIC_GAP_BYTES
        if end > limit:
            why = f"{_called(elf, index)} of {size:#x} bytes exceeds the address space"
            elf.losses.add("a section", elf.malformed(elf.section_header_at(index), why))
            continue
        addresses[index] = start
        parts.append((_section(elf, index, start, in_relro=False), index))
        at = end
    if common_bytes:
        at = -(-at // common_alignment) * common_alignment
        parts.append((Section(0, "COMMON", SectionKind.WRITABLE, at, common_bytes, common_alignment, None), -1))
    return _assemble(parts, addresses, True)


def _allocated(elf: ElfFile) -> list[int]:
    wanted = (elf.sections["flags"] & (c.SHF_ALLOC | c.SHF_EXCLUDE) == c.SHF_ALLOC) & (
        elf.sections["type"] != c.SHT_NULL
    )
    return [int(row) for row in np.flatnonzero(wanted)]


def _section(elf: ElfFile, index: int, address: int, *, in_relro: bool) -> Section:
    raw = elf.sections[index]
    name, kind = elf.section_names[index], int(raw["type"])
    in_file = kind != c.SHT_NOBITS
    if in_file:
        found = elf.losses.attempt("the bytes of a section", partial(elf.section_bytes, index), None)
        in_file = found is not None
    return Section(
        index,
        name,
        classify(name, int(raw["flags"]), kind, in_relro=in_relro),
        address,
        int(raw["size"]),
        max(1, int(raw["align"])),
        int(raw["offset"]) + elf.base if in_file else None,
    )


def _called(elf: ElfFile, index: int) -> str:
    return f"section {index} ({elf.section_names[index][:80]!r})"


def _segment_layout(elf: ElfFile) -> Layout:
    """Loaded segments as sections ``segment0`` …, the part without bytes apart as ``segment0.bss``."""
    for load in picked(elf.segments, elf.segments["type"] == c.PT_LOAD):
        read = partial(elf.bytes_at, int(load["offset"]), int(load["file_size"]), "a loaded segment")
        elf.losses.attempt("some bytes of a segment", read, None)
    parts: list[tuple[Section, int]] = []
    relro = [
        (int(s["address"]), int(s["address"]) + int(s["size"]))
        for s in picked(elf.segments, elf.segments["type"] == c.PT_GNU_RELRO)
    ]
    for row, load in enumerate(elf.loads):
        address, size, in_file, flags = (int(load[k]) for k in ("address", "size", "file_size", "flags"))
        if address + size > ADDRESS_LIMIT:
            elf.losses.add("a segment", elf.malformed(None, f"segment {row} ends beyond the address space"))
            continue
        kind = SectionKind.CODE if flags & c.PF_X else SectionKind.WRITABLE if flags & c.PF_W else SectionKind.CONSTANT
        alignment = max(1, int(load["align"]))
        offset = int(load["offset"]) + elf.base
        if in_file:
            parts.append((Section(0, f"segment{row}", kind, address, in_file, alignment, offset), -1))
        if size > in_file:
            bss = Section(0, f"segment{row}.bss", kind, address + in_file, size - in_file, alignment, None)
            parts.append((bss, -1))
    layout = _assemble(parts, np.zeros(0, np.uint64), False)
    for start, end in relro:
        layout = layout.carve(start, end, SectionKind.RELRO)
    return layout
