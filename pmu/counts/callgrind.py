"""The reader of callgrind out files with instruction addresses: ``valgrind --tool=callgrind --dump-instr=yes``.

Owns the grammar (valgrind's "Callgrind Format Specification").  The own cost of an instruction in ``Ir`` is how often
it was executed; the line after ``calls=`` says what the callee cost and is no execution of the caller's.  A part that
does not add up to its own ``totals`` was cut off or changed, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.executions import EXECUTION_DTYPE, CountedThread, Executions, Part, Table, summed
from sharing.model.inputs import open_input

LOOK_AT_BYTES = 1 << 12  # in which the format must say what it is
MAX_LINE_BYTES = 1 << 16  # names of templates are long
MAX_MODULES = MAX_PARTS = 1 << 14
MAX_ROWS = 1 << 23  # distinct instructions by thread: a large server executes a few hundred thousand
MAX_EXECUTIONS = 1 << 60  # of a thread: decades at a gigahertz
ROWS_AT_ONCE = 1 << 18
ADDRESS_LIMIT = 1 << 64

MARK = re.compile(rb"^(?:# callgrind format|creator: callgrind)", re.MULTILINE)
KEY = re.compile(rb"([A-Za-z]{1,16})([:=])[ \t]*")
NAME = re.compile(rb"\((\d{1,9})\)(?:[ \t]+(.+))?$", re.DOTALL)
NUMBER = re.compile(rb"0x[0-9a-fA-F]{1,16}$|\d{1,20}$")
COST = frozenset(b"0123456789+-*")
# Places in source and callees, which say nothing about whose instruction was executed.
PLACES = frozenset((b"fl", b"fi", b"fe", b"fn", b"cfi", b"cfl", b"cfn", b"jfi", b"jfn", b"cob"))
JUMPS = frozenset((b"jump", b"jcnd"))


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file or one without what is needed."""
    with open_input(path, "a profile") as file:
        if MARK.search(file.read(LOOK_AT_BYTES)) is None:
            raise Unrecognized(str(path), "does not begin as files of callgrind do")
        file.seek(0)
        return _Reader(str(path), file).read()


@dataclass(slots=True)
class _Part:
    """What the header of a part says, and what was added up since."""

    process: int = 0
    thread: int = -1
    part: int = 1
    positions: tuple[bytes, ...] = (b"line",)
    events: tuple[bytes, ...] = ()
    costs: bool = False  # the header is over
    column: int = 0  # of the executions in a line of costs
    executed: int = 0


