"""Functions of Go programs by the table of their run-time, in all layouts of that table, whole and broken."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from sharing.model import FunctionFlag, Image
from tests.builders.elf import ALLOC, RELA, WRITE, ElfBuilder
from tests.builders.gotable import FUNCTIONS, TEXT, VERSIONS, program, table
from tests.elf.conftest import Read


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
