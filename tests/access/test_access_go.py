"""Code of Go: its registers for arguments, functions that are handed over by a word, stacks that grow."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.accessplan import SLOT_DTYPE, AccessPlan, ScanResult, start_scan
from sharing.model import FUNCTION_DTYPE, ArgKind, FunctionFlag

BASE, DATA, CONSTANTS = 0x10000, 0x4000000, 0x20000000
WORK, START, GROW = BASE + 0x80, BASE + 0x90, BASE + 0xA0


def call(at: int, target: int) -> bytes:
    return b"\xe8" + struct.pack("<i", target - (BASE + at + 5))


def code(body: bytes) -> bytes:
    """A function that checks its stack, does ``body``, and the three that it may call; a word that holds one's address.

    The last instructions of the first: save an argument, grow the stack, load the argument again, begin anew.
    """
    text = b"\x49\x3b\x66\x10" + b"\x76" + bytes([len(body) + 1]) + body + b"\xc3"
    text += b"\x48\x89\x44\x24\x08"
    text += call(len(text), GROW) + b"\x48\x8b\x44\x24\x08"
    text += b"\xe9" + struct.pack("<i", -(len(text) + 5))
    return text.ljust(0x80, b"\xcc") + (b"\xc3".ljust(16, b"\xcc")) * 3 + struct.pack("<Q", WORK)


def scanned(folder: Path, body: bytes, flags: int) -> ScanResult:
    text = code(body)
    (folder / "code").write_bytes(text)
    functions = np.zeros(4, FUNCTION_DTYPE)
    functions["address"], functions["size"] = (BASE, WORK, START, GROW), (0x80, 16, 16, 16)
    functions["flags"] = flags
    ranges = [(BASE, 0, 0xB0)], [(DATA, 0x1000)], [(CONSTANTS, 0, len(text))]
    plan = AccessPlan("x86-64", str(folder / "code"), *ranges, functions, np.empty(0, SLOT_DTYPE), absolute=True)
    return start_scan(plan).result()


def arguments(found: ScanResult, callee: int) -> dict[int, int]:
    rows = found.args[(found.args["callee"] == callee) & (found.args["kind"] == ArgKind.ADDRESS)]
    return dict(zip(rows["arg"].tolist(), rows["value"].tolist(), strict=True))


COUNT = b"\xf0\x48\xff\x04\x25" + struct.pack("<i", DATA)  # lock inc qword [DATA]


@pytest.mark.parametrize(("flags", "called"), [(FunctionFlag.GO, []), (0, [GROW])])
def test_growing_the_stack_is_no_work_of_a_function_of_go(tmp_path: Path, flags: int, called: list[int]) -> None:
    assert scanned(tmp_path, COUNT, flags).calls["callee"].tolist() == called


def test_a_loop_to_the_beginning_without_a_call_stays_one(tmp_path: Path) -> None:
    body = COUNT + b"\xeb" + struct.pack("b", -(6 + len(COUNT) + 2))
    assert scanned(tmp_path, body, FunctionFlag.GO).sites["loop_depth"].tolist() == [1]


class TestFunctionValues:
    def test_a_closure_is_taken_where_it_is_made(self, tmp_path: Path) -> None:
        made = b"\x48\x8d\x0d" + struct.pack("<i", WORK - (BASE + 6 + 7)) + b"\x48\x89\x08"  # lea rcx; mov [rax], rcx
        found = scanned(tmp_path, made + call(6 + len(made), START), FunctionFlag.GO)
        assert found.sites[["ip", "target", "function"]].tolist() == [(BASE + 6, WORK, 0)]

    @pytest.mark.parametrize("offset", [0, 4])
    def test_the_address_of_a_word_stands_for_the_function_in_it(self, tmp_path: Path, offset: int) -> None:
        handed = b"\x48\x8d\x05" + struct.pack("<i", CONSTANTS + 0xB0 - offset - (BASE + 6 + 7))  # lea rax
        found = scanned(tmp_path, handed + call(6 + len(handed), START), FunctionFlag.GO)
        assert arguments(found, START) == ({} if offset else {0: WORK})

    def test_of_c_it_is_a_word(self, tmp_path: Path) -> None:
        handed = b"\x48\x8d\x3d" + struct.pack("<i", CONSTANTS + 0xB0 - (BASE + 6 + 7))  # lea rdi
        assert arguments(scanned(tmp_path, handed + call(6 + len(handed), START), 0), START) == {}


@pytest.mark.parametrize(("flags", "places"), [(FunctionFlag.GO, {0: DATA, 1: DATA + 8}), (0, {0: DATA + 16})])
def test_arguments_are_in_the_registers_of_the_language(tmp_path: Path, flags: int, places: dict[int, int]) -> None:
    moves = [b"\xb8" + struct.pack("<i", DATA), b"\xbb" + struct.pack("<i", DATA + 8)]  # eax, ebx, edi
    body = b"".join([*moves, b"\xbf" + struct.pack("<i", DATA + 16)])
    found = arguments(scanned(tmp_path, body + call(6 + len(body), START), flags), START)
    assert {number: found.get(number) for number in places} == places