@dataclass(slots=True)
class _Reader:
    path: str
    file: BinaryIO
    at: int = 0  # offset of the line
    command: str = ""
    recorder: str = ""
    module: int = -1
    row: int = -1  # of the thread
    address: int = 0
    modules: dict[str, int] = field(default_factory=dict)
    numbered: dict[int, str] = field(default_factory=dict)
    threads: dict[tuple[int, int], int] = field(default_factory=dict)  # (process, number) → instructions
    row_of: dict[tuple[int, int], int] = field(default_factory=dict)  # of the same threads, in their order
    parts: list[Part] = field(default_factory=list)
    pending: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    tables: list[Table] = field(default_factory=list)
    rows: int = 0

    def read(self) -> Executions:
        part, skipped = _Part(), ""
        for line in self._lines():
            if line and line[0] in COST:
                if not part.costs:
                    self._begin(part)
                words = line.split()
                self._move(words[0])
                if skipped:
                    skipped = ""  # where a call or jump comes from
                elif len(words) > part.column:
                    self._add(part, self._number(words[part.column]))
                continue
            key = KEY.match(line)
            if key is None:
                if line and not line.startswith(b"#"):
                    raise self._malformed("is not a line of this format")
                continue
            name, value = key[1], line[key.end() :].strip()
            if key[2] == b"=":
                if not part.costs:
                    self._begin(part)
                skipped = "calls" if name == b"calls" else "jump" if name in JUMPS else skipped
                if name == b"ob":
                    self._flush()
                    self.module = self._module(value)
                elif name == b"cob":
                    self._name(value)
                elif not skipped and name not in PLACES:
                    raise self._malformed(f"has an unknown specification {name.decode()}=")
            elif name == b"totals":
                self._end(part, value)
                part = _Part(part.process, part.thread, part.part + 1, part.positions, part.events)
            elif part.costs:
                raise self._malformed("begins a part before the totals of the one above")
            else:
                self._header(part, name, value)
        if part.costs or skipped:
            raise self._malformed("ends before the totals: it was cut off")
        if not self.parts:
            raise self._malformed("has no counts")
        return self._finish()

    def _lines(self) -> Iterator[bytes]:
        while line := self.file.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise self._malformed(f"has a line of more than {MAX_LINE_BYTES} bytes")
            yield line.rstrip(b"\r\n")
            self.at += len(line)

    def _header(self, part: _Part, name: bytes, value: bytes) -> None:
        if name == b"pid":
            part.process = self._number(value)
        elif name == b"thread":
            part.thread = self._number(value)
        elif name == b"part":
            part.part = self._number(value)
        elif name == b"positions":
            part.positions = tuple(value.split())
        elif name == b"events":
            part.events = tuple(value.split())
        elif name == b"cmd":
            self.command = value.decode("utf-8", "replace")
        elif name == b"creator":
            self.recorder = value.decode("utf-8", "replace")

    def _begin(self, part: _Part) -> None:
        """The header is complete: can its costs be read as executions of instructions by a thread?"""
        if not part.positions or part.positions[0] != b"instr":
            raise self._malformed("counts source lines: record with --dump-instr=yes")
        if b"Ir" not in part.events:
            raise self._malformed("does not count executed instructions (no Ir among its events)")
        if part.thread < 0:
            raise self._malformed("adds up all threads: record with --separate-threads=yes")
        if len(self.parts) >= MAX_PARTS:
            raise self._malformed(f"has more than {MAX_PARTS} parts")
        part.costs, part.column = True, len(part.positions) + part.events.index(b"Ir")
        key = part.process, part.thread
        self.threads.setdefault(key, 0)
        self.row = self.row_of.setdefault(key, len(self.row_of))
        self.module, self.address = -1, 0

    def _end(self, part: _Part, value: bytes) -> None:
        self._flush()
        if not part.costs:
            self._begin(part)  # a thread that executed nothing since the last dump
        words, column = value.split(), part.column - len(part.positions)
        stated = self._number(words[column]) if len(words) > column else 0
        if stated != part.executed:
            raise self._malformed(f"adds up to {part.executed} executed instructions, its totals say {stated}")
        key = part.process, part.thread
        self.threads[key] += part.executed
        if self.threads[key] > MAX_EXECUTIONS:
            raise self._malformed(f"has more than {MAX_EXECUTIONS} executions in one thread")
        self.parts.append(Part(part.process, part.thread, part.part, self.path))

    def _add(self, part: _Part, count: int) -> None:
        part.executed += count
        if part.executed > MAX_EXECUTIONS:
            raise self._malformed(f"has more than {MAX_EXECUTIONS} executions in one thread")
        if count and self.module >= 0:
            self.pending[0].append(self.address)
            self.pending[1].append(count)
            if len(self.pending[0]) >= ROWS_AT_ONCE:
                self._flush()

    def _flush(self) -> None:
        addresses, counts = self.pending
        if not addresses:
            return
        rows = np.zeros(len(addresses), EXECUTION_DTYPE)
        rows["address"], rows["executions"] = addresses, counts
        rows["module"], rows["thread"] = self.module, self.row
        self.pending = ([], [])
        self.tables.append(summed(rows))
        self.rows += len(self.tables[-1])
        if self.rows > MAX_ROWS:
            self.tables = [summed(np.concatenate(self.tables))]
            self.rows = len(self.tables[0])
            if self.rows > MAX_ROWS // 2:
                raise self._malformed(f"counts more than {MAX_ROWS // 2} instructions")

    def _finish(self) -> Executions:
        table = summed(np.concatenate(self.tables)) if self.tables else np.empty(0, EXECUTION_DTYPE)
        threads = tuple(CountedThread(process, number, count) for (process, number), count in self.threads.items())
        return Executions(table, tuple(self.modules), threads, tuple(self.parts), self.command, self.recorder)

    def _move(self, word: bytes) -> None:
        """The address of a line of costs, which may be relative to the one before."""
        if word == b"*":
            return
        if word[:1] in (b"+", b"-"):
            step = self._number(word[1:])
            self.address += step if word[:1] == b"+" else -step
        else:
            self.address = self._number(word)
        if not 0 <= self.address < ADDRESS_LIMIT:
            raise self._malformed("names an instruction outside of the address space")

    def _number(self, word: bytes) -> int:
        if NUMBER.match(word) is None:
            raise self._malformed("has no number where one belongs")
        return int(word, 16 if word[:2] == b"0x" else 10)

    def _name(self, value: bytes) -> str:
        """A name, or the number that stands for one: "(3) /lib/libc.so.6" and from then on "(3)"."""
        if b"\0" in value:
            raise self._malformed("has a zero byte in the name of a file")
        found = NAME.match(value)
        if found is None:
            return value.decode("utf-8", "surrogateescape")
        number = int(found[1])
        if found[2] is not None:
            if len(self.numbered) >= MAX_MODULES:
                raise self._malformed(f"names more than {MAX_MODULES} files")
            self.numbered[number] = found[2].decode("utf-8", "surrogateescape")
        elif number not in self.numbered:
            raise self._malformed(f"has number {number} for a file that it has not named")
        return self.numbered[number]

    def _module(self, value: bytes) -> int:
        name = self._name(value)
        if name not in self.modules and len(self.modules) >= MAX_MODULES:
            raise self._malformed(f"names more than {MAX_MODULES} files")
        return self.modules.setdefault(name, len(self.modules))

    def _malformed(self, why: str) -> Malformed:
        return Malformed(self.path, self.at, why)
