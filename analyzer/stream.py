"""Reading the stream of facts that ``linemate-facts`` writes.

Owns the checks on it: each line's shape, the schema's version, and that the stream has its end.  Merges nothing.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from sharing.model import LinemateError, Malformed
from sharing.model.facts import FACTS_SCHEMA, FactsEnd, FactsHeader, FactsLine
from sharing.model.inputs import open_input

MAX_LINE_BYTES = 256 << 20  # a unit with all of a large program's headers has some 20 MB
_MEMORY_NAME = "facts"  # what bytes are called in errors


@dataclass(slots=True)
class Position:
    """Where the last line that was read begins, for errors that show up in what it says."""

    name: str = ""
    offset: int = 0


def read_facts(source: bytes | Path, at: Position | None = None) -> Iterator[FactsLine]:
    """The lines of a stream, each decoded when it is asked for; ``at`` is kept at the last one.

    Raises ``Malformed`` with the byte offset of a line that is not one of facts, for lines out of place and for a
    stream without its end line, and ``LinemateError`` for a file that cannot be read or is of another schema.
    """
    if isinstance(source, bytes):
        yield from _lines(io.BytesIO(source), _MEMORY_NAME, at or Position())
        return
    try:
        with open_input(source, "a stream of facts") as stream:
            yield from _lines(stream, str(source), at or Position())
    except OSError as error:
        raise LinemateError(f"{source}: {error.strerror or error}") from error


def _lines(stream: IO[bytes], name: str, at: Position) -> Iterator[FactsLine]:
    decoder = msgspec.json.Decoder(FactsLine)
    offset = 0
    seen_header = False
    while raw := stream.readline(MAX_LINE_BYTES):
        if not raw.endswith(b"\n"):
            why = "cut off in a line" if len(raw) < MAX_LINE_BYTES else "a line without end"
            raise Malformed(name, offset, why)
        line = _decode(decoder, raw, name, offset)
        if isinstance(line, FactsHeader):
            if seen_header:
                raise Malformed(name, offset, "a second header")
            if line.schema != FACTS_SCHEMA:
                raise LinemateError(
                    f"{name}: facts of schema {line.schema!r:.60}, this linemate reads {FACTS_SCHEMA!r}"
                )
            seen_header = True
        elif not seen_header:
            raise Malformed(name, offset, "facts without a header")
        at.name, at.offset = name, offset
        yield line
        offset += len(raw)
        if isinstance(line, FactsEnd):
            if stream.read(1):
                raise Malformed(name, offset, "more behind the end line")
            return
    raise Malformed(name, offset, "cut off: no end line")


def _decode(decoder: msgspec.json.Decoder[FactsLine], raw: bytes, name: str, offset: int) -> FactsLine:
    try:
        return decoder.decode(raw)
    except RecursionError:
        raise Malformed(name, offset, "nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Malformed(name, offset, f"not a line of facts: {error}") from error
