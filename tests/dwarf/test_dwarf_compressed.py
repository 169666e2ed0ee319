"""Compressed debug sections that unpack to much: what a file may take in all, and what is said of the rest."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
import zstandard

from elfscan.debug import linetable
from elfscan.debug.dwarf import start_dwarf
from elfscan.fileformat.elf import ElfFile, map_file
from tests.builders.elf import ALLOC, WRITE, ElfBuilder
from tests.dwarf.test_dwarf_hostile import (
    ABBREVIATIONS,
    ADDRESS,
    AFTER_VARIABLE,
    abbreviation,
    read,
    reasons,
    record,
    uleb,
    unit,
    variable,
    write,
)

COMPRESSED = 0x800
MIB = 1 << 20
LITTLE_MEMORY = 100 * MIB
INFO = unit(variable(AFTER_VARIABLE), record())
KINDS = {"zlib": (1, lambda data: zlib.compress(data, 1)), "zstd": (2, zstandard.ZstdCompressor(1).compress)}


def packed(kind: str, data: bytes) -> bytes:
    number, compress = KINDS[kind]
    return struct.pack("<IIQQ", number, 0, len(data), 1) + compress(data)


def write_packed(path: Path, kind: str, **sections: int) -> str:
    """A program whose abbreviations are followed by so many zeros, in MiB; other sections have zeros alone."""
    elf = ElfBuilder()
    elf.section(".data", bytes(64), flags=ALLOC | WRITE, address=ADDRESS)
    elf.section(".debug_info", INFO)
    for name, size in sections.items():
        data = (ABBREVIATIONS if name == "abbrev" else b"") + bytes(size * MIB)
        elf.section(f".debug_{name}", packed(kind, data), flags=COMPRESSED)
    path.write_bytes(elf.bytes())
    return str(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_that_unpacks_to_more_than_a_file_of_its_size_may_have_is_left_out(tmp_path, monkeypatch, kind):
    monkeypatch.setattr("elfscan.debug.dwarf._MEMORY_BYTES", LITTLE_MEMORY)
    path = write_packed(tmp_path / "bomb", kind, abbrev=33)
    at = Path(path).read_bytes().index(struct.pack("<IIQ", KINDS[kind][0], 0, 33 * MIB + len(ABBREVIATIONS)))
    document = read(path)
    assert (
        f"section .debug_abbrev at offset {at:#x} is not read: it would take {33 * MIB + len(ABBREVIATIONS)} bytes"
        in (reasons(document))
    )
    assert document.variables == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_large_and_within_the_bound_is_read(tmp_path, kind):
    document = read(write_packed(tmp_path / "large", kind, abbrev=31))
    assert ([v.name for v in document.variables], document.problems) == (["v"], [])


def test_the_bound_is_of_all_sections_together(tmp_path, monkeypatch):
    monkeypatch.setattr("elfscan.debug.dwarf._MEMORY_BYTES", LITTLE_MEMORY)
    document = read(write_packed(tmp_path / "bombs", "zlib", abbrev=20, str=10, line_str=10, line=10, addr=1))
    assert [v.name for v in document.variables] == ["v"]
    left_out = [reason.split()[1] for _, _, reason in document.problems if reason.startswith("section ")]
    assert left_out == [".debug_line", ".debug_line_str"]


def test_a_companion_has_the_same_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("elfscan.debug.dwarf._MEMORY_BYTES", LITTLE_MEMORY)
    document = start_dwarf(
        write(tmp_path, INFO), alt=write_packed(tmp_path / "common", "zlib", abbrev=0, str=33)
    ).result()
    assert f"{tmp_path / 'common'}: section .debug_str at offset" in reasons(document)
    assert [v.name for v in document.variables] == ["v"]


def test_a_table_of_abbreviations_has_a_size(tmp_path, monkeypatch):
    monkeypatch.setattr("elfscan.debug.dwarf._MEMORY_BYTES", LITTLE_MEMORY)
    endless = abbreviation(8, 0x34, False, *[0x2000, 0x0B] * 1000)[:-2] + b"\x01\x0b" * (12 * MIB)
    document = read(write(tmp_path, INFO, ABBREVIATIONS[:-1] + endless))
    assert [v.name for v in document.variables] == ["v"]
    beyond = b"".join(abbreviation(code, 0x34, False) for code in range(8, 200_000))
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), uleb(199_999)), ABBREVIATIONS[:-1] + beyond))
    assert "abbreviation" in reasons(document)


def test_lines_of_source_are_unpacked_within_the_same_bound(tmp_path):
    elf = ElfBuilder()
    elf.section(".debug_line", packed("zlib", bytes(40 * MIB)), flags=COMPRESSED)
    (tmp_path / "lines").write_bytes(elf.bytes())
    path = str(tmp_path / "lines")
    assert len(linetable.debug_section(ElfFile(path, map_file(path)), ".debug_line")) == 32 * MIB


def test_zeros_are_no_endless_list_of_units():
    reader = linetable.LinePrograms(bytes(8 * MIB), True, {})
    reader.read()
    assert reader.lost == linetable.MAX_UNITS
