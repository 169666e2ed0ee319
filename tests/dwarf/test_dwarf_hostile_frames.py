"""Unwind rows that lie: a section that would lead the reader astray is left out, and the other one still answers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from elfscan.debug.frames import unwind_steps
from tests.builders.elf import ALLOC, ElfBuilder

CODE, BYTES = 0x401000, 0x40
SP, RETURN = 7, 16  # psABI of x86-64, figure 3.36
# The frame is at the stack pointer + 8, and the return address right below it.
ROWS = bytes([0x0C, SP, 8, 0x80 | RETURN, 1])


def entry(body: bytes, *, wide: bool = False) -> bytes:
    return (b"\xff\xff\xff\xff" + struct.pack("<Q", len(body)) if wide else struct.pack("<I", len(body))) + body


def common(is_eh: bool, address_bytes: int | None = None) -> bytes:
    version = b"\x01" if address_bytes is None else b"\x04"
    sizes = b"" if address_bytes is None else bytes([address_bytes, 0])
    number = 0 if is_eh else 0xFFFFFFFF
    return entry(struct.pack("<I", number) + version + b"\0" + sizes + b"\x01\x78" + bytes([RETURN]) + ROWS)


def function(before: bytes, is_eh: bool, at: int = 0) -> bytes:
    """Behind ``before``, of the common entry at ``at``."""
    return entry(struct.pack("<IQQ", len(before) + 4 - at if is_eh else at, CODE, BYTES))


def whole(is_eh: bool) -> bytes:
    first = common(is_eh)
    return first + function(first, is_eh)


def told(tmp_path: Path, eh_frame: bytes, debug_frame: bytes) -> int | None:
    """Where the return address is by the file's rows."""
    builder = ElfBuilder()
    builder.section(".eh_frame", eh_frame, flags=ALLOC, address=0x400000)
    builder.section(".debug_frame", debug_frame)
    path = tmp_path / "file"
    path.write_bytes(builder.bytes())
    step = unwind_steps(str(path), [CODE + 1]).get(CODE + 1)
    return None if step is None else step.return_at


@pytest.mark.parametrize("is_eh", [True, False])
def test_either_section_tells_it(tmp_path: Path, is_eh: bool) -> None:
    assert told(tmp_path, whole(True) if is_eh else b"", b"" if is_eh else whole(False)) == -8
    assert told(tmp_path, b"", b"") is None


@pytest.mark.parametrize("address_bytes", [0, 3, 5, 255])
@pytest.mark.parametrize("is_eh", [True, False])
def test_a_section_with_addresses_of_no_size_is_left_out(tmp_path: Path, is_eh: bool, address_bytes: int) -> None:
    odd = common(is_eh, address_bytes)
    odd += function(odd, is_eh)
    other = whole(not is_eh)
    assert told(tmp_path, odd if is_eh else other, other if is_eh else odd) == -8
    assert told(tmp_path, odd if is_eh else b"", b"" if is_eh else odd) is None


@pytest.mark.parametrize("is_eh", [True, False])
def test_addresses_of_a_size_that_is_one_are_read(tmp_path: Path, is_eh: bool) -> None:
    stated = common(is_eh, 8)
    stated += function(stated, is_eh)
    assert told(tmp_path, stated if is_eh else b"", b"" if is_eh else stated) == -8


@pytest.mark.parametrize("number", [-1, -2])
def test_a_function_of_no_common_entry_is_left_out_with_its_section(tmp_path: Path, number: int) -> None:
    """The numbers that LLVM's table has for its own: of .eh_frame by the distance to them, which wraps around."""
    first = common(True)
    astray = first + entry(struct.pack("<IQQ", len(first) + 4 - number, CODE, BYTES))
    assert told(tmp_path, astray, whole(False)) == -8
    assert told(tmp_path, astray, b"") is None


def test_the_same_in_a_section_of_64_bit_offsets(tmp_path: Path) -> None:
    astray = common(False) + entry(struct.pack("<QQQ", (1 << 64) - 2, CODE, BYTES), wide=True)
    assert told(tmp_path, whole(True), astray) == -8
    assert told(tmp_path, b"", astray) is None


@pytest.mark.parametrize("number", [0x7FFFFFFF, 0xFFFFFFF0])
def test_a_number_of_nothing_costs_no_other_section(tmp_path: Path, number: int) -> None:
    """Near miss: LLVM refuses it by itself, or knows no rows of it."""
    first = common(False)
    assert told(tmp_path, whole(True), first + entry(struct.pack("<IQQ", number, CODE, BYTES))) == -8
