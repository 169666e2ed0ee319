"""Many files in one audit: folders and lists of files, spread over processes, one report.

Owns which files of a folder are audited, the processes and what becomes of a file that cannot be read: it is named, and
the others go on.  The report lists findings in the order of files' names, whichever was done first.
"""

from __future__ import annotations

import dataclasses
import os
import select
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from linemate.auditing.asking import Answer, AuditingProcess, Task
from linemate.auditing.targets import of_target
from linemate.options import AuditOptions
from reports.order import worst_first
from reports.wording import target_name
from sharing.model.errors import LinemateError
from sharing.model.finding import SCHEMA, Coverage, Finding, Report, Target
from sharing.model.folders import walk
from sharing.model.inputs import NotReadable, open_input
from sharing.model.plural import count

MOST_PROCESSES = 64
FILE_S = 900.0  # far above what the largest kernel takes
NAMED = 20  # files that notes name; the others are counted
_MAGICS = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")


@dataclass(slots=True)
class Chosen:
    """The files of an audit, by name; ``others`` counts files of folders that are no ELF files or archives."""

    files: list[str] = field(default_factory=list)
    others: int = 0


def files_of(paths: Iterable[str]) -> Chosen:
    """Files as they were named, and of folders what begins like an ELF file or archive: each inode once, no links.

    Raises LinemateError for a name that is neither file nor folder.
    """
    chosen = Chosen()
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.lexists(path):
                raise LinemateError(f"{path}: no such file or folder")
            chosen.files.append(path)
            continue
        for folder, folders, names in walk(path):
            folders.sort()
            for name in sorted(names):
                file = os.path.join(folder, name)
                if (inode := _audited(file)) is None:
                    chosen.others += 1
                elif inode not in seen:
                    seen.add(inode)
                    chosen.files.append(file)
    chosen.files = list(dict.fromkeys(chosen.files))
    return chosen


def _audited(file: str) -> tuple[int, int] | None:
    """Device and inode of a regular file that begins as what is audited; None for others, and for links."""
    if os.path.islink(file):
        return None
    try:
        with open_input(file) as stream:
            status = os.fstat(stream.fileno())
            head = stream.read(8)
    except (NotReadable, OSError):
        return None
    return (status.st_dev, status.st_ino) if head.startswith(_MAGICS) else None


def audit_files(chosen: Chosen, options: AuditOptions, jobs: int, say: Callable[[str], None]) -> Report:
    """One report of all files.  ``options.binary`` is not used; ``say`` is told how many files are done."""
    answers = _answers(chosen.files, options, max(1, min(jobs, MOST_PROCESSES, len(chosen.files))), say)
    targets: list[Target] = []
    found: list[Finding] = []
    counts: Counter[str] = Counter()
    failed: list[str] = []
    unsure: list[str] = []
    hidden = suppressed = 0
    for path, answer in zip(chosen.files, answers, strict=True):
        if answer.report is None:
            failed.append(answer.error or f"{path}: not audited")
            continue
        report = answer.report
        targets += report.targets
        counts.update(report.coverage.counts)
        hidden += report.hidden
        suppressed += report.suppressed
        found += of_target(report.findings, target_name(report.targets[0]) if len(report.targets) == 1 else "")
        if report.incomplete:
            unsure.append(path)
    counts["files"] = len(chosen.files)
    return Report(
        schema=SCHEMA,
        command="audit",
        targets=tuple(targets),
        coverage=Coverage(dict(sorted(counts.items())), tuple(_notes(chosen, failed, unsure))),
        findings=tuple(worst_first(found)),
        suppressed=suppressed,
        hidden=hidden,
        incomplete=bool(failed or unsure),
    )


def _notes(chosen: Chosen, failed: Sequence[str], unsure: Sequence[str]) -> list[str]:
    notes = []
    if chosen.others:
        notes.append(f"{count(chosen.others, 'file')} of the folders no ELF files or archives: left out")
    notes += [f"not audited: {why}" for why in failed[:NAMED]]
    if len(failed) > NAMED:
        notes.append(f"and {len(failed) - NAMED:,} more not audited")
    if unsure:
        names = ", ".join(unsure[:NAMED]) + (f" and {len(unsure) - NAMED:,} more" if len(unsure) > NAMED else "")
        notes.append(
            f"{count(len(unsure), 'file')} not analysed whole: linemate audit FILE of one of them says why: {names}"
        )
    return notes


def _answers(files: Sequence[str], options: AuditOptions, processes: int, say: Callable[[str], None]) -> list[Answer]:
    """What became of each file.  A process that ends while it audits loses that file and is replaced."""
    waiting = deque(range(len(files)))
    answers = [Answer() for _ in files]
    done = 0
    with ExitStack() as running:
        idle = [running.enter_context(AuditingProcess()) for _ in range(processes)]
        busy: dict[int, tuple[AuditingProcess, int, float]] = {}
        while waiting or busy:
            while waiting and idle:
                process, number = idle.pop(), waiting.popleft()
                process.ask(Task(os.fsencode(files[number]), dataclasses.replace(options, binary="")))
                busy[process.descriptor] = (process, number, time.monotonic() + FILE_S)
            timeout_s = max(min(limit for _, _, limit in busy.values()) - time.monotonic(), 0.0)
            ready, _, _ = select.select(list(busy), [], [], timeout_s)
            late = [key for key, (_, _, limit) in busy.items() if limit <= time.monotonic()]
            for key in dict.fromkeys([*ready, *late]):
                process, number, _ = busy.pop(key)
                if key in ready:
                    answers[number] = process.answer() or Answer(
                        error=f"{files[number]}: the process that read it ended"
                    )
                else:
                    process.close()
                    answers[number] = Answer(error=f"{files[number]}: not done after {FILE_S:g} s")
                done += 1
                say(f"{done:,} of {count(len(files), 'file')}")
                idle.append(process)
    return answers
