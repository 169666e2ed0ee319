"""Damage of a part of the debug information costs that part: the rest of the file is read, and a note counts."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from elfscan.debug.dwarf import start_dwarf
from sharing.model import LinemateError
from tests.builders.elf import ALLOC, ET_REL, WRITE, ElfBuilder
from tests.dwarf.test_dwarf_hostile import (
    ABBREVIATIONS,
    AFTER_VARIABLE,
    EXPRESSION,
    LOCATION,
    NAME,
    STRING,
    UNIT,
    VARIABLE,
    abbreviation,
    reasons,
    record,
    uleb,
    unit,
)

R_X86_64_64 = 1
NO_SUCH_SYMBOL = 99
REL, RELA, CREL = 9, 4, 0x40000014
ADDRESS_AT = 12 + 9  # of the variable's address in its unit: header and unit entry, then name, type and DW_OP_addr


def one_variable(name: bytes) -> bytes:
    """A unit with one variable, whose address a relocation fills in."""
    return unit(b"\2" + name + b"\0" + struct.pack("<I", AFTER_VARIABLE) + b"\x09\x03" + bytes(8), record())


FIRST, SECOND = one_variable(b"a"), one_variable(b"b")


def object_file(directory: Path, symbols: tuple[int, int], **relocations: int) -> str:
    """Two units, each with one variable; ``symbols`` are those that their addresses name."""
    elf = ElfBuilder(type=ET_REL)
    data = elf.section(".data", bytes(64), flags=ALLOC | WRITE)
    elf.section(".debug_abbrev", ABBREVIATIONS)
    info = elf.section(".debug_info", FIRST + SECOND)
    good = elf.symbol("storage", data)
    assert good == 1
    first, second = symbols
    entries = [(ADDRESS_AT, first, R_X86_64_64, 8), (len(FIRST) + ADDRESS_AT, second, R_X86_64_64, 16)]
    row = elf.relocations(".rela.debug_info", info, entries)
    elf.sections[row].override = relocations
    path = directory / "object.o"
    path.write_bytes(elf.bytes())
    return str(path)


def read(path: str):
    return start_dwarf(path, relocatable=True).result()


def test_nothing_is_lost_of_an_undamaged_file(tmp_path):
    document = read(object_file(tmp_path, (1, 1)))
    assert [(v.name, v.address) for v in document.variables] == [("a", 8), ("b", 16)]
    assert document.problems == []


def test_a_relocation_that_names_no_symbol_costs_its_unit(tmp_path):
    document = read(object_file(tmp_path, (NO_SUCH_SYMBOL, 1)))
    assert [(v.name, v.address) for v in document.variables] == [("b", 16)]
    assert document.problems[0][2] == (
        "1 of 2 units are lost, the first because: unit is damaged: a relocation names a symbol that is not there"
    )


def test_the_other_unit_is_lost_where_the_damage_is_there(tmp_path):
    document = read(object_file(tmp_path, (1, NO_SUCH_SYMBOL)))
    assert [v.name for v in document.variables] == ["a"]
    assert "1 of 2 units are lost" in reasons(document)


@pytest.mark.parametrize("entry_size", [0, 1, 23, 25, 1 << 63])
@pytest.mark.parametrize("type_", [RELA, REL])
def test_relocations_with_a_wrong_entry_size_cost_the_units_and_not_the_process(tmp_path, entry_size, type_):
    document = read(object_file(tmp_path, (1, 1), entry_size=entry_size, type=type_))
    assert document.variables == []
    assert "2 of 2 units are lost" in reasons(document)
    assert "its relocations cannot be read" in reasons(document)


def test_relocations_of_an_encoding_that_is_not_read_are_named(tmp_path):
    assert "their encoding is not supported" in reasons(read(object_file(tmp_path, (1, 1), type=CREL)))


@pytest.mark.parametrize("field", ["offset", "size"])
def test_relocations_beyond_the_file_cost_the_units(tmp_path, field):
    document = read(object_file(tmp_path, (1, 1), **{field: 1 << 40}))
    assert "2 of 2 units are lost" in reasons(document)


def test_a_link_to_no_section_costs_the_units(tmp_path):
    assert "2 of 2 units are lost" in reasons(read(object_file(tmp_path, (1, 1), link=1000)))


def test_relocations_for_a_section_that_is_not_there_apply_to_nothing(tmp_path):
    document = read(object_file(tmp_path, (NO_SUCH_SYMBOL, NO_SUCH_SYMBOL), info=1000))
    assert document.problems == []


def test_a_section_that_cannot_be_unpacked_is_left_out(tmp_path):
    """The names of files are lost with .debug_line, nothing else is."""
    elf = ElfBuilder()
    elf.section(".data", bytes(64), flags=ALLOC | WRITE, address=0x402000)
    elf.section(".debug_abbrev", ABBREVIATIONS)
    elf.section(".debug_info", FIRST.replace(bytes(8), struct.pack("<Q", 0x402000)))
    elf.section(".debug_line", b"DAMAGED", flags=0x800)
    path = tmp_path / "program"
    path.write_bytes(elf.bytes())
    at = elf.bytes().index(b"DAMAGED")
    document = start_dwarf(str(path)).result()
    assert [v.name for v in document.variables] == ["a"]
    assert f"section .debug_line at offset {at:#x} is not read" in reasons(document)


def test_units_that_cannot_be_unpacked_are_one_line(tmp_path):
    elf = ElfBuilder()
    elf.section(".debug_abbrev", ABBREVIATIONS)
    elf.section(".debug_info", bytes(5), flags=0x800)
    path = tmp_path / "program"
    path.write_bytes(elf.bytes())
    with pytest.raises(LinemateError, match=r"^linemate-dwarf: .*program: "):
        start_dwarf(str(path)).result()


def package_index(version: int, rows: list[int], units: int) -> bytes:
    """An index with one column (INFO): ``rows`` are the row numbers in its buckets."""
    head = struct.pack("<IIII", version, 1, units, len(rows))
    signatures = b"".join(struct.pack("<Q", 7 + i) for i in range(len(rows)))
    return head + signatures + struct.pack(f"<{len(rows)}I", *rows) + struct.pack("<I", 1) + bytes(8 * units)


def package(directory: Path, index: bytes) -> str:
    elf = ElfBuilder()
    elf.section(".debug_abbrev.dwo", ABBREVIATIONS)
    elf.section(".debug_info.dwo", FIRST)
    elf.section(".debug_cu_index", index)
    path = directory / "program.dwp"
    path.write_bytes(elf.bytes())
    return str(path)


@pytest.mark.parametrize("version", [2, 5])
def test_a_package_index_is_read(tmp_path, version):
    assert "package index" not in reasons(read(package(tmp_path, package_index(version, [1, 0], 1))))


@pytest.mark.parametrize(
    "index",
    [
        package_index(2, [2], 1),  # a row behind the last
        package_index(2, [0xFFFFFFFF], 1),
        package_index(3, [1], 1),
        package_index(2, [1], 1)[:-1],
        struct.pack("<IIII", 2, 0x10000, 0x10000, 0) + bytes(64),  # the product is 0 in 32 bits
        struct.pack("<IIII", 2, 1, 1, 0xFFFFFFFF),
    ],
    ids=["row", "last-row", "version", "cut", "product", "buckets"],
)
def test_a_damaged_package_index_is_reported(tmp_path, index):
    assert "package index is damaged" in reasons(read(package(tmp_path, index)))


STMT_LIST, DECL_FILE, DATA1, FLAG_PRESENT, SECTION_OFFSET, PATH = 0x10, 0x3A, 0x0B, 0x19, 0x17, 1
WITH_FILES = (
    abbreviation(1, UNIT, True, STMT_LIST, SECTION_OFFSET)
    + abbreviation(2, VARIABLE, False, NAME, STRING, DECL_FILE, DATA1, LOCATION, EXPRESSION)
    + b"\0"
)


def program_with_lines(directory: Path, form: int, names: bytes, count: int) -> str:
    """One variable, declared in file 0 of a DWARF 5 line table with ``count`` files of one attribute each."""
    table = b"\1\1\1\0\1\1" + b"\0\0"  # instructions that do not matter; no directories
    table += bytes([1, PATH, form]) + uleb(count) + names
    line = struct.pack("<HBBI", 5, 8, 0, len(table)) + table
    body = struct.pack("<HBBI", 5, 1, 8, 0) + b"\1" + struct.pack("<I", 0)
    body += b"\2v\0\0\x09\x03" + struct.pack("<Q", 0x402000) + b"\0"
    elf = ElfBuilder()
    elf.section(".data", bytes(64), flags=ALLOC | WRITE, address=0x402000)
    elf.section(".debug_abbrev", WITH_FILES)
    elf.section(".debug_info", struct.pack("<I", len(body)) + body)
    elf.section(".debug_line", struct.pack("<I", len(line)) + line)
    path = directory / "program"
    path.write_bytes(elf.bytes())
    return str(path)


def test_files_are_read_from_the_line_table(tmp_path):
    document = start_dwarf(program_with_lines(tmp_path, STRING, b"one.c\0two.c\0", 2)).result()
    assert [document.files[v.file] for v in document.variables] == ["one.c"]


def test_files_without_bytes_are_none_however_many(tmp_path):
    document = start_dwarf(program_with_lines(tmp_path, FLAG_PRESENT, b"\0" * 8, (1 << 64) - 1)).result()
    assert [(v.name, v.file) for v in document.variables] == [("v", -1)]
