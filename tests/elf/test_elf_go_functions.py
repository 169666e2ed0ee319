"""Functions of Go programs by the table of their run-time, in all layouts of that table, whole and broken."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from sharing.model import FunctionFlag, Image
from tests.builders.elf import ALLOC, EXEC, PROGBITS, RELA, WRITE, ElfBuilder
from tests.elf.conftest import Read

TEXT = 0x401000
FUNCTIONS = [("runtime.text", 0, 0x40), ("main.main", 0x40, 0x90), ("main.main.func1", 0xD0, 0x30)]
VERSIONS = {"1.2": 0xFFFFFFFB, "1.16": 0xFFFFFFFA, "1.18": 0xFFFFFFF0, "1.20": 0xFFFFFFF1}


def table(version: str, *, text: int = TEXT, count: int = 3, name_by: int = 0, moved: int = 0, word: int = 8) -> bytes:
    """The table of ``FUNCTIONS``.  Wrong by: their ``count``, the last one's name and address."""
    names, offsets = b"", []
    for name, _, _ in FUNCTIONS:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    offsets[-1] += name_by
    starts = [at for _, at, _ in FUNCTIONS]
    starts[-1] -= moved
    end = FUNCTIONS[-1][1] + FUNCTIONS[-1][2]
    head = struct.pack("<IBBBB", VERSIONS[version], 0, 0, 1, word)
    pointer = "Q" if word == 8 else "I"
    relative = version in ("1.18", "1.20")
    entry, base = ("I", 0) if relative else (pointer, TEXT)
    fields = 8 if relative else 7 if version == "1.16" else 1
    size = struct.calcsize(entry)
    names_at = len(head) + fields * word
    table_at = names_at + len(names) if version != "1.2" else names_at
    origin = table_at if version != "1.2" else 0
    rows = (2 * len(FUNCTIONS) + 1) * size
    records_at = table_at + rows
    names_in = 0 if version != "1.2" else records_at + len(FUNCTIONS) * (size + 4)
    records, pairs = b"", b""
    for start, offset in zip(starts, offsets, strict=True):
        pairs += struct.pack("<" + entry * 2, base + start, records_at + len(records) - origin)
        records += struct.pack(f"<{entry}i", base + start, names_in + offset)
    pairs += struct.pack("<" + entry, base + end)
    if version == "1.2":
        return head + struct.pack("<" + pointer, count) + pairs + records + names
    numbers = [count, 0, names_at, table_at, 0, 0, table_at]
    if relative:
        numbers.insert(2, text)
    return head + struct.pack(f"<{len(numbers)}{pointer}", *numbers) + names + pairs + records


def program(data: bytes, *, section: str = ".gopclntab", init: bool = False, bits: int = 64) -> ElfBuilder:
    elf = ElfBuilder(bits=bits, machine=62 if bits == 64 else 3)
    elf.with_symbols = False
    elf.section(".text", b"\xc3" * 0x100, flags=ALLOC | EXEC, address=TEXT)
    if init:
        elf.section(".init", b"\xc3" * 16, flags=ALLOC | EXEC, address=0x400800)
    elf.section(".go.buildinfo", b"\0" * 32, flags=ALLOC | WRITE, address=0x500000)
    elf.section(section, data, flags=ALLOC, address=0x480000, type=PROGBITS)
    return elf


def image_of(elf: ElfBuilder, folder: Path, read: Read) -> Image:
    path = folder / "program"
    path.write_bytes(elf.bytes())
    return read(path)


def of_go(image: Image) -> list[tuple[str, int, int]]:
    rows = image.functions[(image.functions["flags"] & FunctionFlag.GO) != 0]
    return [(image.names[f["name"]], int(f["address"]) - TEXT, int(f["size"])) for f in rows]


class TestWhole:
    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("word", [8, 4])
    def test_functions_have_names_and_extents(self, tmp_path: Path, read: Read, version: str, word: int) -> None:
        image = image_of(program(table(version, word=word), bits=word * 8), tmp_path, read)
        assert of_go(image) == FUNCTIONS
        assert not image.incomplete
        assert any("only functions have names (.gopclntab)" in note for note in image.notes)

    def test_among_other_constants(self, tmp_path: Path, read: Read) -> None:
        data = b"\xf1\xff\xff\xff" + b"\0" * 12 + table("1.20")
        assert of_go(image_of(program(data, section=".rodata"), tmp_path, read)) == FUNCTIONS

    def test_where_code_begins_is_that_of_the_section_where_nothing_else_says_it(
        self, tmp_path: Path, read: Read
    ) -> None:
        assert of_go(image_of(program(table("1.20", text=0)), tmp_path, read)) == FUNCTIONS

    def test_or_of_the_run_time_behind_what_c_puts_first(self, tmp_path: Path, read: Read) -> None:
        elf = program(table("1.20", text=0), init=True)
        assert of_go(image_of(elf, tmp_path, read)) == []
        elf.section(".go.module", struct.pack("<23Q", *[0] * 22, TEXT), flags=ALLOC | WRITE, address=0x510000)
        assert of_go(image_of(elf, tmp_path, read)) == FUNCTIONS

    @pytest.mark.parametrize(("addend", "found"), [(TEXT, FUNCTIONS), (-1, [])])
    def test_or_what_the_loader_will_say(
        self, tmp_path: Path, read: Read, addend: int, found: list[tuple[str, int, int]]
    ) -> None:
        elf = program(table("1.20", text=0), init=True)
        place = struct.pack("<QQq", 0x480000 + 24, 8, addend)  # the third word of the header, R_X86_64_RELATIVE
        elf.section(".rela.dyn", place, type=RELA, flags=ALLOC, address=0x470000, entry_size=24)
        assert of_go(image_of(elf, tmp_path, read)) == found

    def test_a_table_beside_nothing_of_go_is_data(self, tmp_path: Path, read: Read) -> None:
        elf = program(table("1.20"), section=".rodata")
        elf.sections[2].name = ".other"
        assert of_go(image_of(elf, tmp_path, read)) == []


class TestBroken:
    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("wrong", [{"count": 1 << 31}, {"name_by": 1 << 20}, {"moved": 0xC0}], ids=str)
    def test_costs_the_names_and_says_so(self, tmp_path: Path, read: Read, version: str, wrong: dict[str, int]) -> None:
        image = image_of(program(table(version, **wrong)), tmp_path, read)
        assert of_go(image) == []
        assert image.incomplete
        assert any(note.startswith("the function table of Go not read: offset 0x") for note in image.notes)

    @pytest.mark.parametrize("version", VERSIONS)
    def test_every_cut_is_a_loss_or_whole(self, tmp_path: Path, read: Read, version: str) -> None:
        data = table(version)
        for size in range(0, len(data), 5):
            image = image_of(program(data[:size]), tmp_path, read)
            assert image.incomplete == (of_go(image) == [])
