"""Debug information that lies: every case ends soon, with an answer or with one line."""

from __future__ import annotations

import random
import struct
import time
from pathlib import Path

import pytest

from elfscan.debug.dwarf import start_dwarf
from sharing.model import LinemateError, Malformed
from tests.builders.elf import ALLOC, WRITE, ElfBuilder

VARIABLE, STRUCT, MEMBER, ARRAY, RANGE, BLOCK, UNIT = 0x34, 0x13, 0x0D, 0x01, 0x21, 0x0B, 0x11
NAME, LOCATION, TYPE, BYTE_SIZE, COUNT, PLACE = 0x03, 0x02, 0x49, 0x0B, 0x37, 0x38
STRING, STRP, EXPRESSION, REF4, DATA4, DATA8 = 0x08, 0x0E, 0x18, 0x13, 0x06, 0x07
LONGEST_NAME = 1 << 14
ADDRESS = 0x402000
HEADER_BYTES = 11  # of a DWARF 4 unit


def uleb(value: int) -> bytes:
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def abbreviation(code: int, tag: int, children: bool, *attributes: int) -> bytes:
    return uleb(code) + uleb(tag) + bytes([children]) + b"".join(map(uleb, attributes)) + b"\0\0"


ABBREVIATIONS = (
    abbreviation(1, UNIT, True)
    + abbreviation(2, VARIABLE, False, NAME, STRING, TYPE, REF4, LOCATION, EXPRESSION)
    + abbreviation(3, STRUCT, True, NAME, STRING, BYTE_SIZE, DATA4)
    + abbreviation(4, MEMBER, False, NAME, STRING, TYPE, REF4, PLACE, DATA8)
    + abbreviation(5, ARRAY, True, TYPE, REF4)
    + abbreviation(6, RANGE, False, COUNT, DATA8)
    + abbreviation(7, BLOCK, True)
    + b"\0"
)


def variable(type_at: int) -> bytes:
    """18 bytes."""
    return b"\2v\0" + struct.pack("<I", type_at) + b"\x09\x03" + struct.pack("<Q", ADDRESS)


def member(type_at: int, place: int = 0) -> bytes:
    return b"\4m\0" + struct.pack("<IQ", type_at, place)


def record(*members: bytes) -> bytes:
    return b"\3s\0" + struct.pack("<I", 16) + b"".join(members) + b"\0"


def array(type_at: int, *counts: int) -> bytes:
    return b"\5" + struct.pack("<I", type_at) + b"".join(b"\6" + struct.pack("<Q", n) for n in counts) + b"\0"


FIRST = HEADER_BYTES + 1  # the first child of the unit entry
AFTER_VARIABLE = FIRST + len(variable(0))


def unit(*entries: bytes) -> bytes:
    body = struct.pack("<HIB", 4, 0, 8) + b"\1" + b"".join(entries) + b"\0"
    return struct.pack("<I", len(body)) + body


def write(directory: Path, info: bytes, abbreviations: bytes = ABBREVIATIONS, strings: bytes = b"") -> str:
    elf = ElfBuilder()
    elf.section(".data", bytes(64), flags=ALLOC | WRITE, address=ADDRESS)
    elf.section(".debug_abbrev", abbreviations)
    elf.section(".debug_info", info)
    elf.section(".debug_str", strings)
    path = directory / "hostile"
    path.write_bytes(elf.bytes())
    return str(path)


def read(path: str):
    began = time.monotonic()
    document = start_dwarf(path).result()
    assert time.monotonic() - began < 10
    return document


def assert_sound_ending(path: Path) -> None:
    """An answer or one line, and no crash."""
    line = ""
    try:
        start_dwarf(str(path), relocatable=True).result()
    except LinemateError as error:
        line = str(error)
    assert "\n" not in line
    assert "crashed" not in line


def reasons(document) -> str:
    return "; ".join(reason for _, _, reason in document.problems)


def test_the_builder_makes_what_the_reader_reads(tmp_path):
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), record())))
    assert [(v.name, v.address) for v in document.variables] == [("v", ADDRESS)]
    assert document.types[document.variables[0].type].name == "s"
    assert document.problems == []


def test_a_record_that_contains_itself_is_cut(tmp_path):
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), record(member(AFTER_VARIABLE)))))
    assert "a type contains itself" in reasons(document)
    assert len(document.variables) == 1


def test_an_array_of_itself_is_cut(tmp_path):
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), array(AFTER_VARIABLE, 4))))
    assert "a type contains itself" in reasons(document)


@pytest.mark.parametrize("counts", [(1 << 63,), (1 << 40, 1 << 40), (1 << 32,) * 40])
def test_an_impossible_length_is_no_length(tmp_path, counts):
    inner = AFTER_VARIABLE + len(array(0, *counts))
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), array(inner, *counts), record())))
    node = document.types[document.variables[0].type]
    assert node.count == -1
    assert node.size == -1


