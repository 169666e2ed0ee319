"""``linemate audit``: flags of one binary's audit into options, the report out."""

from __future__ import annotations

import dataclasses
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from linemate import lastreport
from linemate.commands import common
from linemate.commands.groups import DocumentOptions, FindingOptions, ProjectOptions, grouped
from linemate.options import AuditOptions
from linemate.output import check_output, progress
from reports import EMITTERS
from reports.escape import visible
from sharing.model.finding import NAMES, Report
from sharing.model.memorymap import MemoryMap

if TYPE_CHECKING:
    from linemate.auditing.image import AuditedImage
    from linemate.pairguard import PairGuard
    from sharing.judge.passes import Passes

PARQUET = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What else is known of the binary."""

    samples: tuple[str, ...]
    counts: tuple[str, ...]
    facts: tuple[str, ...]
    debug_file: str | None
    debuginfod: bool

    @property
    def files(self) -> tuple[str | None, ...]:
        return (self.debug_file, *self.facts, *self.samples, *self.counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadOptions:
    """Who audits several files."""

    resume: bool
    engine: str
    scheduler: str | None
    jobs: int

    def refuse_contradictions(self, *, several: bool, as_tables: bool) -> None:
        if self.resume and not several:
            raise click.UsageError("--resume is of several files or folders")
        if not as_tables and (self.engine != common.LOCAL or self.scheduler is not None):
            raise click.UsageError("--engine and --scheduler are of --format parquet: their workers write the results")


@click.command("audit")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@common.finding_options(PARQUET)
@click.option(
    "--samples",
    multiple=True,
    metavar="FILE",
    help="A profile of BINARY (perf.data and others): what runs on which threads at what cost; may be repeated.",
)
@click.option(
    "--counts",
    multiple=True,
    metavar="FILE",
    help="Executions: by thread of callgrind (a file or the name it was given), by line or branch of gcov, llvm-cov, "
    "llvm-profdata, BOLT or AutoFDO: may be repeated.",
)
@click.option(
    "--facts",
    multiple=True,
    metavar="FILE",
    help="What the source says: a stream of linemate-facts; may be repeated.",
)
@click.option(
    "--guards",
    metavar="FILE",
    help="Pairs that must not share a line, as linemate guard wrote them; one that does is a finding.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Of many files: go on where a run was ended; what is done is kept in OUTPUT.partial, or in the datasets.",
)
@common.engine_options("audits for --format parquet")
@click.option("-j", "--jobs", type=click.IntRange(0, 64), default=0, help="Files at once; default: one a core.")
@common.threads_option
@common.debug_option
@common.debuginfod_option
@common.brevity_options
@common.common_options
@grouped(document=DocumentOptions, wanted=FindingOptions, evidence=Evidence, where=ProjectOptions, spread=SpreadOptions)
def command(
    paths: tuple[str, ...],
    document: DocumentOptions,
    wanted: FindingOptions,
    evidence: Evidence,
    where: ProjectOptions,
    spread: SpreadOptions,
    guards: str | None,
    assume_threads: bool,
) -> int:
    """Judge every global by the cache line that it is on: of a binary, of several, or of all below a folder.

    Of several files and of folders, ELF files and archives are read, each once, and links within folders are not
    followed.  A file that cannot be read does not stop the others.
    """
    project, line_size = where.read()
    limit = wanted.limit(project)
    wanted.check_rules()
    options = AuditOptions(
        binary=paths[0],
        line_size=line_size,
        samples=evidence.samples,
        counts=evidence.counts,
        facts=evidence.facts,
        min_confidence=wanted.confidence,
        min_severity=wanted.severity(limit),
        rules=wanted.rules,
        symbols=wanted.symbols,
        fail_on=limit,
        debug_file=evidence.debug_file,
        project=project,
        assume_threads=assume_threads,
        guards=_guards(guards) if guards is not None else (),
    )
    inputs = (*paths, guards, project.path or None, *evidence.files)
    as_tables = document.format_name == PARQUET
    several = len(paths) > 1 or os.path.isdir(paths[0]) or as_tables
    spread.refuse_contradictions(several=several, as_tables=as_tables)
    if several and evidence.debuginfod:
        raise click.UsageError("--debuginfod is of one file: audit the worst again with it")
    if several:
        from linemate.commands.auditmany import TreeRequest

        alone = dataclasses.replace(options, spread=False)
        many = TreeRequest(paths, alone, document.output, spread.jobs, spread.resume, document.quiet)
        if as_tables:
            return many.store(spread.engine, spread.scheduler)
    check_output(document.output, inputs)
    page = document.format_of(EMITTERS) == "html"
    maps: list[MemoryMap] = []

    def finish(report: Report) -> int:
        lastreport.keep(report)
        document.write(report, EMITTERS, inputs, document.render_options(document.rules_of(EMITTERS), limit, maps))
        return common.exit_code(report, limit)

    return (
        many.report(finish)
        if several
        else finish(_audit(options, maps if page else None, document, asked=evidence.debuginfod))
    )


def _guards(path: str) -> tuple[PairGuard, ...]:
    from linemate.guardfile import read_guards

    return read_guards(path)


def _audit(options: AuditOptions, maps: list[MemoryMap] | None, document: DocumentOptions, *, asked: bool) -> Report:
    """The report; ``maps`` gets the map of each image.  ``asked``: servers may be asked for debug information."""
    from linemate.debuginfod import find_debug_files
    from linemate.pipeline import audit

    def draw(passes: Passes, audited: AuditedImage) -> None:
        from linemate.auditing.pagemap import page_map

        assert maps is not None
        maps.append(page_map(passes, audited))

    unanswered: list[str] = []  # a note: who reads a report that was kept has not seen the terminal
    denied: frozenset[str] = frozenset()
    with progress(f"linemate: reading {visible(options.binary)}", quiet=document.quiet) as say:
        if options.debug_file is None:
            denied = find_debug_files((options.binary,), asked=asked, say=unanswered.append)
        report = audit(options, say, on_image=None if maps is None else draw)
    named = any(target.debug for target in report.targets)
    if named or document.output not in (None, "-"):
        for text in unanswered:
            common.say(text)
    if named:
        return report
    from linemate.distribution import unpacked_as, where_names_are

    again = shlex.join(["linemate", "audit", "--debuginfod", options.binary])
    then = unpacked_as("--debug-file", "FOLDER", report.targets[0].build_id) if len(report.targets) == 1 else ""
    hint = where_names_are(options.binary, again=again, asked=asked, denied=bool(denied), then=then)
    if asked or not hint:
        from linemate.askedinvain import names_from_files

        report = names_from_files(report, own=not asked)
    return common.with_notes(report, (*unanswered, *((f"{NAMES}{hint}",) if hint else ())))
