"""``linemate audit``: flags of one binary's audit into options, the report out."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linemate import lastreport
from linemate.commands import common
from linemate.options import AuditOptions
from linemate.output import check_output, progress
from reports import EMITTERS
from reports.escape import visible
from sharing.model.errors import LinemateError
from sharing.model.finding import Confidence, Report

if TYPE_CHECKING:
    from linemate.auditing.spool import Spool


@click.command("audit")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@common.finding_options
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
    help="Of many files: keep what is done in OUTPUT.partial until the report is written, and go on from there.",
)
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
    check_output(output, inputs)
    common.format_of(EMITTERS, format_name, output)

    def finish(report: Report) -> int:
        lastreport.keep(report)
        common.write_document(
            report, EMITTERS, format_name, output, inputs, known, quiet=quiet, details=details, top=top, limit=limit
        )
        return common.exit_code(report, limit)

    if len(paths) == 1 and not os.path.isdir(paths[0]):
        if resume:
            raise click.UsageError("--resume is of several files or folders")
        return finish(_audit(options, quiet=quiet))
    from linemate.auditing.spool import Spool

    options = dataclasses.replace(options, spread=False)
    with Spool(options, _partial(output) if resume else None) as spool:
        code = finish(_audit_files(paths, options, jobs or len(os.sched_getaffinity(0)), spool, quiet=quiet))
        spool.remove()
    return code


def _audit(options: AuditOptions, *, quiet: bool) -> Report:
    from linemate.pipeline import audit

    with progress(f"linemate: reading {visible(options.binary)}", quiet=quiet) as say:
        return audit(options, say)


def _audit_files(paths: tuple[str, ...], options: AuditOptions, jobs: int, spool: Spool, *, quiet: bool) -> Report:
    from linemate.auditing.choosing import files_of
    from linemate.auditing.tree import audit_files

    if options.samples or options.counts or options.facts or options.debug_file:
        raise click.UsageError("--samples, --counts, --facts and --debug-file are of one binary: name that alone")
    chosen = files_of(paths)
    if not chosen.files:
        raise LinemateError(f"{', '.join(paths[:3])}: no ELF file or archive there")
    with progress("linemate: reading files", quiet=quiet) as say:
        return audit_files(chosen, options, jobs, spool, say)


def _partial(output: str | None) -> Path:
    """Where what is done is kept."""
    from linemate.auditing.spool import SUFFIX

    if output is None or output == "-":
        raise click.UsageError("--resume keeps what is done beside the output: name that with -o FILE")
    return Path(output + SUFFIX)
