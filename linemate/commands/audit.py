"""``linemate audit``: flags of one binary's audit into options, the report out."""

from __future__ import annotations

import click

from linemate import lastreport
from linemate.commands import common
from linemate.output import check_output, progress
from reports import EMITTERS
from reports.escape import visible
from sharing.model.finding import Confidence


@click.command("audit")
@click.argument("binary")
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
@common.threads_option
@common.debug_option
@common.brevity_options
@common.common_options
def command(
    binary: str,
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
    line_size: str | None,
    assume_threads: bool,
    debug_file: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
    details: bool,
    top: int,
) -> int:
    """Judge every global of BINARY by the cache line that it is on."""
    from linemate.options import AuditOptions
    from linemate.pairguards import read_guards

    project = common.read_project(config)
    limit = common.fail_limit(fail_on, project)
    known = common.rule_infos()
    for rule in rules:
        common.rule_by_id(known, rule)
    options = AuditOptions(
        binary=binary,
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
    inputs = (binary, debug_file, guards, project.path or None, *facts, *samples, *counts)
    check_output(output, inputs)
    from linemate.pipeline import audit as run_audit

    with progress(f"linemate: reading {visible(binary)}", quiet=quiet) as say:
        report = run_audit(options, say)
    lastreport.keep(report)
    common.write_document(report, EMITTERS, format_name, output, inputs, known, quiet=quiet, details=details, top=top)
    return common.exit_code(report, limit)
