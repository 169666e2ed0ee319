"""The reader of AutoFDO's profile as text: samples by function and line, inlined functions within their callers.

Owns that text (LLVM's "Sample Profile format").  ``NAME:TOTAL:HEAD`` begins a function; below it, deeper by one blank,
``LINE[.DISCRIMINATOR]: COUNT [CALLEE:COUNT…]`` counts a line from the function's first one, and
``LINE[.DISCRIMINATOR]: NAME:TOTAL`` begins what was inlined there.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.executions import EXECUTION_DTYPE, Executions, NamedCounts
from sharing.model.inputs import open_input

MAX_LINE_BYTES = 1 << 17
MAX_ROWS = 1 << 22
MAX_COUNT = 1 << 60
MAX_DEPTH = 1 << 10
HEAD = re.compile(rb"(\S.*):(\d{1,20}):(\d{1,20})$")
SAMPLES = re.compile(rb"( +)(\d{1,9})(?:\.\d{1,9})?: (\d{1,20})(?: .*)?$")
INLINED = re.compile(rb"( +)(\d{1,9})(?:\.\d{1,9})?: (\S.*):(\d{1,20})$")
REMARK = re.compile(rb" +!\w+:")


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file."""
    reader = _Reader(str(path))
    with open_input(path, "a file of counts") as file:
        while line := file.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise reader.wrong(f"has a line of more than {MAX_LINE_BYTES} bytes")
            reader.take(line.rstrip(b"\r\n"))
            reader.at += len(line)
            reader.rows += 1
            if reader.rows > MAX_ROWS:
                raise Malformed(str(path), reader.at, f"has more than {MAX_ROWS} lines")
    relative = reader.relative
    if not relative:
        raise Unrecognized(str(path), "has no samples of a function as AutoFDO writes them")
    named = NamedCounts(relative=relative, runs=reader.runs, sampled=True)
    return Executions(np.empty(0, EXECUTION_DTYPE), (), (), (), "", "AutoFDO", named)


class _Reader:
    """Samples so far, and the functions that the current line is within: one a level."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.at = self.rows = 0
        self.within: list[tuple[str, int]] = []  # and which of the places where it is, by number
        self.contexts = 0
        self.best: dict[tuple[str, int, int], int] = {}  # by function, place and line
        self.runs: dict[str, int] = {}

    @property
    def relative(self) -> dict[tuple[str, int], int]:
        """Samples by function and line, of all places where the function is."""
        out: dict[tuple[str, int], int] = {}
        for (name, _, line), count in self.best.items():
            out[name, line] = out.get((name, line), 0) + count
        return out

    def take(self, line: bytes) -> None:
        if not line or line.startswith(b"#"):
            return
        head = HEAD.match(line)
        if head is not None and not line.startswith(b" "):
            # With contexts: "[main:3 @ f]" is f, called from there.
            name = self._name(head[1].strip(b"[]").rpartition(b" @ ")[2])
            self.within = []
            self._enter(name)
            self.runs[name] = self.runs.get(name, 0) + self._count(head[3])
            return
        if REMARK.match(line) and self.within:
            return
        samples, inlined = SAMPLES.match(line), INLINED.match(line)
        row = samples or inlined
        if row is None or not 0 < len(row[1]) <= len(self.within):
            raise self.wrong("is not a line of AutoFDO's text format")
        del self.within[len(row[1]) :]
        if samples is not None:
            key = *self.within[-1], int(samples[2])
            # Discriminators tell blocks of one line apart: the line was executed as often as the busiest of them.
            self.best[key] = max(self.best.get(key, 0), self._count(samples[3]))
        elif inlined is not None:
            if len(self.within) >= MAX_DEPTH:
                raise self.wrong(f"has more than {MAX_DEPTH} functions within each other")
            self._enter(self._name(inlined[3]))

    def _enter(self, name: str) -> None:
        self.contexts += 1
        self.within.append((name, self.contexts))

    def _name(self, name: bytes) -> str:
        """Without what compilers append to copies of a function."""
        return name.decode("utf-8", "replace").partition(".llvm.")[0]

    def _count(self, word: bytes) -> int:
        count = int(word)
        if count > MAX_COUNT:
            raise self.wrong(f"counts more than {MAX_COUNT} samples")
        return count

    def wrong(self, why: str) -> Malformed | Unrecognized:
        """The first line decides whose file it is."""
        return Malformed(self.path, self.at, why) if self.within else Unrecognized(self.path, why)
