"""What files say of how they were made, against readelf; and what of broken ones."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.traits import read_traits
from sharing.model.errors import LinemateError
from tests.explain.conftest import BuildTableCache


def readelf(flag: str, path: Path) -> str:
    if shutil.which("readelf") is None:
        pytest.skip("no readelf")
    return subprocess.run(["readelf", "-W", flag, str(path)], capture_output=True, text=True, check=True).stdout


def test_needed_versions_are_those_of_readelf(table_cache: BuildTableCache) -> None:
    text = readelf("-V", table_cache())
    needs = text[text.index(".gnu.version_r") :]
    wanted = []
    library = ""
    for line in needs.splitlines():
        if found := re.search(r"File: (\S+)", line):
            library = found[1]
        elif found := re.search(r"Name: (\S+)", line):
            wanted.append(f"{library}:{found[1]}")
    assert wanted
    assert list(read_traits(str(table_cache())).versions) == sorted(wanted)


def test_segments_and_interpreter_are_those_of_readelf(table_cache: BuildTableCache) -> None:
    text = readelf("-l", table_cache())
    traits = read_traits(str(table_cache()))
    rows = re.findall(r"LOAD +0x\w+ 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) ([RWE ]{3}) 0x(\w+)", text)
    wanted = [
        (flags.replace(" ", "").replace("E", "X"), int(address, 16), int(size, 16), int(align, 16))
        for address, size, flags, align in rows
    ]
    assert [(s.flags, s.address, s.size, s.align) for s in traits.segments] == wanted
    assert f"program interpreter: {traits.interpreter}]" in text


def test_comments_name_the_compiler_once(table_cache: BuildTableCache) -> None:
    comments = read_traits(str(table_cache())).comments
    assert len(comments) == 1
    assert comments[0].startswith("GCC: ")


def test_code_is_the_file_itself(table_cache: BuildTableCache) -> None:
    assert bytes(read_traits(str(table_cache())).code[:4]) == b"\x7fELF"


def test_a_relocatable_file_has_neither_segments_nor_versions(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int a;\n")
    subprocess.run(["gcc", "-c", "-o", str(tmp_path / "a.o"), str(source)], check=True)
    traits = read_traits(str(tmp_path / "a.o"))
    assert (traits.segments, traits.versions, traits.interpreter) == ((), (), "")


@pytest.mark.parametrize(
    ("field", "what"),
    [("aux", "lies outside of its section"), ("name", "outside of its strings"), ("file", "outside of its strings")],
)
def test_versions_that_lead_out_of_the_file_are_left_out(
    table_cache: BuildTableCache, tmp_path: Path, field: str, what: str
) -> None:
    path = str(table_cache())
    elf = ElfFile(path, map_file(path))
    row = elf.find_section(".gnu.version_r")
    assert row is not None
    data = bytearray(Path(path).read_bytes())
    # Verneed: version, count, file, aux, next; its first Vernaux follows: hash, flags, other, name, next.
    at = int(elf.sections[row]["offset"]) + {"file": 4, "aux": 8, "name": 16 + 8}[field]
    data[at : at + 4] = (0xFFFFFFF0).to_bytes(4, "little")
    (tmp_path / "broken").write_bytes(data)
    intact, broken = read_traits(path), read_traits(str(tmp_path / "broken"))
    assert (broken.versions, broken.interpreter) == ((), intact.interpreter)
    (note,) = broken.notes
    assert note.startswith("needed versions not read: offset 0x")
    assert what in note
    assert intact.versions
    assert intact.notes == ()


def test_what_is_no_elf_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises(LinemateError, match="not an ELF file"):
        read_traits(str(tmp_path / "text"))
