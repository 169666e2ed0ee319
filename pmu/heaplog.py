"""Where a program allocated its memory: the notes that ``record --heap`` makes, as one file beside a profile.

Owns the format of the notes, as ``elfscan/native/heap`` writes them: for each process a header and records of fixed
size.  ``pmu.probednotes`` has the same from probes.
What an allocation is to a line is ``sharing.sampled.heap``'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.errors import Malformed, Unrecognized
from sharing.model.heap import NOTE_DTYPE, Notes
from sharing.model.inputs import open_input

MAGIC = b"LMHEAP1\n"
HEADER_DTYPE = np.dtype(
    [
        ("magic", "S8"),
        ("record_bytes", "<u4"),
        ("pid", "<u4"),
        ("capacity", "<u8"),
        ("used", "<u8"),
        ("left_out", "<u8"),
        ("reserved", "<u8", (3,)),
    ]
)
MAX_BYTES = 100 << 20  # more than half a million notes
_KINDS = 2
# Older recordings have notes with fewer frames.
_SHORT_DTYPE = np.dtype(
    [(name, NOTE_DTYPE[name]) for name in NOTE_DTYPE.names or () if name != "stack"] + [("stack", "<u8", (8,))]
)
_FORMS = {form.itemsize: form for form in (NOTE_DTYPE, _SHORT_DTYPE)}


def heap_of(profile: Path) -> Path:
    """Where the notes of a profile's allocations lie."""
    return profile.with_name(profile.name + ".heap")


@dataclass(frozen=True, slots=True)
class Joined:
    """What went into a file of notes."""

    noted: int
    left_out: int


def join_logs(logs: Iterable[Path], out: Path) -> Joined:
    """The notes of all processes as one file, without the room that was not used."""
    noted = left_out = 0
    room = MAX_BYTES
    with out.open("wb") as file:
        for path in sorted(logs):
            with open_input(path, "notes of allocations") as log:
                data = log.read(HEADER_DTYPE.itemsize)
                if len(data) < HEADER_DTYPE.itemsize or data[: len(MAGIC)] != MAGIC:
                    continue  # the process ended before it began
                header = np.frombuffer(data, HEADER_DTYPE).copy()
                used = min(int(header["used"][0]), int(header["capacity"][0]))
                room -= HEADER_DTYPE.itemsize
                records = log.read(max(min(used * NOTE_DTYPE.itemsize, room), 0))
            whole = len(records) // NOTE_DTYPE.itemsize
            room -= whole * NOTE_DTYPE.itemsize
            left_out += used - whole
            header["used"] = header["capacity"] = whole
            file.write(header.tobytes() + records[: whole * NOTE_DTYPE.itemsize])
            noted, left_out = noted + whole, left_out + int(header["left_out"][0])
    return Joined(noted, left_out)


def write_notes(rows: npt.NDArray[Any], left_out: int, out: Path) -> None:
    """A file of notes of several processes under one header."""
    header = np.zeros(1, HEADER_DTYPE)
    header["magic"], header["record_bytes"], header["left_out"] = MAGIC, NOTE_DTYPE.itemsize, left_out
    header["used"] = header["capacity"] = len(rows)
    out.write_bytes(header.tobytes() + rows.tobytes())


def read_notes(path: Path) -> Notes:
    """Raises Unrecognized where the file has no notes, Malformed where they cannot be."""
    name = str(path)
    with open_input(path, "notes of allocations") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unrecognized(name, f"notes of allocations have at most {MAX_BYTES} bytes")
    if data and data[: len(MAGIC)] != MAGIC:
        raise Unrecognized(name, "not the notes of `record --heap`")
    parts, left_out, at = [], 0, 0
    while at < len(data):
        begin = at + HEADER_DTYPE.itemsize
        if begin > len(data) or data[at : at + len(MAGIC)] != MAGIC:
            raise Malformed(name, at, "no header of a process's notes")
        (header,) = np.frombuffer(data, HEADER_DTYPE, 1, at)
        form = _FORMS.get(int(header["record_bytes"]))
        if form is None:
            raise Malformed(name, at, f"notes of {int(header['record_bytes'])} bytes, not {NOTE_DTYPE.itemsize}")
        used = int(header["used"])
        if used > (len(data) - begin) // form.itemsize:
            raise Malformed(name, at, f"{used} notes, for which the file has no room")
        notes = np.frombuffer(data, form, used, begin)
        wrong = np.flatnonzero((notes["kind"] > _KINDS) | (notes["frames"] > notes["stack"].shape[1]))
        if len(wrong):
            where = begin + int(wrong[0]) * form.itemsize
            raise Malformed(name, where, "a note of no known kind, or with more frames than fit")
        parts.append(_widened(picked(notes, notes["kind"] > 0)))  # 0: the process was ended while it wrote it
        left_out = min(left_out + int(header["left_out"]), (1 << 63) - 1)
        at = begin + used * form.itemsize
    rows = np.concatenate(parts) if parts else np.zeros(0, NOTE_DTYPE)
    return Notes(rows[np.argsort(rows["time"], kind="stable")], left_out)


def _widened(notes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """With room for as many frames as notes have today."""
    if notes.dtype == NOTE_DTYPE:
        return notes
    out = np.zeros(len(notes), NOTE_DTYPE)
    for name in notes.dtype.names or ():
        if name != "stack":
            out[name] = notes[name]
    out["stack"][:, : notes["stack"].shape[1]] = notes["stack"]
    return out
