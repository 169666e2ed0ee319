"""What the loader makes of an image: GOT slots, imports, relocated words; read from tables, not guessed."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from elfscan.fileformat.program import Program
from elfscan.relocation.dynamic import PLACEHOLDER_BYTES
from tests.builders import elf as b
from tests.builders.elf import small_program
from tests.elf.conftest import Build, Read, functions, variables

TEXT = """
#include <stdio.h>
int mine = 4; static int quiet; extern int nowhere __attribute__((weak));
int get(void) { return mine + (&nowhere ? nowhere : 0); }
int *pointers[] = { &mine, &quiet };
int main(void) { fprintf(stderr, "%d%d", get(), *pointers[1]); return 0; }
"""


def opened(path: Path) -> Program:
    return open_program(ElfFile(str(path), map_file(str(path))))


def slots(path: Path) -> dict[int, int]:
    table = opened(path).linkage.slots
    assert table["slot"].tolist() == sorted(table["slot"].tolist())
    return dict(zip(table["slot"].tolist(), table["value"].tolist(), strict=True))


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
def test_slots_of_own_variables_hold_their_addresses(build: Build, read: Read, compiler: str) -> None:
    path = build(TEXT, compiler, "-shared", "-fPIC", "-O1")
    image = read(path)
    out = subprocess.run(["readelf", "-rW", str(path)], capture_output=True, text=True, check=True).stdout
    line = r"^([0-9a-f]+)\s+[0-9a-f]+ R_\w+_(?:GLOB_DA|GLOB_DAT|JUMP_SL\w*|64)\s+[0-9a-f]+ (\w+)"
    places = [(int(where, 16), name) for where, name in re.findall(line, out, re.M)]
    # RISC-V has one type for slots and for words of data.
    got = [(s.address, s.end) for s in image.sections if s.name.startswith(".got")]
    expected = {name: at for at, name in places if any(start <= at < end for start, end in got)}
    found = slots(path)
    assert found[expected["mine"]] == image.variables["address"][variables(image)["mine"]]
    assert image.callee_names[found[expected["fprintf"]]] == "fprintf"
    assert image.callee_names[found[expected["stderr"]]] == "stderr"
    if "get" in expected:
        assert found[expected["get"]] == image.functions["address"][functions(image)["get"]]


def test_slots_that_the_linker_filled(build: Build, read: Read) -> None:
    """A static program has no loader to fill the table: the words are in the file."""
    path = build(TEXT, "gcc", "-static", "-fPIC", "-O1", "-Wl,--no-relax")
    image = read(path)
    address = int(image.variables["address"][variables(image)["mine"]])
    assert address in slots(path).values()


def test_imports_have_addresses_that_nothing_else_has(build: Build, read: Read) -> None:
    path = build(TEXT, "gcc", "-O1")
    image = read(path)
    program = opened(path)
    places = program.linkage.placeholders["slot"].tolist()
    assert len(set(places)) == len(places) >= len(image.imports) > 2
    assert all(after - before >= PLACEHOLDER_BYTES for before, after in pairwise(places))
    assert not any(s.address <= p < s.end for s in image.sections for p in places)
    assert {image.callee_names[p] for p in places} == image.imports
    assert "__libc_start_main" in image.imports


def test_imports_fit_below_code_at_the_top_of_the_address_space(tmp_path: Path) -> None:
    elf = small_program()
    elf.section(".top", type=b.NOBITS, flags=b.ALLOC | b.WRITE, address=(1 << 64) - 0x2000, size=0x1FFF)
    (tmp_path / "p").write_bytes(elf.bytes())
    from elfscan.relocation.dynamic import placeholder_base

    layout = opened(tmp_path / "p").layout
    base = placeholder_base(layout, 1000)
    assert base + 1000 * PLACEHOLDER_BYTES < 1 << 64
    assert not any(s.address < base + 1000 * PLACEHOLDER_BYTES and base < s.end for s in layout.sections)


@pytest.mark.parametrize("flags", [["-pie"], ["-shared"], ["-pie", "-Wl,-z,pack-relative-relocs"]])
def test_data_words_hold_what_the_loader_writes(build: Build, read: Read, flags: list[str]) -> None:
    path = build(TEXT, "gcc", "-fPIC", "-O1", *flags)
    image, linkage = read(path), opened(path).linkage
    rows = variables(image)
    table = int(image.variables["address"][rows["pointers"]])
    assert linkage.word(table) == image.variables["address"][rows["mine"]]
    assert linkage.word(table + 8) == image.variables["address"][rows["quiet"]]
    assert linkage.word(table + 4) is None
