"""Streams of facts a line at a time: which unit a line is of, and one stream made of two.

Owns no judgement of which unit is to come from where.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import msgspec

from linemate.checking import gitbase
from sharing.model.facts import FactsEnd
from sharing.model.inputs import open_input


class Head(msgspec.Struct, frozen=True):
    """What of a line of facts says which unit it is of; other fields are skipped."""

    kind: str
    path: str = ""
    directory: str = ""
    files: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    @property
    def unit_path(self) -> str:
        """Absolute."""
        return posixpath.join(self.directory, self.path)

    @property
    def key(self) -> str:
        """The unit's path without links."""
        return os.path.realpath(self.unit_path)

    @property
    def broken(self) -> bool:
        """Nothing or not all is known of the unit."""
        return self.kind == "failure" or bool(self.errors)


def heads(stream: Path) -> Iterator[tuple[bytes, Head]]:
    decode = msgspec.json.Decoder(Head).decode
    with open_input(stream) as lines:
        for line in lines:
            if line.strip():
                yield line, decode(line)


def broken_units(stream: Path) -> list[str]:
    return [head.unit_path for _, head in heads(stream) if head.broken]


def renaming(changes: gitbase.Changes, home: str) -> Callable[[bytes], bytes]:
    """Turns names of files in a line of facts into those of the working tree, below ``home``."""
    renamed = {_in_json(f"{home}/{old}"): _in_json(f"{home}/{new}") for new, old in changes.renamed.items()}
    longest = sorted(renamed, key=len, reverse=True)
    if not renamed:
        return lambda line: line
    pattern = re.compile(b"(" + b"|".join(map(re.escape, longest)) + rb')(?=["\\:@])')
    return lambda line: pattern.sub(lambda found: renamed[found[1]], line)


def _in_json(text: str) -> bytes:
    return msgspec.json.encode(os.fsencode(text).decode("utf-8", "replace"))[1:-1]


def join(current: Path, kept: set[str], parsed: Path | None, renamed: Callable[[bytes], bytes], out: Path) -> Path:
    """One stream: the units of ``current`` that are ``kept`` and those of ``parsed``, in the order of ``current``.

    ``renamed`` is applied to each line of ``parsed``.  The order of units decides the predicted layout: one that was
    parsed again stays where it is in ``current``, or an edit of a comment would move it and what it meets.  Units that
    ``current`` lacks come last.
    """
    units = 0
    with out.open("wb") as stream, _Parsed(parsed, renamed) as again:
        for line, head in heads(current):
            if head.kind == "header":
                stream.write(line)
            elif head.kind in ("unit", "failure"):
                found = line if head.kind == "unit" and head.key in kept else again.take(head.key)
                if found is not None:
                    stream.write(found)
                    units += 1
        for line in again.rest():
            stream.write(line)
            units += 1
        stream.write(msgspec.json.encode(FactsEnd(units=units, failed=0, cached=0)) + b"\n")
    return out


class _Parsed:
    """The units of a stream by path; their lines stay in the file until they are taken."""

    def __init__(self, stream: Path | None, renamed: Callable[[bytes], bytes]) -> None:
        self._renamed = renamed
        self._file = open_input(stream) if stream is not None else None
        self._spans: dict[str, deque[tuple[int, int]]] = defaultdict(deque)
        begin = 0
        for line in self._file or ():
            if line.strip() and (head := msgspec.json.decode(renamed(line), type=Head)).kind == "unit":
                self._spans[head.key].append((begin, len(line)))
            begin += len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def take(self, key: str) -> bytes | None:
        """The next unit of that path: a source may be compiled more than once."""
        waiting = self._spans.get(key)
        return self._read(*waiting.popleft()) if waiting else None

    def rest(self) -> Iterator[bytes]:
        """What nobody took, in the order of the stream."""
        for begin, size in sorted(span for waiting in self._spans.values() for span in waiting):
            yield self._read(begin, size)

    def _read(self, begin: int, size: int) -> bytes:
        assert self._file is not None
        self._file.seek(begin)
        return self._renamed(self._file.read(size))
