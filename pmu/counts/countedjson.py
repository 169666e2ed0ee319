"""JSON documents of counts: read within bounds, and looked into without trusting a type.

Owns what any field of such a document may be.  Knows no format.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.inputs import read_input

MAX_BYTES = 256 << 20  # packed or not
# What a file may unpack to: so many times its size (such documents have 10 to 20 times), and so much in any case.
MAX_EXPANSION, ALWAYS_BYTES = 100, 16 << 20
MAX_COUNT = 1 << 60
MAX_LINE = 1 << 31
GZIP = b"\x1f\x8b"
BLOCK_BYTES = 1 << 20
_BEGIN = re.compile(rb"\s*\{")
_BETWEEN = re.compile(r"\s*+")


def text_of(path: Path) -> bytes:
    """All of a file, unpacked where it is compressed."""
    data = read_input(path, MAX_BYTES, "a file of counts")
    if not data.startswith(GZIP):
        return data
    unpack = zlib.decompressobj(wbits=31)
    try:
        most = min(MAX_BYTES, max(ALWAYS_BYTES, MAX_EXPANSION * len(data)))
        out = unpack.decompress(data, most)
    except zlib.error as error:
        raise Malformed(str(path), None, f"is compressed and cannot be unpacked ({error})") from None
    if unpack.unconsumed_tail:
        raise Malformed(str(path), None, f"has more than {most} bytes when it is unpacked")
    if not unpack.eof:
        raise Malformed(str(path), len(data), "ends within its compressed data: it was cut off")
    return out


def documents(path: Path, mark: bytes, what: str) -> list[dict[str, Any]]:
    """The objects of a file, one after the other, of which the first has the key ``mark`` near its beginning."""
    data = text_of(path)
    if _BEGIN.match(data) is None or mark not in data[: 1 << 16]:
        raise Unrecognized(str(path), f"is not what {what} writes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(str(path), error.start, "is not text in UTF-8") from None
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        try:
            one, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            position = getattr(error, "pos", at)
            raise Malformed(str(path), len(text[:position].encode()), "is not JSON from here on") from None
        if not isinstance(one, dict):
            raise Malformed(str(path), None, "has something else than an object at its top")
        found.append(one)
        between = _BETWEEN.match(text, end)
        at = between.end() if between is not None else end
    return found


class Fields:
    """Fields of the objects of one file, each of the type that it must have."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def objects(self, of: dict[str, Any], key: str) -> list[dict[str, Any]]:
        rows = self.rows(of, key)
        if not all(isinstance(row, dict) for row in rows):
            raise self.malformed(key, "list of objects")
        return rows

    def rows(self, of: dict[str, Any], key: str) -> list[Any]:
        value = of.get(key, [])
        if not isinstance(value, list):
            raise self.malformed(key, "list")
        return value

    def text(self, of: dict[str, Any], key: str) -> str:
        value = of.get(key, "")
        if not isinstance(value, str) or "\0" in value:
            raise self.malformed(key, "text")
        return value

    def count(self, of: dict[str, Any], key: str) -> int:
        return self.number(of.get(key), key)

    def number(self, value: object, key: str, most: int = MAX_COUNT) -> int:
        # Counters of threads that race without atomics can end below zero; what they count is not known.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value > most:
            raise self.malformed(key, f"number up to {most}")
        return max(value, 0)

    def malformed(self, key: str, what: str) -> Malformed:
        return Malformed(self.path, None, f"has no {what} under {key!r}")
