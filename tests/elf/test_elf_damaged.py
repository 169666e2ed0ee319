"""Damaged files: a broken table costs that table and a note; only what leaves nothing to judge is refused."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elfscan.image import read_images
from sharing.model import Image, LinemateError, Malformed
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder, header_fields, small_program
from tests.elf.conftest import functions, name_of, variables

Damage = Callable[[ElfBuilder], object]
BEYOND = 1 << 40


def read(path: Path, elf: ElfBuilder | bytes) -> Image:
    path.write_bytes(elf if isinstance(elf, bytes) else elf.bytes())
    (image,) = read_images(str(path), types=False, access=False)
    return image


def losses(image: Image) -> list[str]:
    return [note for note in image.notes if " not read: " in note]


def object_file() -> ElfBuilder:
    """Code that refers to a variable and to a COMMON symbol, relocated."""
    elf = ElfBuilder(type=b.ET_REL)
    text = elf.section(".text", bytes(64), flags=b.ALLOC | b.EXEC, align=16)
    data = elf.section(".data", bytes(64), flags=b.ALLOC | b.WRITE, align=64)
    elf.symbol("f", text, 0, 64, b.FUNC)
    elf.symbol("lock", data, 0, 40)
    elf.symbol("shared", b.COMMON, 8, 8, b.COMMON_SYMBOL)
    elf.relocations(".rela.text", text, [(8, 2, 1, 0)])
    return elf


def test_an_intact_file_gives_no_note(tmp_path: Path) -> None:
    for elf in (small_program(), object_file()):
        image = read(tmp_path / "intact", elf)
        assert losses(image) == []
        assert not image.incomplete
        assert "lock" in variables(image)


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ({"shoff": 1 << 62}, "offset 0x3ffff"),
        ({"shoff": 0}, "offset 0x28: 7 section headers at offset 0"),
        ({"shoff": 64}, "offset 0x40: the first section header is not empty"),
        ({"shnum": 0}, "offset 0x3c: 0 section headers"),
        ({"shnum": 1}, "none of the 1 section headers describes loaded bytes"),
        ({"shentsize": 3, "shstrndx": 1}, "offset 0x3a: section headers of 3 bytes"),
    ],
)
def test_without_section_headers_segments_stand_in(tmp_path: Path, header: dict[str, int], note: str) -> None:
    elf = small_program()
    end = len(elf.bytes())
    elf.header |= header
    if header.get("shoff") == 1 << 62:
        note = f"offset {end:#x}"
    image = read(tmp_path / "damaged", elf)
    (loss,) = losses(image)
    assert loss.startswith("section headers not read: ")
    assert note in loss
    assert loss.endswith("segments stand in for sections")
    assert image.incomplete
    assert [s.name for s in image.sections] == ["segment0", "segment1"]
    assert "no symbols: variables can only be recovered from access sites" in image.notes


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ({"phoff": 1 << 62}, "outside of the file"),
        ({"phoff": 0}, "2 program headers at offset 0x0"),
        ({"phnum": 0}, "0 program headers at offset 0x40"),
        ({"phnum": 0xFFFE}, "the table of 65534 program headers"),
        ({"phentsize": 3, "phoff": 0x80}, "program headers of 3 bytes"),
    ],
)
def test_without_program_headers_sections_and_symbols_remain(tmp_path: Path, header: dict[str, int], note: str) -> None:
    image = read(tmp_path / "damaged", small_program(**header))
    (loss,) = losses(image)
    assert loss.startswith("program headers not read: offset 0x")
    assert note in loss
    assert image.incomplete
    assert set(variables(image)) == {"lock", "counter"}


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ({"shentsize": 3}, "offset 0x3a: section headers of 3 bytes; the table is read as it stands"),
        ({"phentsize": 3}, "offset 0x36: program headers of 3 bytes; the table is read as it stands"),
    ],
)
def test_a_size_that_the_class_decides_costs_nothing(tmp_path: Path, header: dict[str, int], note: str) -> None:
    image = read(tmp_path / "damaged", small_program(**header))
    (loss,) = losses(image)
    assert loss.endswith(note)
    assert not image.incomplete
    assert set(variables(image)) == {"lock", "counter"}


@pytest.mark.parametrize("count", [9, 0xFEFF])
def test_too_many_section_headers_are_as_many_as_the_file_holds(tmp_path: Path, count: int) -> None:
    image = read(tmp_path / "damaged", small_program(shnum=count))
    (loss,) = losses(image)
    assert f"{count} section headers, of which the file holds at most 7" in loss
    assert image.incomplete
    assert set(variables(image)) == {"lock", "counter"}


def test_a_section_count_of_four_billion(tmp_path: Path) -> None:
    """With e_shnum 0 the count is the size of section 0: it must not be believed."""
    elf = small_program(shnum=0)
    elf.sections[0].override["size"] = 0xFFFF_FFFF
    image = read(tmp_path / "count", elf)
    assert "4294967295 section headers" in losses(image)[0]
    assert set(variables(image)) == {"lock", "counter"}


def test_without_section_names_symbols_remain(tmp_path: Path) -> None:
    image = read(tmp_path / "damaged", small_program(shstrndx=77))
    assert losses(image) == ["section names not read: offset 0x3e: the section name table has index 77 of 7"]
    assert image.incomplete
    assert set(variables(image)) == {"lock", "counter"}
    elf = small_program()
    elf.sections[2].override["name"] = 5000
    image = read(tmp_path / "one", elf)
    assert [s.name for s in image.sections] == [".text", "", ".bss"]
    assert "a section name at 0x1388 lies outside of the name table" in losses(image)[0]


@pytest.mark.parametrize(
    ("make", "what"),
    [(lambda: small_program(type=99), "an executable"), (lambda: _as(object_file(), type=0xFE00), "an object file")],
)
def test_an_unknown_type_is_what_its_tables_speak_for(
    tmp_path: Path, make: Callable[[], ElfBuilder], what: str
) -> None:
    image = read(tmp_path / "damaged", make())
    (loss,) = losses(image)
    assert loss.startswith("the file's type not read: offset 0x10: unknown ELF file type ")
    assert loss.endswith(f"read as {what}")
    assert image.incomplete
    assert "lock" in variables(image)


def _as(elf: ElfBuilder, **header: int) -> ElfBuilder:
    elf.header |= header
    return elf


def test_an_unknown_byte_order_is_the_one_of_the_version(tmp_path: Path) -> None:
    whole = bytearray(small_program().bytes())
    whole[5] = 7
    image = read(tmp_path / "order", bytes(whole))
    assert losses(image) == ["the byte order not read: offset 0x5: unknown ELF byte order 7; read as little-endian"]
    assert set(variables(image)) == {"lock", "counter"}
    whole[20:24] = b"\1\1\1\1"  # and now nothing tells
    with pytest.raises(Malformed, match="unknown ELF byte order 7"):
        read(tmp_path / "order", bytes(whole))


@pytest.mark.parametrize("field", ["offset", "size"])
@pytest.mark.parametrize("value", [0x7FFF_FFFF_FFFF_F000, BEYOND])
def test_a_section_outside_of_the_file_costs_its_bytes(tmp_path: Path, field: str, value: int) -> None:
    elf = small_program()
    elf.sections[1].override[field] = value
    image = read(tmp_path / "outside", elf)
    (loss,) = losses(image)
    assert loss.startswith("the bytes of a section not read: offset 0x")
    assert "section 1 ('.text')" in loss
    assert image.incomplete
    assert {"lock", "counter"} <= set(variables(image))


def test_many_losses_of_a_kind_are_one_note(tmp_path: Path) -> None:
    elf = small_program()
    for number in range(2000):
        elf.section(f".more{number}", flags=b.ALLOC | b.WRITE, address=0x500000 + 64 * number, offset=BEYOND, size=8)
    (loss,) = losses(read(tmp_path / "many", elf))
    assert ", and 1999 more" in loss


def test_a_section_beyond_the_address_space_is_left_out(tmp_path: Path) -> None:
    elf = small_program()
    elf.section(".bss2", type=b.NOBITS, flags=b.ALLOC | b.WRITE, address=1 << 63, size=(1 << 63) + 1)
    image = read(tmp_path / "wrap", elf)
    assert "section 4 ('.bss2') ends beyond the address space" in losses(image)[0]
    assert [s.name for s in image.sections] == [".text", ".data", ".bss"]


@pytest.mark.parametrize("link", [0, 1, 99])
def test_a_symbol_table_without_strings_costs_that_table(tmp_path: Path, link: int) -> None:
    elf = small_program()
    elf.section(".sym", elf.pack_symbol(0, 2, 0x402000, 8, 1, 1), type=b.SYMTAB, link=link)
    image = read(tmp_path / "link", elf)
    (loss,) = losses(image)
    assert loss.startswith("symbol table 4 ('.sym') not read: offset 0x")
    assert f"names section {link} as its string table" in loss
    assert image.incomplete
    assert set(variables(image)) == {"lock", "counter"}


def test_a_symbol_table_of_other_records_costs_that_table(tmp_path: Path) -> None:
    elf = small_program()
    strings = elf.section(".str", b"\0a\0", type=b.STRTAB)
    elf.section(".sym", bytes(48), type=b.SYMTAB, link=strings, entry_size=16)
    assert "symbol table 5 has entries of 16 bytes" in losses(read(tmp_path / "records", elf))[0]


def test_a_name_outside_of_the_strings_costs_that_symbol(tmp_path: Path) -> None:
    elf = small_program()
    strings = elf.section(".str", b"\0good\0", type=b.STRTAB)
    records = elf.pack_symbol(500, 2, 0x402028, 8, 1, 1) + elf.pack_symbol(1, 2, 0x402030, 8, 1, 1)
    elf.section(".sym", records, type=b.SYMTAB, link=strings, entry_size=24)
    image = read(tmp_path / "names", elf)
    (loss,) = losses(image)
    assert "1 name of symbol table 5 outside of its string table" in loss
    assert set(variables(image)) == {"lock", "counter", "good"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ((0, 5000, 2, 0), "1 relocation of section 3 with a symbol number of 4 or more"),
        ((1 << 40, 1, 2, 0), "1 relocation of section 3 outside of section '.text'"),
        ((62, 1, 1, 0), "1 relocations reach outside of section '.text'"),
    ],
)
def test_relocations_that_reach_outside_are_left_out(
    tmp_path: Path, entry: tuple[int, int, int, int], reason: str
) -> None:
    elf = object_file()
    elf.sections.pop()
    elf.relocations(".rela.text", 1, [(8, 2, 1, 0), entry])
    image = read(tmp_path / "reloc.o", elf)
    (loss,) = losses(image)
    assert reason in loss
    assert image.incomplete
    assert "f" in functions(image)


def test_relocations_of_no_section_are_left_out(tmp_path: Path) -> None:
    elf = object_file()
    elf.relocations(".rela.gone", 1000, [(8, 2, 1, 0)])
    assert "section 4 applies to section 1000, which does not exist" in losses(read(tmp_path / "gone.o", elf))[0]


@pytest.mark.parametrize("alignment", [3, BEYOND])
def test_alignments_no_assembler_writes_cost_what_they_align(tmp_path: Path, alignment: int) -> None:
    elf = object_file()
    elf.section(".more", bytes(8), flags=b.ALLOC | b.WRITE, align=alignment)
    elf.symbol("unplaced", b.COMMON, alignment, 8, b.COMMON_SYMBOL)
    image = read(tmp_path / "align.o", elf)
    section, common = sorted(losses(image), key=lambda note: "COMMON" in note)
    assert f"section 4 ('.more') has alignment {alignment:#x}" in section
    assert f"a COMMON symbol has alignment {alignment:#x}" in common
    assert set(variables(image)) == {"lock", "shared"}


def test_sections_that_share_bytes_are_copied_once(tmp_path: Path) -> None:
    """Thousands of sections that all claim the same bytes would be copied thousands of times."""
    elf = object_file()
    for index in range(3000):
        elf.section(f".data{index}", flags=b.ALLOC | b.WRITE, offset=0, size=150_000)
    started = time.monotonic()
    image = read(tmp_path / "shared.o", elf)
    assert time.monotonic() - started < 10
    assert "overlaps others in the file" in losses(image)[0]
    assert "lock" in variables(image)


def test_notes_and_links_only_identify_the_file(tmp_path: Path) -> None:
    """Without them no debug file is found, which is no more than a file that has none."""
    note = struct.pack("<III", 4, 4, 3) + b"GNU\0" + b"\xab\xcd\xef\x01"
    elf = small_program()
    elf.section(".note.gnu.build-id", note, type=b.NOTE, flags=b.ALLOC)
    assert read(tmp_path / "whole", elf).build_id == "abcdef01"
    for broken in (note[:15], struct.pack("<III", 4, 4000, 3) + note[12:]):
        elf.sections[-1].data = broken
        image = read(tmp_path / "note", elf)
        assert image.build_id is None
        assert not image.incomplete
    assert "a note ends outside of its section" in losses(image)[0]


def test_a_dynamic_section_outside_of_the_file(tmp_path: Path) -> None:
    elf = small_program(type=b.ET_DYN)
    row = elf.section(".dynamic", bytes(32), type=b.DYNAMIC, flags=b.ALLOC | b.WRITE, address=0x404000)
    assert losses(read(tmp_path / "whole", elf)) == []
    elf.sections[row].override["offset"] = BEYOND
    found = losses(read(tmp_path / "dynamic", elf))
    assert any(note.startswith("the dynamic section not read: offset 0x") for note in found)


def test_a_separate_debug_file_is_whole(tmp_path: Path) -> None:
    """``objcopy --only-keep-debug`` keeps the program headers and drops the bytes that they name."""
    elf = small_program()
    row = elf.section(".dynamic", type=b.NOBITS, flags=b.ALLOC | b.WRITE, address=0x404000, size=512)
    elf.segment(2, 6, row)
    whole = bytearray(elf.bytes())
    at = 64 + 2 * 56
    whole[at + 8 : at + 16] = struct.pack("<Q", BEYOND)  # p_offset
    whole[at + 32 : at + 40] = struct.pack("<Q", 512)  # p_filesz
    image = read(tmp_path / "program.debug", bytes(whole))
    assert losses(image) == []
    assert not image.incomplete


def test_a_file_that_was_cut_is_read_as_far_as_code_and_data_reach(tmp_path: Path) -> None:
    """The section headers are last.  Without them segments stand in, until there is neither code nor data."""
    whole = small_program().bytes()
    text = 64 + 2 * 56
    path = tmp_path / "cut"
    for length in (64, 64 + 56, text - 1):
        with pytest.raises(Malformed, match="offset 0x"):
            read(path, whole[:length])
    for length in (text + 16, len(whole) - 64 * 6, len(whole) - 64, len(whole) - 1):
        image = read(path, whole[:length])
        assert any(note.startswith("section headers not read: offset 0x") for note in losses(image))
        assert image.incomplete
        assert image.sections[0].name == "segment0"


def test_what_has_nothing_left_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="outside of the file"):
        read(tmp_path / "both", small_program(shoff=BEYOND, phoff=BEYOND))
    with pytest.raises(Malformed, match="outside of the file"):
        read(tmp_path / "object", _as(object_file(), shoff=BEYOND))
    elf = small_program()
    elf.symbols.clear()
    for entry in elf.sections[1:]:
        entry.override["offset"] = BEYOND
    elf.sections.pop(3)
    with pytest.raises(Malformed, match="outside of the file"):
        read(tmp_path / "bytes", elf)


FILES = (small_program(), object_file(), ElfBuilder(32, ">", machine=b.PPC64, type=b.ET_REL))
FILES[2].symbol("big", FILES[2].section(".data", bytes(64), flags=b.ALLOC | b.WRITE), 0, 8)
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 1 << 62, 1 << 63, (1 << 64) - 1, (1 << 64) - 2)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_one_wrong_header_field_is_survived(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever one field of any header says: an image, or an error made for it, and a note where something is lost."""
    elf = data.draw(st.sampled_from(FILES))
    whole = bytearray(elf.bytes())
    at, size = data.draw(st.sampled_from(header_fields(elf)))
    value = data.draw(st.sampled_from(EDGES) | st.integers(0, len(whole) + 1)) % (1 << 8 * size)
    whole[at : at + size] = value.to_bytes(size, "little" if elf.order == "<" else "big")
    try:
        image = read(tmp_path / "field", bytes(whole))
    except LinemateError:
        return
    assert all(name_of(image, row) for row in range(len(image.variables)) if image.variables["name"][row] >= 0)
    assert not image.incomplete or losses(image)
