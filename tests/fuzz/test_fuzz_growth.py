"""Inputs that once took the square of their length, or memory beyond any measure: now in proportion, or refused.

Each took many seconds, or three gigabytes, at the size that it has here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.python import targets
from fuzz.python.engine.judge import Limits, fault_of, limited_address_space
from fuzz.python.engine.target import use_folder

LIMITS = Limits(cpu_s=6.0, memory_bytes=512 << 20)
SIZE = 1 << 18
BLANKS = b" " * SIZE
SAMPLE = b"server 1/2 [0] 1.5: 10 cycles: "
MAP = b"Linker script and memory map\n\n"
ENTRY = b'[{"directory":"/","file":"%s","command":"%s"}]'
CASES = {
    "condition of a revision log": ("tables", b"revision-id: a\n### " + BLANKS + b":\n"),
    "heading of strace": ("tables", b"a:" + BLANKS + b"x\n"),
    "row of strace": (
        "tables",
        b"% time seconds usecs/call calls errors syscall\n 50.00 0.100000" + BLANKS + b"x\n",
    ),
    "operations in one sample": ("perf_script", (SAMPLE + b"1 |OP " * 2700 + b"\n") * 160),
    "names of sections without numbers": ("linker_map", MAP + b".a\n" * SIZE),
    "blanks in a name": ("nm_listing", b"0000000000404040 0000000000000028 B x" + BLANKS + b"y\n"),
    "dotted key": ("project_file", b"a" + b".a" * 40_000 + b" = 1\n"),
    "dotted key in a table": ("project_file", b"x = { a" + b" . a" * 40_000 + b" = 1 }\n"),
    "quotes without an end": ("source_tokens", b'"\\' * SIZE),
    "quotes without an end in a directive": ("source_tokens", b"#" + b'"\\' * SIZE),
    "comments without an end in a directive": ("source_tokens", b"#/*" * SIZE),
    "threads of a callgrind file": (
        "callgrind",
        b"# callgrind format\npositions: instr\nevents: Ir\n"
        + b"".join(b"thread: %d\ntotals: 0\n" % number for number in range(16_000)),
    ),
    "long path joined to many arguments": ("compile_database", ENTRY % (b"../" * SIZE, b"a " * 20_000)),
}


@pytest.mark.parametrize(("name", "data"), CASES.values(), ids=CASES)
def test_a_part_that_repeats_takes_no_square_of_its_length(tmp_path: Path, name: str, data: bytes) -> None:
    with use_folder(tmp_path), limited_address_space():
        fault = fault_of(targets.load(name), data, LIMITS)
    assert fault is None, f"{fault.signature}\n{fault.detail}"
