"""``linemate check``: flags of a check from source into options, the report out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linemate import lastreport
from linemate.commands import common
from linemate.output import check_output
from reports import EMITTERS
from sharing.model.finding import Confidence, Report

if TYPE_CHECKING:
    from sharing.source.program import Program

FLAGS = "linemate.flags"


class WithFlags(click.Command):
    """A command whose arguments behind ``--`` are compiler flags, not sources."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[FLAGS] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- FLAGS]"]


@click.command("check", cls=WithFlags, short_help="Judge sources before they are linked, against a base revision.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@common.database_option
@click.option("--base", metavar="REV", help="Report only what is new since this revision (git).")
@click.option(
    "--build",
    metavar="COMMAND",
    help="With --base and --binary: builds the base as --binary was built, to compare the linked layouts.",
)
@click.option(
    "--trust-repository",
    is_flag=True,
    help="With --base: git may run the filters and fetch by the remotes that the repository's configuration names.",
)
@click.option("--baseline", metavar="FILE", help="Report only what this file does not accept.")
@click.option("--write-baseline", metavar="FILE", help="Accept all findings of this run in FILE.")
@click.option("--objects", metavar="DIR", help="Built object files below: their layout instead of a prediction.")
@common.binary_option
@click.option(
    "-j", "--jobs", type=click.IntRange(0, 1024), default=0, help="Units read in parallel; default: one per core."
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--watch", is_flag=True, help="Check again at each save, a line a change, until Ctrl-C.")
@common.threads_option
@common.finding_options()
@common.brevity_options
@common.common_options
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    database: str | None,
    base: str | None,
    build: str | None,
    trust_repository: bool,
    baseline: str | None,
    write_baseline: str | None,
    objects: str | None,
    binary: str | None,
    jobs: int,
    no_cache: bool,
    watch: bool,
    assume_threads: bool,
    format_name: str | None,
    fail_on: str | None,
    min_severity: str | None,
    min_confidence: str,
    rules: tuple[str, ...],
    symbols: tuple[str, ...],
    line_size: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
    details: bool,
    top: int,
) -> int:
    """Judge the globals of a program from its source: all units of a compile database, or each SOURCE.

    FLAGS after -- compile the SOURCEs where there is no compile database.
    """
    from linemate.checking.run import Comparison, check, facts_request
    from linemate.fixing.journal import recover
    from linemate.options import CheckOptions

    for name, value in (("--base", base), ("--baseline", baseline), ("--binary", binary), ("--build", build)):
        # A variable that is not set must not turn a gate into another one.
        if value is not None and not value.strip():
            raise click.UsageError(f"{name} is empty")
    if watch and (output or write_baseline or format_name not in (None, "text")):
        raise click.UsageError("--watch writes text to standard output: not with -o, --format, --write-baseline")
    recover(common.say)
    project = common.read_project(config)
    limit = common.fail_limit(fail_on, project)
    known = common.rule_infos()
    for rule in rules:
        common.rule_by_id(known, rule)
    request = facts_request(database, sources, ctx.meta.get(FLAGS), jobs, cached=not no_cache)
    options = CheckOptions(
        facts=request,
        objects=objects or "",
        binary=binary or "",
        line_size=common.line_size_of(line_size, project),
        min_confidence=Confidence[min_confidence.upper()],
        min_severity=common.shown_from(min_severity, fail_on, limit),
        rules=rules,
        symbols=symbols,
        fail_on=limit,
        project=project,
        assume_threads=assume_threads,
    )
    inputs = (request.database or None, *sources, binary, baseline, project.path or None)
    check_output(output, (*inputs, write_baseline))
    common.format_of(EMITTERS, format_name, output)
    check_output(write_baseline, (request.database or None, *sources, binary, project.path or None))
    # The analyzer shows its own progress.
    against = Comparison(base or "", baseline or "", write_baseline or "", trust_repository, build or "")

    def checked() -> tuple[Report, Program]:
        found, program = check(options, against)
        lastreport.keep(found)
        return found, program

    def show(found: Report) -> None:
        common.write_document(
            found, EMITTERS, format_name, output, inputs, known, quiet=quiet, details=details, top=top, limit=limit
        )

    if watch:
        from linemate.checking import watching

        watching.watch(checked, show, filter(None, (request.database, binary, baseline)))
    report, _ = checked()
    show(report)
    return common.exit_code(report, limit)
