"""``linemate check``: flags of a check from source into options, the report out."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from linemate import lastreport
from linemate.commands import common
from linemate.commands.groups import DocumentOptions, FindingOptions, ProjectOptions, grouped
from linemate.output import check_output
from reports import EMITTERS
from sharing.model.finding import Report

if TYPE_CHECKING:
    from linemate.checking.run import Comparison
    from linemate.options import FactsRequest
    from sharing.source.program import Program

FLAGS = "linemate.flags"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOptions:
    """Which units are read, and how."""

    sources: tuple[str, ...]
    database: str | None
    jobs: int
    no_cache: bool
    engine: str
    scheduler: str | None

    def request(self, flags: tuple[str, ...] | None) -> FactsRequest:
        """``flags`` compile the sources where there is no compile database."""
        from linemate.checking.run import facts_request

        if self.scheduler is not None and not self.on_cluster:
            raise click.UsageError(f"--scheduler is of --engine {common.DASK}")
        if self.on_cluster and flags is not None:
            raise click.UsageError(
                f"--engine {common.DASK} reads the units of a compile database: not with flags after --"
            )
        request = facts_request(self.database, self.sources, flags, self.jobs, cached=not self.no_cache)
        return dataclasses.replace(request, scheduler=self.scheduler or "") if self.on_cluster else request

    def again(self, flags: tuple[str, ...] | None) -> list[str]:
        """The words that have another command read the same units."""
        return [
            *(("-p", self.database) if self.database else ()),
            *self.sources,
            *(("--", *flags) if flags is not None else ()),
        ]

    @property
    def on_cluster(self) -> bool:
        return self.engine == common.DASK


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstOptions:
    """What findings are compared with."""

    base: str | None
    build: str | None
    trust_repository: bool
    baseline: str | None
    write_baseline: str | None

    def refuse_empty(self) -> None:
        _refuse_empty({"--base": self.base, "--baseline": self.baseline, "--build": self.build})

    def comparison(self) -> Comparison:
        from linemate.checking.run import Comparison

        return Comparison(
            self.base or "", self.baseline or "", self.write_baseline or "", self.trust_repository, self.build or ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltOptions:
    """What was compiled or linked of the sources."""

    objects: str | None
    binary: str | None

    def refuse_empty(self) -> None:
        _refuse_empty({"--binary": self.binary})


def _refuse_empty(given: Mapping[str, str | None]) -> None:
    """A variable that is not set must not turn a gate into another one."""
    for option, value in given.items():
        if value is not None and not value.strip():
            raise click.UsageError(f"{option} is empty")


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
@common.engine_options("reads the units")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--watch", is_flag=True, help="Check again at each save, a line a change, until Ctrl-C.")
@common.threads_option
@common.finding_options()
@common.brevity_options
@common.common_options
@grouped(
    units=UnitOptions,
    document=DocumentOptions,
    wanted=FindingOptions,
    where=ProjectOptions,
    against=AgainstOptions,
    built=BuiltOptions,
)
@click.pass_context
def command(
    ctx: click.Context,
    units: UnitOptions,
    document: DocumentOptions,
    wanted: FindingOptions,
    where: ProjectOptions,
    against: AgainstOptions,
    built: BuiltOptions,
    watch: bool,
    assume_threads: bool,
) -> int:
    """Judge the globals of a program from its source: all units of a compile database, or each SOURCE.

    FLAGS after -- compile the SOURCEs where there is no compile database.
    """
    from linemate.checking.run import check
    from linemate.fixing.journal import recover
    from linemate.options import CheckOptions

    against.refuse_empty()
    built.refuse_empty()
    if watch and (document.output or against.write_baseline or document.format_name not in (None, "text")):
        raise click.UsageError("--watch writes text to standard output: not with -o, --format, --write-baseline")
    if watch and units.on_cluster:
        raise click.UsageError(f"--watch reads what was saved at once: not with --engine {common.DASK}")
    recover(common.say)
    project, line_size = where.read()
    limit = wanted.limit(project)
    wanted.check_rules()
    flags = ctx.meta.get(FLAGS)
    request = units.request(flags)
    options = CheckOptions(
        facts=request,
        objects=built.objects or "",
        binary=built.binary or "",
        line_size=line_size,
        min_confidence=wanted.confidence,
        min_severity=wanted.severity(limit),
        rules=wanted.rules,
        symbols=wanted.symbols,
        fail_on=limit,
        project=project,
        assume_threads=assume_threads,
    )
    read = (request.database or None, *units.sources, built.binary, project.path or None)
    inputs = (*read, against.baseline)
    document.check(EMITTERS, (*inputs, against.write_baseline))
    check_output(against.write_baseline, read)

    def checked() -> tuple[Report, Program]:
        # The analyzer shows its own progress.
        found, program = check(options, against.comparison())
        lastreport.keep(found)
        return found, program

    again = shlex.join([*where.again(), *(["--assume-threads"] if assume_threads else ()), *units.again(flags)])

    def show(found: Report) -> None:
        render = document.render_options(document.rules_of(EMITTERS), limit)
        document.write(found, EMITTERS, inputs, dataclasses.replace(render, again=again))

    if watch:
        from linemate.checking import watching

        watching.watch(checked, show, filter(None, (request.database, built.binary, against.baseline)))
    report, _ = checked()
    show(report)
    return common.exit_code(report, limit)
