"""Files that lie: each is refused in one line that names file, offset and reason, quickly and in little memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elfscan.fileformat.symbols import Names
from elfscan.image import read_images
from sharing.model import LinemateError, Malformed, Unrecognized
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder, small_program

LIMIT_S = 10


def refused(path: Path) -> str:
    """The error of reading a file, which must be one line and come quickly."""
    started = time.monotonic()
    with pytest.raises(LinemateError) as caught:
        list(read_images(str(path), types=False, access=False))
    assert time.monotonic() - started < LIMIT_S
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def survives(path: Path) -> None:
    """Reading either works or ends in one of the errors made for it."""
    started = time.monotonic()
    message = ""
    try:
        for image in read_images(str(path), types=False, access=False):
            assert all(0 <= v["section"] < len(image.sections) for v in image.variables)
    except LinemateError as error:
        message = str(error)
    assert "\n" not in message
    assert time.monotonic() - started < LIMIT_S


def written(path: Path, data: bytes | ElfBuilder) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.bytes())
    return path


def test_names_that_are_each_the_end_of_another_take_no_square_of_their_table() -> None:
    names = Names(b"a" * 1_000_000 + b"\0lock\0")
    found = names.decode(np.arange(0, 1_000_000, 50, np.uint64))  # ten gigabytes of text
    assert sum(map(len, found)) < 64 << 20
    assert all(found)
    assert names.decode(np.array([1_000_001, 500_000], np.uint64)) == ["lock", "a" * 500_000]


def test_section_names_without_an_end_are_not_looked_through_each_time(tmp_path: Path) -> None:
    elf = ElfBuilder()
    pool = 4_000_000
    for number in range(8_000):
        elf.section("")
        elf.sections[-1].override = {"name": number * (pool // 8_000)}
    elf.sections[-1].data = b"a" * pool
    elf.header["shstrndx"] = 8_000
    path = written(tmp_path / "file", elf)
    before = time.process_time()
    survives(path)
    assert time.process_time() - before < 3


def test_what_is_no_file_is_said_in_one_line(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "missing")
    assert "is a directory" in refused(tmp_path)
    os.mkfifo(tmp_path / "fifo")
    assert "is a pipe" in refused(tmp_path / "fifo")
    assert "empty" in refused(written(tmp_path / "empty", b""))
    if os.geteuid() != 0:
        (tmp_path / "secret").write_bytes(b"x")
        (tmp_path / "secret").chmod(0)
        assert "Permission" in refused(tmp_path / "secret")
    with pytest.raises(LinemateError, match="not a usable file name"):
        list(read_images("a\0b"))


def test_a_text_file_is_not_ours(tmp_path: Path) -> None:
    with pytest.raises(Unrecognized, match="not an ELF file"):
        list(read_images(str(written(tmp_path / "text", b"#!/bin/sh\n" * 50))))


@pytest.mark.parametrize("length", [1, 3, 4, 5, 15, 16, 20, 63])
def test_a_file_that_ends_in_the_header(tmp_path: Path, length: int) -> None:
    assert "ends inside" in refused(written(tmp_path / "cut", small_program().bytes()[:length]))


def test_a_core_dump_is_no_program(tmp_path: Path) -> None:
    assert "core dump" in refused(written(tmp_path / "core", small_program(type=4)))


def test_a_huge_bss_costs_nothing(tmp_path: Path) -> None:
    elf = small_program()
    elf.section(".bss2", type=b.NOBITS, flags=b.ALLOC | b.WRITE, address=0x1000000, size=1 << 46)
    survives(written(tmp_path / "huge", elf))


def test_symbols_far_outside_of_their_sections(tmp_path: Path, read: Callable[[Path], object]) -> None:
    elf = small_program()
    elf.symbol("beyond", 2, 0xFFFF_FFFF_FFFF_FFF0, 0xFFFF_FFFF_FFFF_FFFF)
    elf.symbol("large", 2, 0x402030, 0xFFFF_FFFF_FFFF_FFFF)
    elf.symbol("code", 1, 0x401020, 0xFFFF_FFFF_FFFF_FFFF, b.FUNC)
    (image,) = read_images(str(written(tmp_path / "far", elf)), types=False, access=False)
    found = {image.names[v["name"]]: int(v["size"]) for v in image.variables}
    assert found == {"lock": 40, "large": 16, "counter": 8}
    assert image.functions["size"].tolist() == [32, 32]


def test_overlapping_sections_keep_every_variable_in_one(tmp_path: Path) -> None:
    elf = small_program()
    elf.section(".data2", bytes(64), flags=b.ALLOC | b.WRITE, address=0x402000)
    elf.section(".data3", bytes(64), flags=b.ALLOC | b.WRITE, address=0x402020)
    elf.symbol("other", 4, 0x402000, 64)
    survives(written(tmp_path / "overlap", elf))


def test_names_with_control_characters_are_data(tmp_path: Path) -> None:
    """Names come through whole; who prints them escapes them, as the dumper does."""
    elf = small_program()
    elf.symbol("\x1b[31mred\nline<script>", 2, 0x402028, 8)
    elf.symbol("\udcff\udcfe", 2, 0x402030, 8)
    path = written(tmp_path / "names", elf)
    (image,) = read_images(str(path), types=False, access=False)
    assert "\x1b[31mred\nline<script>" in [image.names[v["name"]] for v in image.variables]
    out = subprocess.run(
        [sys.executable, "-m", "elfscan", str(path), "--variables", "--no-types"], capture_output=True, text=True
    )
    assert out.returncode == 0
    assert "\x1b" not in out.stdout
    assert "\\x1b[31mred\\nline" in out.stdout


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_random_damage_is_survived(tmp_path: Path, data: st.DataObject) -> None:
    whole = bytearray(small_program().bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    survives(written(tmp_path / "damaged", bytes(whole)))


def test_random_bytes_behind_the_magic_are_survived(tmp_path: Path) -> None:
    generator = random.Random(20)
    for _ in range(50):
        survives(written(tmp_path / "random", b"\x7fELF\x02\x01\x01" + generator.randbytes(3000)))


def test_damage_to_a_real_program_is_survived(tmp_path: Path, build: Callable[..., Path]) -> None:
    """Dynamic tables, relocations, PLT and frames of a linked program, damaged at random."""
    text = '#include <stdio.h>\nint n; int main(void) { return printf("%d", ++n); }'
    whole = build(text, "gcc", "-O1").read_bytes()
    generator = random.Random(4)
    for _ in range(120):
        damaged = bytearray(whole)
        for _ in range(generator.randint(1, 30)):
            damaged[generator.randrange(len(damaged))] = generator.choice([0, 1, 0x7F, 0x80, 0xFF])
        survives(written(tmp_path / "damaged", bytes(damaged)))


def test_the_dumper_exits_with_2_and_one_line(tmp_path: Path) -> None:
    path = written(tmp_path / "cut", small_program().bytes()[:100])
    out = subprocess.run([sys.executable, "-m", "elfscan", str(path)], capture_output=True, text=True)
    assert out.returncode == 2
    assert out.stdout == ""
    assert out.stderr.startswith(f"elfscan: {path}: offset 0x")
    assert out.stderr.count("\n") == 1


def test_malformed_names_the_offset_in_the_whole_file(tmp_path: Path) -> None:
    """Inside an archive, offsets count from the start of the archive."""
    member = small_program().bytes()[:70]
    header = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (b"bad.o/", 0, 0, 0, b"644", len(member))
    path = written(tmp_path / "lib.a", b"!<arch>\n" + header + member)
    with pytest.raises(Malformed) as caught:
        list(read_images(str(path), types=False, access=False))
    assert caught.value.offset == 8 + 60 + 64
    assert "lib.a(bad.o)" in str(caught.value)
