"""An audit of many files into datasets: which file goes to the engine, and what is said of all in the end.

Owns the sums.  They and the worst few files are kept, however many there are; everything else is in the datasets.
"""

from __future__ import annotations

import dataclasses
import heapq
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from linemate.auditing.asking import Answer, Stored, Task
from linemate.fleet.folders import is_url
from linemate.fleet.store import AUDITED, FAILED, INCOMPLETE, LEFT_OUT, LOST, Store
from linemate.fleet.storing import stamp_of
from linemate.options import AuditOptions
from reports.escape import visible
from sharing.model.finding import Severity
from sharing.model.plural import count

Engine = Callable[[Sequence[Task]], Iterator[tuple[str, Answer]]]

WORST = 10
NAMED = 20
_SEVERITIES = tuple(sorted(Severity, key=lambda severity: -severity.rank))


@dataclass(slots=True)
class Tally:
    """What became of the files; ``worst`` are those with the worst findings.

    ``failed`` are the first few reasons, ``unsure`` the first few files that could not be analysed whole.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    known: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    worst: list[tuple[tuple[int, ...], str]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)

    def add(self, file: str, stored: Stored) -> None:
        self.statuses[stored.status] += 1
        self.known += stored.known
        self.findings.update(stored.numbers)
        numbers = tuple(stored.numbers.get(severity, 0) for severity in _SEVERITIES)
        if any(numbers):
            self.worst = heapq.nlargest(WORST, [*self.worst, (numbers, file)])
        if stored.status == INCOMPLETE:
            self.unsure = heapq.nsmallest(NAMED, [*self.unsure, file])
        if stored.error:
            self.failed = heapq.nsmallest(NAMED, [*self.failed, f"{file}: {stored.error}"])

    @property
    def incomplete(self) -> bool:
        return any(self.statuses[status] for status in (INCOMPLETE, FAILED, LOST))

    def reaches(self, limit: Severity) -> bool:
        return any(self.findings[severity] for severity in Severity if severity.rank >= limit.rank)

    def text(self, folder: str) -> str:
        """What a person is told."""
        named = [
            f"{self.statuses[status]:,} {status}" for status in (AUDITED, INCOMPLETE, FAILED, LOST, LEFT_OUT)
        ]  # fmt: skip
        lines = [f"{count(self.statuses.total(), 'file')}: {', '.join(named)}; results in {visible(folder)}"]
        if self.known:
            lines.append(
                f"results of {count(self.known, 'file')} were there, or are those of another with the same bytes"
            )
        lines.append(f"findings: {_numbers([self.findings[severity] for severity in _SEVERITIES]) or 'none'}")
        lines += [f"  {_numbers(numbers)}  {visible(file)}" for numbers, file in self.worst]
        lines += [f"not audited: {visible(why)}" for why in self.failed]
        unnamed = self.statuses[FAILED] + self.statuses[LOST] - len(self.failed)
        if unnamed > 0:
            lines.append(f"and {unnamed:,} more not audited: dataset files has all")
        if self.unsure:
            more = self.statuses[INCOMPLETE] - len(self.unsure)
            named_files = ", ".join(map(visible, self.unsure)) + (f" and {more:,} more" if more else "")
            lines.append(f"not analysed whole: {named_files}; linemate audit FILE of one says why")
        return "\n".join(lines) + "\n"


def store_files(
    files: Sequence[str],
    options: AuditOptions,
    folder: str,
    engine: Engine,
    *,
    resume: bool,
    others: int = 0,
    say: Callable[[str], None] = lambda how_far: None,
) -> Tally:
    """Audit files into the datasets below ``folder``.  Raises LinemateError where these cannot be written.

    ``others``: so many more were looked at and left out, because they begin like no ELF file; they have no rows.
    """
    options = dataclasses.replace(options, binary="", spread=False)
    folder = _anywhere(folder)  # workers are elsewhere
    store = Store(folder, options)
    tally = Tally(Counter({LEFT_OUT: others} if others else ()))
    tasks = [Task(os.fsencode(_anywhere(file)), options, folder, resume) for file in files]
    for file, answer in engine(tasks):
        stored = answer.stored
        if stored is None:
            stored = Stored(LOST, answer.error.removeprefix(f"{file}: "))
            store.add_file(file, stamp_of(file), None, stored)
        tally.add(file, stored)
        say(f"{tally.statuses.total() - others:,} of {count(len(files), 'file')}")
    return tally


def _anywhere(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,} {severity}" for number, severity in zip(numbers, _SEVERITIES, strict=True) if number)