def test_types_nested_without_end_are_cut(tmp_path):
    size = len(record(member(0)))
    records = [record(member(AFTER_VARIABLE + (i + 1) * size)) for i in range(50_000)]
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), *records)))
    assert "nested too deeply" in reasons(document)


def test_a_fan_of_members_costs_no_more_than_its_entries(tmp_path):
    """Each record twice contains the next: 2**300 leaves, 300 rows."""
    size = len(record(member(0), member(0)))
    records = [record(*[member(AFTER_VARIABLE + (i + 1) * size)] * 2) for i in range(150)]
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), *records, record())))
    assert len(document.types) < 200


def test_entries_nested_without_end_are_cut(tmp_path):
    document = read(write(tmp_path, unit(variable(AFTER_VARIABLE), b"\7" * 500_000)))
    assert "nested too deeply" in reasons(document)


@pytest.mark.parametrize("target", [0, 5, AFTER_VARIABLE + 3, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_type_reference_to_nowhere_leaves_the_variable(tmp_path, target):
    document = read(write(tmp_path, unit(variable(target), record())))
    assert [v.name for v in document.variables] == ["v"]


def test_an_impossible_member_offset_leaves_out_the_member(tmp_path):
    info = unit(variable(AFTER_VARIABLE), record(member(FIRST, (1 << 64) - 1)))
    document = read(write(tmp_path, info))
    assert document.types[document.variables[0].type].members == ()
    assert "impossible offset" in reasons(document)


def test_an_unknown_code_ends_the_unit_and_not_the_file(tmp_path):
    document = read(write(tmp_path, unit(b"\x63") + unit(variable(AFTER_VARIABLE), record())))
    assert "code 99 is unknown" in reasons(document)
    assert len(document.variables) == 1


@pytest.mark.parametrize("length", [0xFFFFFFF0, 0x7FFFFFFF])
def test_a_damaged_unit_header_is_reported(tmp_path, length):
    document = read(write(tmp_path, struct.pack("<I", length) + bytes(20)))
    assert "unit header is damaged" in reasons(document)


def test_hostile_names_pass_unharmed_and_bad_bytes_become_text(tmp_path):
    entry = variable(AFTER_VARIABLE + 4).replace(b"v\0", b"\x1b\xff<\nv\0", 1)
    document = read(write(tmp_path, unit(entry, record())))
    assert [v.name for v in document.variables] == ["\x1b\ufffd<\nv"]


def test_names_that_are_each_the_end_of_another_take_no_square_of_their_section(tmp_path):
    """20,000 names of half a megabyte each: without a bound five seconds and an answer that is refused."""
    names = 20_000
    abbreviations = (
        abbreviation(1, UNIT, True) + abbreviation(2, VARIABLE, False, NAME, STRP, LOCATION, EXPRESSION) + b"\0"
    )
    entries = (b"\2" + struct.pack("<I", 50 * i) + b"\x09\x03" + struct.pack("<Q", ADDRESS) for i in range(names))
    path = write(tmp_path, unit(*entries), abbreviations, b"s" * (50 * names) + b"\0")
    (found,) = read(path).variables
    assert set(found.name) == {"s"}
    assert len(found.name) <= LONGEST_NAME


def test_each_truncation_ends_with_an_answer_or_a_line(tmp_path):
    whole = Path(write(tmp_path, unit(variable(AFTER_VARIABLE), record(member(FIRST))))).read_bytes()
    for length in range(0, len(whole), 23):
        path = tmp_path / "cut"
        path.write_bytes(whole[:length])
        assert_sound_ending(path)


@pytest.mark.parametrize("seed", range(4))
def test_random_damage_never_crashes_the_helper(tmp_path, compiled, seed):
    source = "struct s { int a : 3; struct { char c[4]; } in[2]; } v; static long l; int main(void) { return v.a + l; }"
    whole = compiled("gcc", "c", source, "-gdwarf-5", "-c").path.read_bytes()
    chance = random.Random(seed)
    for _ in range(20):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 8, 64))):
            damaged[chance.randrange(64, len(damaged))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        path = tmp_path / "damaged"
        path.write_bytes(damaged)
        assert_sound_ending(path)


@pytest.mark.parametrize("content", [b"", b"not ELF", b"\x7fELF", bytes(4096)])
def test_a_file_that_is_not_elf_is_one_line(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(LinemateError, match=r"^linemate-dwarf: .*file: ") as caught:
        start_dwarf(str(path)).result()
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(Malformed, match="No such file"):
        start_dwarf(str(tmp_path / "missing"))
