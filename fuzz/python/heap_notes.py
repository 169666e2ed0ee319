"""Notes of allocations (``pmu.heaplog``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from pathlib import Path

from fuzz.python.engine.target import Target, input_file
from pmu.heaplog import read_notes
from sharing.sampled.heap import Allocations, Frame
from tests.builders.heapnotes import Note, log

_FIRST = log(Note(10, 0x5000, 64, (0x401000, 0x401100)), Note(20, 0x6000, 8, (0x401010,)), Note(30, 0x5000))


def one(data: bytes) -> None:
    notes = read_notes(Path(input_file(data)))
    asked = Allocations(notes, lambda pid, stack, time: [Frame(f"{address:#x}") for address in stack])
    for pid, address, time in ((100, 0x5008, 15), (0, 0, 0), (100, (1 << 64) - 1, (1 << 64) - 1)):
        found = asked.at(pid, address, time)
        if found is not None:
            assert found.text


TARGET = Target(
    "notes of allocations",
    one,
    lambda: (_FIRST, log(), _FIRST + log(Note(5, 0x7000, 1 << 20, (1,), pid=7), left_out=3)),
    (_FIRST[:8], b"\x60\0\0\0", b"\xff" * 8, b"\x01\x02\0\0"),
)
