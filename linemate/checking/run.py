"""``linemate check`` around the pipeline: which units, compared with what, and what of it is new.

Owns the order of a check: find the commands, gather facts, judge, then judge the base or read the baseline and keep
what is new.  Judging is the pipeline's, git is ``linemate.checking.gitbase``'s, edits are ``sharing.fix``'s.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from linemate import baseline, database
from linemate.cachedir import bases_folder, facts_folder
from linemate.checking import basefacts, exchanged
from linemate.checking.metbefore import met_before
from linemate.checking.newcomers import newcomers, with_newcomers
from linemate.options import DEFAULT_LINE_SIZE, CheckOptions, FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Report, Severity
from sharing.model.inputs import read_source
from sharing.model.process.scratch import subfolder

if TYPE_CHECKING:
    from sharing.judge.comparedheat import ComparedHeat
    from sharing.source.program import Program

SHORT_ID = 12  # digits of a commit that people read


@dataclass(frozen=True, slots=True)
class Comparison:
    """What findings are compared with: a revision, a file, or nothing; and the file that is to accept them."""

    base: str = ""
    file: str = ""
    accept: str = ""
    trusts_repository: bool = False  # git may run what its configuration names
    build: str = ""  # makes the base's program, to be compared with ``CheckOptions.binary``


def facts_request(
    named: str | None, sources: Sequence[str], flags: Sequence[str] | None, jobs: int, *, cached: bool
) -> FactsRequest:
    """What the user asked to have analysed; without ``named`` and ``flags`` the nearest compile database is found."""
    folder = facts_folder() if cached else None
    cache = str(folder) if folder is not None else None
    if flags is not None:
        if named is not None:
            raise LinemateError("-p names a compile database, flags after -- replace one: give either")
        if not sources:
            raise LinemateError("flags after --, but no SOURCE to compile with them")
        return FactsRequest(sources=tuple(sources), flags=tuple(flags), jobs=jobs, cache=cache)
    path = database.named_database(named) if named is not None else database.find_database(Path.cwd())
    if not database.read_database(path):
        # A gate that passes because nothing was looked at would be worse than none.
        raise LinemateError(f"{path}: names no unit")
    return FactsRequest(database=str(path), sources=tuple(sources), jobs=jobs, cache=cache)


def check(options: CheckOptions, against: Comparison) -> tuple[Report, Program]:
    """Check the sources, and keep of the findings those that are new against ``against``, with their edits.

    The program is what was read.
    """
    _refuse_contradictions(options, against)
    if not against.base and not against.file and not against.accept:
        return judged(options)
    # Everything is compared: a note that became severe is new, an accepted one is accepted at its severity.
    whole = dataclasses.replace(options, min_severity=Severity.NOTE)
    if against.base:
        report, program = _against_revision(whole, against, options.min_severity)
    else:
        everything, program = _judge(whole)
        everything = _with_age(everything, options, program)
        report = _against_files(everything, against, options)
    return _with_edits(report, program, options), program


def judged(options: CheckOptions) -> tuple[Report, Program]:
    """Check the sources against nothing: findings with their edits, and what was read."""
    report, program = _judge(options)
    return _with_edits(_with_age(report, options, program), program, options), program


def _judge(options: CheckOptions) -> tuple[Report, Program]:
    from linemate.checking.linked import check_built
    from linemate.source import read_program

    program = read_program(options)
    return check_built(program, options), program


def _with_age(
    report: Report, options: CheckOptions, program: Program, base: Program | None = None, built: Path | None = None
) -> Report:
    from linemate.checking.linked import with_age

    return with_age(report, options, program, base, built)


def _moved_by_others(report: Report, program: Program, base: Program, least: Severity) -> tuple[str, ...]:
    from linemate.checking.moved import moved_by_others

    return moved_by_others(report, program, base, least) if base is not program else ()


def judged_line_size(report: Report, options: CheckOptions) -> int:
    """Bytes of the lines that a report is about."""
    return options.line_size or (report.targets[0].line_size if report.targets else DEFAULT_LINE_SIZE)


def _with_edits(report: Report, program: Program, options: CheckOptions) -> Report:
    """The report with the edits of those remedies for which they are known."""
    if not report.findings:
        return report
    from sharing.fix.edits import with_edits
    from sharing.fix.plan import Planner
    from sharing.fix.style import FixOptions

    style = FixOptions(judged_line_size(report, options), options.project.fix.align_macro or "")
    planner = Planner(program, read_source, style)
    return msgspec.structs.replace(report, findings=tuple(with_edits(finding, planner) for finding in report.findings))


def _refuse_contradictions(options: CheckOptions, against: Comparison) -> None:
    if against.base and (against.file or against.accept):
        raise LinemateError("--base compares with a revision, --baseline with a file: give either")
    if against.trusts_repository and not against.base:
        raise LinemateError("--trust-repository needs --base")
    if against.build and not (against.base and options.binary):
        raise LinemateError("--build makes the program of the base: it takes --base REV and --binary FILE")
    if against.base and (options.objects or (options.binary and not against.build)):
        raise LinemateError(
            "--base compares what the sources say, and the base has no --objects or --binary: "
            "use --baseline FILE, or --binary FILE with --build COMMAND"
        )
    if against.accept and (options.rules or options.symbols):
        raise LinemateError("--write-baseline accepts every finding: not with --rule or --symbol")
    if against.accept and options.min_confidence is not Confidence.LAYOUT:
        raise LinemateError("--write-baseline accepts every finding: not with --min-confidence")


def _against_files(everything: Report, against: Comparison, options: CheckOptions) -> Report:
    """Compare with the accepted findings, and accept all of them where that was asked."""
    known = baseline.read_baseline(against.file) if against.file else {}
    what = f"baseline {against.file}" if against.file else ""
    notes = []
    if against.file and not (options.rules or options.symbols or everything.incomplete):
        gone = len(known.keys() - baseline.known_findings(everything).keys())
        if gone:
            are = "1 finding of the baseline is" if gone == 1 else f"{gone:,} findings of the baseline are"
            notes.append(f"{are} no longer found: --write-baseline drops what is gone")
    if against.accept and everything.incomplete:
        # A part of the findings would look like all of them, and the rest like new ones next time.
        notes.append(f"{against.accept} was not written: the analysis is incomplete")
    elif against.accept:
        baseline.write_baseline(against.accept, everything)
        if not against.file:
            known, what = baseline.known_findings(everything), f"accepted in {against.accept}"
    report = baseline.only_new(everything, known, what, options.min_severity)
    return _with_notes(report, notes)


def _with_notes(report: Report, notes: Sequence[str]) -> Report:
    coverage = msgspec.structs.replace(report.coverage, notes=(*report.coverage.notes, *notes))
    return msgspec.structs.replace(report, coverage=coverage)


def _comparable(options: CheckOptions, heat: ComparedHeat) -> CheckOptions:
    """Options by which two revisions are judged alike."""
    # What a change adds may meet a lock beside which an old pair is as bad or worse: of two revisions each pair counts.
    return dataclasses.replace(options, every_pair=True, heat=heat)


def _everything(options: CheckOptions, stream: Path, built: Path | None) -> CheckOptions:
    """Options that leave nothing of the base out."""
    return dataclasses.replace(
        options,
        streams=(str(stream),),
        binary=str(built or ""),
        min_confidence=Confidence.LAYOUT,
        symbols=(),
        project=msgspec.structs.replace(options.project, suppress=()),
        edits=False,
    )


def _against_revision(options: CheckOptions, against: Comparison, least: Severity) -> tuple[Report, Program]:
    from sharing.judge.comparedheat import ComparedHeat

    heat = ComparedHeat()
    options = _comparable(options, heat)
    request, revision = options.facts, against.base
    here = os.getcwd()
    entries = database.entries_of(request, here)
    repository = basefacts.find_repository(entries, here, trusted=against.trusts_repository)
    commit = repository.resolve(revision)
    # First, since it may fail after a moment and takes longest otherwise.
    built: Path | None = None
    if against.build:
        from linemate.checking import basebuild

        built = basebuild.base_binary(repository, commit, against.build, options.binary)
    from linemate.source import gather_facts

    with subfolder("check") as scratch:

        def gather(wanted: FactsRequest) -> Path:
            return gather_facts(wanted, options.project, scratch)

        current = gather(request)
        ours = dataclasses.replace(options, streams=(str(current),))
        report, program = _judge(dataclasses.replace(ours, edits=False))
        base = basefacts.base_facts(
            repository,
            commit,
            basefacts.CurrentFacts(entries, request, current),
            basefacts.Folders(scratch, bases_folder() if request.cache else None),
            gather,
        )
        before, old = report, program
        if built or base.stream != current or options.symbols or options.min_confidence is not Confidence.LAYOUT:
            before, old = _judge(_everything(options, base.stream, built))
        what = f"{revision} at {commit[:SHORT_ID]}" if revision != commit else commit[:SHORT_ID]
        known = baseline.known_findings(before)
        known = {**met_before(report, before), **baseline.renamed_findings(report, before), **known}
        swapped = exchanged.exchanges(report, before, old, known, heat.busy_before)
        known = {**{key: one.was.severity for key, one in swapped.items()}, **known}
        moved = () if built else _moved_by_others(baseline.without_new(report, known, least), program, old, least)
        report = baseline.without_improved(report, before)
        moved += exchanged.notes(report, swapped, least)
        compared = baseline.only_new(report, known, what, least, every_pair=True)
        if compared.findings:
            # Mostly nothing is new, and then nobody has to know how to part what is not.
            came = newcomers(compared.findings, before, old)
            parted = _judge(dataclasses.replace(ours, min_severity=least, newcomers=came))[0]
            new = baseline.only_new(baseline.without_improved(parted, before), known, what, least, every_pair=True)
            told = exchanged.told(with_newcomers(new.findings, before, least), swapped)
            compared = msgspec.structs.replace(new, findings=told, hidden=compared.hidden)
    if built and compared.findings:
        compared = _with_culprit(compared, built, options)
    compared = _with_age(_with_notes(compared, (*moved, *base.notes)), options, program, old, built)
    counts = {**compared.coverage.counts, "base_units_parsed": base.parsed}
    coverage = msgspec.structs.replace(compared.coverage, counts=counts)
    return msgspec.structs.replace(compared, coverage=coverage), program


def _with_culprit(compared: Report, base: Path, options: CheckOptions) -> Report:
    """What moved since the base was built, in a note and at the findings that it brought."""
    from linemate.checking import basebuild
    from linemate.checking.culprit import attributed

    builds = basebuild.what_moved(base, options.binary, options.project, options.line_size)
    if builds is None:
        return compared
    compared = msgspec.structs.replace(compared, findings=attributed(compared.findings, builds))
    return _with_notes(compared, basebuild.in_one_sentence(builds))
