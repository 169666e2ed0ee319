"""One report of many files: each is audited as if alone, and one that cannot be read does not stop the others.

Owns the report and its notes.  It lists findings in the order of files' names, whichever was done first.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from linemate.auditing.asking import Answer, Task
from linemate.auditing.choosing import Chosen
from linemate.auditing.processes import answers
from linemate.auditing.spool import Spool
from linemate.auditing.targets import of_target
from linemate.options import AuditOptions
from reports.order import worst_first
from reports.wording import target_name
from sharing.model.finding import ASK_SERVERS, SCHEMA, Coverage, Finding, Report, Target
from sharing.model.plural import count, named

NAMED = 20  # files that a note names; the others are counted
FAILED_NAMED = 1000


def audit_files(
    chosen: Chosen, options: AuditOptions, jobs: int, spool: Spool, say: Callable[[str], None] = lambda how_far: None
) -> Report:
    """One report of all files; those with an answer in ``spool`` are not read again.

    ``options.binary`` is not used; ``say`` is told how many files are done.
    """
    waiting = [file for file in chosen.files if not spool.has(file)]
    resumed = done = len(chosen.files) - len(waiting)
    lost: dict[str, Answer] = {}
    wanted = dataclasses.replace(options, binary="")
    for file, answer in answers([Task(os.fsencode(file), wanted) for file in waiting], jobs):
        if answer.lost:
            lost[file] = answer
        else:
            spool.add(file, answer)
        done += 1
        say(f"{done:,} of {count(len(chosen.files), 'file')}")
    return _report(chosen, lambda file: lost.get(file) or spool.answer(file), resumed)


def _report(chosen: Chosen, answer_of: Callable[[str], Answer], resumed: int) -> Report:
    targets: list[Target] = []
    found: list[Finding] = []
    counts: Counter[str] = Counter()
    failed: list[str] = []
    unsure: list[str] = []
    hidden = suppressed = too_unsure = 0
    others = chosen.others
    for path in chosen.files:
        answer = answer_of(path)
        if answer.other:
            others += 1
            continue
        if answer.report is None:
            failed.append(answer.error or f"{path}: not audited")
            continue
        report = answer.report
        targets += report.targets
        counts.update(report.coverage.counts)
        hidden += report.hidden
        too_unsure += report.unsure
        suppressed += report.suppressed
        found += of_target(
            _naming(report.findings, path), target_name(report.targets[0]) if len(report.targets) == 1 else ""
        )
        if report.incomplete:
            unsure.append(path)
    counts.update(
        files=len(chosen.files) + chosen.others - others,
        files_failed=len(failed),
        files_incomplete=len(unsure),
        files_left_out=others,
        files_resumed=resumed,
        files_unreadable=len(chosen.closed),
    )
    return Report(
        schema=SCHEMA,
        command="audit",
        targets=tuple(targets),
        coverage=Coverage(dict(sorted(counts.items())), tuple(_notes(others, chosen.closed, failed, unsure))),
        findings=tuple(worst_first(found)),
        suppressed=suppressed,
        hidden=hidden,
        unsure=too_unsure,
        incomplete=bool(failed or unsure or chosen.closed),
    )


def _naming(findings: Iterable[Finding], path: str) -> Iterator[Finding]:
    """The findings with the file's name in commands that are about one file."""
    command = ASK_SERVERS.replace("FILE", shlex.quote(path))
    for finding in findings:
        remedies = tuple(
            msgspec.structs.replace(remedy, text=remedy.text.replace(ASK_SERVERS, command))
            if ASK_SERVERS in remedy.text
            else remedy
            for remedy in finding.remedies
        )
        yield msgspec.structs.replace(finding, remedies=remedies) if remedies != finding.remedies else finding


def _notes(others: int, closed: Sequence[str], failed: Sequence[str], unsure: Sequence[str]) -> list[str]:
    notes = []
    if others:
        notes.append(f"{count(others, 'file')} left out that are no ELF files or archives, or links in a folder")
    if closed:
        notes.append(f"{count(len(closed), 'file')} that cannot be opened: {named(closed, NAMED)}")
    notes += [f"not audited: {why}" for why in failed[:FAILED_NAMED]]
    if len(failed) > FAILED_NAMED:
        notes.append(f"and {len(failed) - FAILED_NAMED:,} more not audited")
    if unsure:
        why = "linemate audit FILE of one of them says why"
        notes.append(f"{count(len(unsure), 'file')} not analysed whole: {why}: {named(unsure, NAMED)}")
    return notes
