"""``audit --counts``: exact executions of a binary as evidence for and against its findings.

Owns the match between counted modules and the binary, the order of the steps and what the report says of the counts.
Weighing, judging and joining are ``sharing.counted``'s.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from elfscan.code.boundaries import on_instructions
from elfscan.fileformat.elf import ElfFile, map_file
from linemate.auditing.countplacement import Placed, placed
from pmu.counts import read_executions
from sharing.counted.join import join
from sharing.counted.shareduse import graded
from sharing.counted.weigh import Counted, weigh
from sharing.judge.passes import Passes
from sharing.judge.static import Judgement, JudgeOptions, judge_passes
from sharing.model.errors import LinemateError
from sharing.model.executions import FIRST, CountedThread, Executions, Table
from sharing.model.finding import Finding
from sharing.model.image import Image, SectionKind
from sharing.model.plural import count

MIN_MATCHED = 0.98  # of the counted addresses that were looked at: code of the file has data between instructions
MAX_NAMED = 5  # files that an error names


@dataclass(frozen=True, slots=True)
class CountedFindings:
    """Findings with what the counts say."""

    findings: list[Finding]
    counts: dict[str, int]
    notes: list[str]


def read_counts(paths: Sequence[str]) -> Executions:
    """The counts of a run.  Raises LinemateError also where nothing was executed."""
    executions = read_executions(paths)
    if not len(executions.table) and not executions.named:
        raise LinemateError(f"{paths[0]}: counts no instruction")
    return executions


def with_counts(executions: Executions, passes: Passes, judgement: Judgement, options: JudgeOptions) -> CountedFindings:
    """1. the counts of this image; 2. the same rules on counted weights; 3. join with the findings from code."""
    image = passes.image
    if image.synthetic:
        raise LinemateError(f"{image.path}: is not linked: no run can have executed it")
    if executions.named:
        found = placed(executions.named, passes)
        threads = (CountedThread(0, FIRST, round(found.instructions)),)
        counted_here = Counted(found.table, threads, together=True, estimated=found.estimated, unknown=found.unknown)
        notes = _named_notes(executions, found)
    else:
        rows = _of_image(executions, image)
        counted_here = Counted(rows, executions.threads)
        notes = []
    weighed = weigh(passes, counted_here)
    if not executions.named:
        notes = _notes(executions, counted_here.table, weighed.counted.reused)
    counted = judge_passes(weighed.passes, options, lambda drafts: graded(drafts, weighed))
    images = {id(one): one for one in judgement.behind.values()}
    reached = {at: weigh(one, counted_here) for at, one in images.items()}
    behind = {name: reached[id(one)] for name, one in judgement.behind.items()}
    findings, joined = join(judgement.findings, counted.findings, weighed, behind)
    sites = weighed.passes.accesses.sites
    ran = weighed.executions.any(axis=1)
    counts = {
        "counted_threads": len(executions.threads),
        "counted_instructions": len(np.unique(weighed.counted.table["address"])),
        "counted_accesses": int(ran.sum()),
        "accesses_not_executed": int((~ran & ~np.isin(sites["ip"], weighed.counted.unknown)).sum()),
        **joined,
    }
    return CountedFindings(findings, counts, notes)


def _of_image(executions: Executions, image: Image) -> Table:
    """The counts of this image's instructions.

    Raises LinemateError where the counts have none of them, or are of another build.
    """
    modules = _modules(executions, image)
    rows = executions.of_module(modules)
    addresses = np.unique(rows["address"])
    code = [(s.address, s.end) for s in image.sections if s.kind is SectionKind.CODE and s.size]
    outside = np.ones(len(addresses), bool)
    for start, end in code:
        outside &= (addresses < start) | (addresses >= end)
    elf = ElfFile(image.path, map_file(image.path))
    looked, matched = on_instructions(elf, image.functions, addresses)
    if outside.mean() > 1 - MIN_MATCHED or matched < MIN_MATCHED * looked:
        where = f"{executions.modules[modules[0]]}"
        wrong = f"{int(outside.sum())} of {len(addresses)} counted addresses lie outside of its code"
        if matched < MIN_MATCHED * looked:
            wrong = f"{looked - matched} of {looked} counted addresses are not those of instructions"
        raise LinemateError(f"{image.path}: the counts of {where} are of another build: {wrong}")
    return rows


def _modules(executions: Executions, image: Image) -> list[int]:
    """The counted files that are this image: by path, else by name, else by build-id, as of a stripped copy."""
    own = os.path.realpath(image.path)
    names = executions.modules
    found = [i for i, name in enumerate(names) if name.startswith("/") and os.path.realpath(name) == own]
    found = found or [i for i, name in enumerate(names) if os.path.basename(name) == os.path.basename(own)]
    found = found or [i for i, name in enumerate(names) if image.build_id and _build_id(name) == image.build_id]
    if found:
        return found
    totals = np.bincount(executions.table["module"], executions.table["executions"], len(names))
    order = [names[i] for i in np.argsort(-totals, kind="stable").tolist() if totals[i]]
    raise LinemateError(
        f"{image.path}: the counts do not cover it; they have {', '.join(order[:MAX_NAMED])}; what was "
        f"run has to have its name, or to be where it was with the same build-id"
    )


def _build_id(path: str) -> str:
    """Of a file that the counts name, "" where there is none or it has none."""
    if not (path.startswith("/") and os.path.isfile(path)):
        return ""
    with contextlib.suppress(LinemateError):
        return ElfFile(path, map_file(path)).build_id or ""
    return ""


def _named_notes(executions: Executions, found: Placed) -> list[str]:
    what = "samples in proportion to executions" if executions.named.sampled else "executions"
    notes = [
        f"counts: {what} by {found.how}, from {executions.recorder}, of all threads together; which threads use what, "
        f"and whether they do so at the same time, is what the code says"
    ]
    if len(found.unknown):
        notes.append(
            f"counts: {count(len(found.unknown), 'instruction')} that may matter here in code that was not counted"
        )
    return notes


def _notes(executions: Executions, rows: Table, reused: Collection[int]) -> list[str]:
    """What the counts are of, and what they cannot say."""
    total = sum(t.instructions for t in executions.threads)
    own = int(rows["executions"].sum())
    threads = len(executions.threads)
    few = "" if threads == 1 else "s"
    notes = [
        f"counts: {total:,} instructions of {threads} thread{few}, {100 * own / max(total, 1):.0f} % of them in this "
        f"file; how often each thread uses what is exact, whether two do so at the same time is not known"
    ]
    if threads == 1:
        notes.append("the counts have one thread: nothing in them can be shared")
    if len(executions.processes) > 1:
        notes.append(f"the counts are of {len(executions.processes)} processes, which share no variables of this file")
    if reused:
        numbers = ", ".join(str(executions.threads[t].number) for t in sorted(reused)[:MAX_NAMED])
        notes.append(
            f"several threads had the number {numbers}, one after the other: what they share with each other is not "
            f"counted; let threads that belong together live at the same time"
        )
    return notes
