"""``linemate audit``: flags of one binary's audit into options, the report out."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

import click

from linemate import lastreport
from linemate.commands import common
from linemate.options import AuditOptions
from linemate.output import check_output, progress
from reports import EMITTERS
from reports.escape import visible
from sharing.model.finding import Confidence, Report
from sharing.model.memorymap import MemoryMap

if TYPE_CHECKING:
    from linemate.auditing.image import AuditedImage
    from sharing.judge.passes import Passes

PARQUET = "parquet"
ENGINES = ("local", "dask")


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
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Who audits for --format parquet: processes of this machine, or Dask.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of --engine dask: one that runs; default: one started here.")
@click.option("-j", "--jobs", type=click.IntRange(0, 64), default=0, help="Files at once; default: one a core.")
@common.threads_option
@common.debug_option
@common.brevity_options
@common.common_options
def command(
    paths: tuple[str, ...],
    format_name: str | None,
    fail_on: str | None,
    min_severity: str | None,
    min_confidence: str,
    rules: tuple[str, ...],
    symbols: tuple[str, ...],
    samples: tuple[str, ...],
    counts: tuple[str, ...],
    facts: tuple[str, ...],
    guards: str | None,
    resume: bool,
    engine: str,
    scheduler: str | None,
    jobs: int,
    line_size: str | None,
    assume_threads: bool,
    debug_file: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
    details: bool,
    top: int,
) -> int:
    """Judge every global by the cache line that it is on: of a binary, of several, or of all below a folder.

    Of several files and of folders, ELF files and archives are read, each once, and links within folders are not
    followed.  A file that cannot be read does not stop the others.
    """
    from linemate.guardfile import read_guards

    project = common.read_project(config)
    limit = common.fail_limit(fail_on, project)
    known = common.rule_infos()
    for rule in rules:
        common.rule_by_id(known, rule)
    options = AuditOptions(
        binary=paths[0],
        line_size=common.line_size_of(line_size, project),
        samples=samples,
        counts=counts,
        facts=facts,
        min_confidence=Confidence[min_confidence.upper()],
        min_severity=common.shown_from(min_severity, fail_on, limit),
        rules=rules,
        symbols=symbols,
        fail_on=limit,
        debug_file=debug_file,
        project=project,
        assume_threads=assume_threads,
        guards=read_guards(guards) if guards is not None else (),
    )
    inputs = (*paths, debug_file, guards, project.path or None, *facts, *samples, *counts)
    several = len(paths) > 1 or os.path.isdir(paths[0]) or format_name == PARQUET
    _refuse_contradictions(engine, scheduler, resume=resume, several=several, parquet=format_name == PARQUET)
    if several:
        from linemate.commands.auditmany import Many

        many = Many(paths, dataclasses.replace(options, spread=False), output, jobs, resume, quiet)
        if format_name == PARQUET:
            return many.store(engine, scheduler)
    check_output(output, inputs)
    page = common.format_of(EMITTERS, format_name, output) == "html"
    maps: list[MemoryMap] = []

    def finish(report: Report) -> int:
        lastreport.keep(report)
        common.write_document(
            report,
            EMITTERS,
            format_name,
            output,
            inputs,
            known,
            quiet=quiet,
            details=details,
            top=top,
            limit=limit,
            maps=maps,
        )
        return common.exit_code(report, limit)

    return many.report(finish) if several else finish(_audit(options, maps if page else None, quiet=quiet))


def _refuse_contradictions(engine: str, scheduler: str | None, *, resume: bool, several: bool, parquet: bool) -> None:
    if resume and not several:
        raise click.UsageError("--resume is of several files or folders")
    if not parquet and (engine != ENGINES[0] or scheduler is not None):
        raise click.UsageError("--engine and --scheduler are of --format parquet: their workers write the results")


def _audit(options: AuditOptions, maps: list[MemoryMap] | None, *, quiet: bool) -> Report:
    """The report; ``maps`` gets the map of each image."""
    from linemate.pipeline import audit

    def seen(passes: Passes, audited: AuditedImage) -> None:
        from linemate.auditing.pagemap import page_map

        assert maps is not None
        maps.append(page_map(passes, audited))

    with progress(f"linemate: reading {visible(options.binary)}", quiet=quiet) as say:
        return audit(options, say, seen=None if maps is None else seen)
