"""How often each thread can have used members of records on the heap: an upper bound, by the lines of the source.

Owns the way from a member to what was counted: the source says at which line a member is accessed, debug information
which instructions were made of that line, the counts how often each thread executed them.  Of which object a line's
run was is not counted, and a line may run without the access: whoever did it less often did not share anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from bench.truth.apart import Pair
from bench.truth.truth import Truth, spans
from elfscan.debug.linetable import LineTable, read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.counted.shareduse import NamedSpan, SharedUse, shared_use
from sharing.counted.weigh import Floats
from sharing.model.finding import Finding, Participant
from sharing.model.image import Image
from sharing.model.profile import Range
from sharing.model.types import RECORD_KINDS
from sharing.source.declarations import core, element
from sharing.source.program import Program
from sharing.source.threadnumbers import Numbered
from sharing.source.uses import Use, Uses

SOURCE = "/source/"  # ends the folder in which a program was built
NESTED = 4  # records within records that are looked into


class Lines:
    """Executions of lines of source by thread, of one counted file."""

    def __init__(self, truth: Truth, table: LineTable) -> None:
        self._counted = truth.counted
        counts, functions = truth.counted.table, truth.image.functions
        row = table.at(counts["address"])
        of = np.searchsorted(functions["address"], counts["address"], "right").astype(np.int64) - 1
        here = row >= 0
        self._rows = counts[here]
        self._function = of[here]
        self._line = table.rows["line"][row[here]]
        self._file = table.rows["file"][row[here]]
        self._files = {short(name): number for number, name in enumerate(table.files)}
        self._known: dict[tuple[int, int], Floats] = {}
        self._order = np.lexsort((self._line, self._file))

    def __call__(self, file: str, line: int) -> Floats:
        """Of each function that has code of the line what it executed most often, all functions together."""
        number = self._files.get(short(file), -1)
        if (number, line) not in self._known:
            self._known[number, line] = self._executed(number, line)
        return self._known[number, line]

    def _executed(self, number: int, line: int) -> Floats:
        files = self._file[self._order]
        first, last = np.searchsorted(files, [number, number + 1])
        at = self._order[first:last]
        first, last = np.searchsorted(self._line[at], [line, line + 1])
        at = at[first:last]
        functions, of = np.unique(self._function[at], return_inverse=True)
        most = np.zeros((len(functions), len(self._counted.threads)))
        np.maximum.at(most, (of, self._rows["thread"][at]), self._rows["executions"][at])
        total: Floats = most.sum(axis=0)
        return total


def short(name: str) -> str:
    """A file as it is called below the folder of the source, wherever that was."""
    _, found, rest = name.rpartition(SOURCE)
    parts: list[str] = []
    for part in (rest if found else name).split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


class Members:
    """The records of a program, and what threads can have done to their members."""

    def __init__(self, program: Program, truth: Truth) -> None:
        path = truth.image.path
        self._program, self._counted = program, truth.counted
        self._lines = Lines(truth, read_lines(ElfFile(path, map_file(path))))
        self._uses = Uses(program, Numbered())
        self._known: dict[str, list[Use]] = {}

    def met(self, finding: Finding, at: list[tuple[str, Range]]) -> SharedUse | None:
        """The two participants and threads that can have met most often; None where no two can.

        ``at``: the record of each, and its bytes there.
        """
        named = [NamedSpan(p.full_name, span) for p, span in zip(finding.participants, spans(finding), strict=True)]
        places = zip(named, at, strict=True)
        counted = {one.span: self._executed(self.uses(key, span)) for one, (key, span) in places}
        return shared_use(Pair(self._counted, counted), named)

    def uses(self, key: str, span: Range, depth: int = 0) -> list[Use]:
        """Accesses and locks that name these bytes of a record, but for those that set up a new one.

        A pointer to a record within it may lead there as well.
        """
        record = self._program.records.get(key)
        if record is None:
            return []
        if key not in self._known:
            self._known[key] = [use for use in self._uses.of_record(key) if not use.new]
        found = [use for use in self._known[key] if _overlap(use.offset, use.size, span)]
        for member in record.facts.members if depth < NESTED else ():
            inner, offset = core(member.type), member.offset_bits // 8
            if inner is None or inner.kind not in RECORD_KINDS or not _overlap(offset, inner.size, span):
                continue
            if 0 <= inner.count < len(self._program.units[record.unit].records):
                nested = self._program.record_key(record.unit, inner.count)
                found += self.uses(nested, (span[0] - offset, span[1] - offset), depth + 1)
        return found

    def _executed(self, uses: Iterable[Use]) -> tuple[Floats, Floats]:
        """Writes, and all uses, by thread: the line of each access, as often as it says so."""
        wrote, used = (np.zeros(len(self._counted.threads)) for _ in range(2))
        for use in uses:
            file, line, _ = use.source.rsplit(":", 2)
            times = self._lines(file, int(line))
            used += times
            if use.writes:
                wrote += times
        return wrote, used


class Places:
    """Where participants of findings are in their records: by the object that was laid out, or by the name alone."""

    def __init__(self, program: Program, instances: Image) -> None:
        self._program, self._starts = program, instances.variables["address"]
        self._keys = {one.facts.name: key for key, one in reversed(program.records.items())}

    def __call__(self, finding: Finding) -> list[tuple[str, Range]]:
        """The record's key, "" unknown, and the bytes of each participant that are on the line."""
        return [self._place(p, span) for p, span in zip(finding.participants, spans(finding), strict=True)]

    def _place(self, participant: Participant, span: Range) -> tuple[str, Range]:
        if participant.identity in self._program.records:
            start = int(self._starts[np.searchsorted(self._starts, np.uint64(span[0]), "right") - 1])
            return participant.identity, (span[0] - start, span[1] - start)
        key, offset = self.by_name(participant.full_name)
        start = int(participant.address, 16) - offset
        return key, (span[0] - start, span[1] - start)

    def by_name(self, name: str) -> tuple[str, int]:
        """``struct pool.head.first``: the record and where the member begins in it."""
        bare = name.removeprefix("struct ").removeprefix("class ").removeprefix("union ")
        for at in (m.start() for m in re.finditer(r"\.", bare)):
            key = self._keys.get(bare[:at], "")
            offset = self._offset(key, bare[at + 1 :].split(".")) if key else None
            if offset is not None:
                return key, offset
        return "", 0

    def _offset(self, key: str, path: list[str]) -> int | None:
        record = self._program.records[key]
        for member in record.facts.members:
            inner, first = core(element(member.type)[0]), member.offset_bits // 8
            known = inner is not None and 0 <= inner.count < len(self._program.units[record.unit].records)
            below = self._program.record_key(record.unit, inner.count) if inner is not None and known else ""
            if member.name and member.name == path[0].partition("[")[0]:
                if len(path) == 1:
                    return first
                rest = self._offset(below, path[1:]) if below in self._program.records else None
                return None if rest is None else first + rest
            if not member.name and below in self._program.records:
                rest = self._offset(below, path)
                if rest is not None:
                    return first + rest
        return None


def _overlap(offset: int, size: int, span: Range) -> bool:
    return offset < span[1] and span[0] < offset + max(size, 1)
