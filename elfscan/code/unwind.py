"""Function extents from unwind information, for code without symbols: .eh_frame_hdr and .eh_frame.

Owns the parts of the format (LSB Core, "Exception Frames") that give a frame's code range.  Reads no
unwind instructions.  The search table of .eh_frame_hdr gives every frame at once, so that a table of 35k
frames is read by array operations; without it the records are walked one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile
from sharing.model.arrays import distinct, leading, picked, positions, words_at

Array = npt.NDArray[Any]

DW_EH_PE_OMIT, DW_EH_PE_PCREL, DW_EH_PE_DATAREL, DW_EH_PE_INDIRECT = 0xFF, 0x10, 0x30, 0x80
_FORMATS = {0x01: 0, 0x02: 2, 0x03: 4, 0x04: 8, 0x09: 0, 0x0A: -2, 0x0B: -4, 0x0C: -8}  # < 0: signed; 0: LEB128
_TABLE_ENCODING = DW_EH_PE_DATAREL | 0x0B  # sdata4 relative to the header: the only one linkers write
MAX_FRAMES = 4_000_000

EXTENT_DTYPE = np.dtype([("address", "<u8"), ("size", "<u8")])


def read_extents(elf: ElfFile) -> Array:
    """Code ranges of all frames, sorted by address, one per start.  Empty where the file has no frames.

    Frames outside of the file are left out and recorded in ``elf.losses``.
    """
    frame = elf.losses.attempt("unwind frames", lambda: _frame_section(elf), None)
    if frame is None:
        return np.zeros(0, EXTENT_DTYPE)
    data, address = frame
    offsets = elf.losses.attempt(
        "the index of unwind frames",
        lambda: _offsets_from_header(elf, data, address),
        None,
        then="the frames are followed one by one",
        incomplete=False,
    )
    if offsets is None:
        offsets = _walk(elf, data)
    extents = _decode(elf, data, address, offsets)
    extents = picked(extents, extents["size"] > 0)
    extents = extents[np.lexsort((-extents["size"].astype(np.int64), extents["address"]))]
    return extents[leading(extents["address"])]


def _frame_section(elf: ElfFile) -> tuple[Array, int] | None:
    """(.eh_frame's bytes, its address); from the program headers when the section table is stripped."""
    row = elf.find_section(".eh_frame")
    if row is not None:
        data = elf.section_bytes(row)
        return (data, int(elf.sections["address"][row])) if data.size else None
    header = _header(elf)
    if header is None or elf.named:
        return None
    raw, at = header
    # version, pointer encoding, count encoding, table encoding, pointer to .eh_frame
    if raw.size < 8 or raw[0] != 1 or raw[1] != (DW_EH_PE_PCREL | 0x0B):
        return None
    start = at + 4 + int(elf.words(raw[4:8], 4).view("<i4")[0])
    for load in elf.loads:
        low, size = int(load["address"]), int(load["file_size"])
        if low <= start < low + size:
            return elf.bytes_at_address(start, low + size - start, "the frame table"), start
    return None


def _header(elf: ElfFile) -> tuple[Array, int] | None:
    row = elf.find_section(".eh_frame_hdr")
    if row is not None:
        return elf.section_bytes(row), int(elf.sections["address"][row])
    found = picked(elf.segments, elf.segments["type"] == c.PT_GNU_EH_FRAME)
    if not len(found):
        return None
    size = int(found[0]["file_size"])
    return elf.bytes_at(int(found[0]["offset"]), size, "the frame header"), int(found[0]["address"])


def _offsets_from_header(elf: ElfFile, data: Array, address: int) -> Array | None:
    """Offsets of the frames in .eh_frame by the header's search table, None when there is no usable one."""
    header = _header(elf)
    if header is None:
        return None
    raw, at = header
    if raw.size < 12 or raw[0] != 1 or raw[2] != 0x03 or raw[3] != _TABLE_ENCODING or raw[1] & 0x0F != 0x0B:
        return None
    count = int(elf.words(raw[8:12], 4)[0])
    if count > (raw.size - 12) // 8:
        why = f"the frame header names {count} frames and has room for {(raw.size - 12) // 8}"
        raise elf.malformed(elf.offset_of(at), why)
    table = elf.words(raw[12 : 12 + count * 8], 4).view("<i4").reshape(-1, 2)
    distance = at - address
    if abs(distance) >= 1 << 62:
        raise elf.malformed(elf.offset_of(at), f"the frames are at {address:#x}, out of the header's reach")
    offsets = table[:, 1].astype(np.int64) + distance
    return offsets[(offsets >= 0) & (offsets <= data.size - 8)]


def _walk(elf: ElfFile, data: Array) -> Array:
    """Offsets of the frames by following the record lengths."""
    raw, order = data.tobytes(), elf.header.byteorder
    offsets: list[int] = []
    at = 0
    while at + 8 <= len(raw) and len(offsets) < MAX_FRAMES:
        length = int.from_bytes(raw[at : at + 4], order)
        if length == 0:
            break
        if length == 0xFFFF_FFFF or length > len(raw) - at - 4:
            break  # 64-bit records are written by no toolchain; what was read so far stands
        if raw[at + 4 : at + 8] != b"\0\0\0\0":
            offsets.append(at)
        at += 4 + length
    return np.array(offsets, np.int64)


def _decode(elf: ElfFile, data: Array, address: int, offsets: Array) -> Array:
    """The ranges of the frames at ``offsets``: grouped by the pointer encoding of their CIE."""
    if not len(offsets):
        return np.zeros(0, EXTENT_DTYPE)
    lengths = words_at(data, offsets, f"{elf.order}u4")
    distance = words_at(data, offsets + 4, f"{elf.order}u4")
    cies = offsets + 4 - distance.astype(np.int64)
    usable = (lengths >= 8) & (distance != 0) & (cies >= 0) & (cies < data.size - 9)
    offsets, cies = offsets[usable], cies[usable]
    entries = distinct(cies)
    encodings = np.array([_cie_encoding(elf, data, entry) for entry in entries.tolist()], np.int64)
    encodings = encodings[positions(entries, cies)]
    parts = []
    for encoding in distinct(encodings[encodings >= 0]).tolist():
        size = abs(_FORMATS.get(encoding & 0x0F, elf.header.bits // 8))
        rows = offsets[encodings == encoding]
        rows = rows[rows + 8 + 2 * size <= data.size]
        signed = "i" if encoding & 0x08 else "u"
        start = words_at(data, rows + 8, f"{elf.order}{signed}{size}").astype(np.int64).view(np.uint64)
        if encoding & 0x70 == DW_EH_PE_PCREL:
            start = start + (rows + 8).astype(np.uint64) + np.uint64(address)
        if elf.header.bits == 32:
            start &= np.uint64(0xFFFF_FFFF)
        part = np.empty(len(rows), EXTENT_DTYPE)
        part["address"] = start
        part["size"] = words_at(data, rows + 8 + size, f"{elf.order}u{size}")
        parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0, EXTENT_DTYPE)


def _cie_encoding(elf: ElfFile, data: Array, at: int) -> int:
    """The pointer encoding of a common information entry, -1 for one that cannot be used."""
    raw = data[at : at + 256].tobytes()
    length = int.from_bytes(raw[0:4], elf.header.byteorder)
    if length < 9 or raw[4:8] != b"\0\0\0\0":
        return -1
    version = raw[8]
    end = raw.find(b"\0", 9)
    if version not in (1, 3) or end < 0:
        return -1
    augmentation = raw[9:end]
    if not augmentation.startswith(b"z"):
        return 0 if not augmentation else -1
    at = end + 1
    at = _skip_leb128(raw, _skip_leb128(raw, at))  # code and data alignment factors
    at = at + 1 if version == 1 else _skip_leb128(raw, at)  # return address register
    at = _skip_leb128(raw, at)  # augmentation length
    for letter in augmentation[1:]:
        if at >= len(raw):
            return -1
        if letter == ord("R"):
            encoding = raw[at]
            bad = encoding & DW_EH_PE_INDIRECT or encoding & 0x70 not in (0, DW_EH_PE_PCREL)
            leb = _FORMATS.get(encoding & 0x0F, 1) == 0
            return -1 if bad or leb else encoding
        if letter == ord("P"):
            size = abs(_FORMATS.get(raw[at] & 0x0F, elf.header.bits // 8))
            if size == 0:
                return -1
            at += 1 + size
        elif letter == ord("L"):
            at += 1
        elif letter not in b"SBG":
            return -1
    return 0


def _skip_leb128(raw: bytes, at: int) -> int:
    while at < len(raw) and raw[at] & 0x80:
        at += 1
    return at + 1
