"""The fixed parts of a perf.data file: header, attributes with their ids, feature sections.

Owns where things are and what the features say.  Does not read records (``pmu.perfdata.records``).
Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.{h,c} of Linux.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass, field
from enum import IntEnum

from pmu.perfevent import ATTR_MIN_BYTES, MISC_BUILD_ID_SIZE, Attr, parse_attr
from sharing.model.errors import Malformed, Unrecognized

MAGIC, MAGIC_SWAPPED = b"PERFILE2", b"2ELIFREP"
OLD_MAGIC = b"PERFFILE"
PIPE_HEADER_BYTES = 16
FILE_HEADER_BYTES = 104
MAX_ATTRS = 1 << 15  # rows of ``Samples.events`` are 16 bits wide
MAX_ATTR_BYTES = 4096


class Feature(IntEnum):
    """Bits of the header's bitmap that are read here."""

    BUILD_ID = 2
    HOSTNAME = 3
    OSRELEASE = 4
    VERSION = 5
    ARCH = 6
    NRCPUS = 7
    CPUDESC = 8
    CMDLINE = 11
    EVENT_DESC = 12


@dataclass(slots=True)
class Descriptions:
    """What features say, collected: they come in any order, and in pipe mode between records."""

    texts: dict[Feature, str] = field(default_factory=dict)
    cpus: int = 0
    command: tuple[str, ...] = ()
    names: dict[int, str] = field(default_factory=dict)  # event id → name
    first_names: list[str] = field(default_factory=list)  # in order of the events, for those without ids
    build_ids: dict[str, str] = field(default_factory=dict)  # path → hexadecimal
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file, with checked access in its byte order."""

    path: str
    data: mmap.mmap | bytes
    big_endian: bool

    def unpack(self, layout: str, offset: int, what: str) -> tuple[int, ...]:
        return struct.unpack((">" if self.big_endian else "<") + layout, self.bytes(offset, _size(layout), what))

    def bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset < 0 or size < 0 or offset + size > len(self.data):
            raise Malformed(self.path, offset, f"{what} of {size} bytes goes past the end of the file")
        return bytes(self.data[offset : offset + size])


@dataclass(frozen=True, slots=True)
class Header:
    """Where the records are.  In pipe mode attributes and features are records themselves."""

    pipe: bool
    data_offset: int
    data_end: int
    missing_bytes: int
    attrs: tuple[tuple[Attr, tuple[int, ...]], ...]


def open_source(path: str, data: mmap.mmap | bytes) -> Source:
    """Raises Unrecognized unless the file begins as a perf.data file does."""
    magic = bytes(data[:8])
    if magic == OLD_MAGIC:
        raise Malformed(path, 0, "a perf.data file of version 1 (before Linux 3.4): record it again")
    if magic not in (MAGIC, MAGIC_SWAPPED):
        raise Unrecognized(path, "does not begin with PERFILE2")
    return Source(path, data, big_endian=magic == MAGIC_SWAPPED)


def read_header(source: Source, about: Descriptions) -> Header:
    """Header, attributes and features.  A broken feature is noted and costs only what it says."""
    (size,) = source.unpack("8xQ", 0, "the header")
    end = len(source.data)
    if size == PIPE_HEADER_BYTES:
        return Header(True, PIPE_HEADER_BYTES, end, 0, ())
    if size < FILE_HEADER_BYTES:
        raise Malformed(source.path, 8, f"a header of {size} bytes is neither a pipe's nor a file's")
    attr_size, attrs_at, attrs_size, data_at, data_size = source.unpack("16xQQQQQ", 0, "the header")
    features = _feature_bits(source)
    attrs = _read_attrs(source, attr_size, attrs_at, attrs_size)
    if data_at > end:
        raise Malformed(source.path, 40, f"the records should start at {data_at:#x}, the file has {end:#x} bytes")
    if not data_size:
        about.notes.append("perf record was killed before it could finish the file: read to its end")
        return Header(False, data_at, end, 0, attrs)
    data_end = data_at + data_size
    if data_end > end:
        about.notes.append(f"the file was cut: {data_end - end} bytes of records and all descriptions are missing")
        return Header(False, data_at, end, data_end - end, attrs)
    _read_features(source, data_end, features, about)
    return Header(False, data_at, data_end, 0, attrs)


def _read_features(source: Source, table: int, features: list[int], about: Descriptions) -> None:
    """Those behind the records.  What a cut took is one note, whatever it took."""
    end, whole = len(source.data), table + 16 * len(features)
    cut, broken = 0, []
    for index, bit in enumerate(features):
        try:
            offset, length = source.unpack("QQ", table + 16 * index, "the table of features")
            whole = max(whole, offset + length)
            read_feature(source, bit, source.bytes(offset, length, f"feature {bit}"), offset, about)
        except Malformed as error:
            if whole > end:
                cut += 1
            else:
                broken.append(f"feature {bit}: {error.why}")
    if cut:
        missing = "1 description is" if cut == 1 else f"{cut} descriptions are"
        about.notes.append(f"the file was cut: {end:,} of {whole:,} bytes are there; {missing} missing")
    if len(broken) > 1:
        broken = [f"{len(broken)} descriptions cannot be read, the first is {broken[0]}"]
    about.notes += broken


def _feature_bits(source: Source) -> list[int]:
    words = source.unpack("4Q", 72, "the header")
    bits = sum(word << 64 * index for index, word in enumerate(words))
    if source.big_endian and not bits >> Feature.HOSTNAME & 1:
        # An array of unsigned long: of 4 bytes each where the recorder was a 32-bit program.
        halves = source.unpack("8I", 72, "the header")
        bits = sum(half << 32 * index for index, half in enumerate(halves))
    return [bit for bit in range(256) if bits >> bit & 1]


def _read_attrs(source: Source, attr_size: int, at: int, size: int) -> tuple[tuple[Attr, tuple[int, ...]], ...]:
    if not ATTR_MIN_BYTES + 16 <= attr_size <= MAX_ATTR_BYTES:
        raise Malformed(source.path, 16, f"event attributes of {attr_size} bytes")
    count = size // attr_size
    if not 0 < count <= MAX_ATTRS:
        raise Malformed(source.path, 32, f"{count} events")
    attrs = []
    known = 0
    for index in range(count):
        entry = at + index * attr_size
        attr = parse_attr(source.bytes(entry, attr_size - 16, "an event"), big_endian=source.big_endian)
        ids_at, ids_size = source.unpack("QQ", entry + attr_size - 16, "an event's ids")
        known += ids_size
        if known > len(source.data):
            raise Malformed(source.path, entry, "more event ids than the file has room for")
        ids = source.unpack(f"{ids_size // 8}Q", ids_at, "an event's ids")
        attrs.append((attr, ids))
    return tuple(attrs)


def read_feature(source: Source, bit: int, body: bytes, offset: int, about: Descriptions) -> None:
    """One feature section; unknown ones are skipped.  Raises Malformed where it contradicts itself."""
    part = Source(source.path, body, source.big_endian)
    try:
        match bit:
            case Feature.HOSTNAME:
                return  # names nothing that a reader of samples needs
            case Feature.OSRELEASE | Feature.VERSION | Feature.ARCH | Feature.CPUDESC:
                about.texts[Feature(bit)] = _string(part, 0)[0]
            case Feature.NRCPUS:
                about.cpus = part.unpack("II", 0, "the number of CPUs")[1]
            case Feature.CMDLINE:
                about.command = tuple(_strings(part))
            case Feature.EVENT_DESC:
                _event_names(part, about)
            case Feature.BUILD_ID:
                _build_ids(part, about)
    except Malformed as error:
        raise Malformed(source.path, offset + (error.offset or 0), error.why) from error


def _string(part: Source, at: int) -> tuple[str, int]:
    (length,) = part.unpack("I", at, "a string's length")
    raw = part.bytes(at + 4, length, "a string")
    return raw.split(b"\0", 1)[0].decode("utf-8", "replace"), at + 4 + length


def _strings(part: Source) -> list[str]:
    (count,) = part.unpack("I", 0, "a list of strings")
    at, out = 4, []
    for _ in range(count):
        text, at = _string(part, at)
        out.append(text)
    return out


def _event_names(part: Source, about: Descriptions) -> None:
    count, attr_size = part.unpack("II", 0, "the event descriptions")
    at = 8
    for _ in range(count):
        at += attr_size
        (ids,) = part.unpack("I", at, "an event description")
        name, at = _string(part, at + 4)
        about.first_names.append(name)
        about.names.update(dict.fromkeys(part.unpack(f"{ids}Q", at, "an event's ids"), name))
        at += 8 * ids


def _build_ids(part: Source, about: Descriptions) -> None:
    at = 0
    while at + 8 <= len(part.data):
        _, misc, size = part.unpack("IHH", at, "a build-id")
        if size < 36:
            raise Malformed(part.path, at, f"a build-id record of {size} bytes")
        name, build_id = parse_build_id(part.bytes(at, size, "a build-id"), misc)
        about.build_ids[name] = build_id
        at += size


def parse_build_id(record: bytes, misc: int) -> tuple[str, str]:
    """Path and hexadecimal build-id of a PERF_RECORD_HEADER_BUILD_ID of 36 bytes or more, header included."""
    size = min(record[32], 20) if misc & MISC_BUILD_ID_SIZE else 20
    return record[36:].split(b"\0", 1)[0].decode("utf-8", "replace"), record[12 : 12 + size].hex()


def _size(layout: str) -> int:
    return struct.calcsize("=" + layout)
