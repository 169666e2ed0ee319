"""``linemate history``: flags into options, the document out."""

from __future__ import annotations

from dataclasses import dataclass

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, ProjectOptions, grouped
from linemate.filepart import split_part
from reports.escape import visible
from reports.history import HISTORY_EMITTERS
from sharing.model.errors import LinemateError
from sharing.model.history import History
from sharing.model.process.stopping import Stopped

DEFAULT_STORE = ".linemate-history.sqlite"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Measurements that exist."""

    table: str | None
    revision_column: str | None
    newest_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How revisions are built and measured, and which."""

    repo: str | None
    build: str | None
    binary: tuple[str, ...]
    bench: str | None
    levels: str | None
    rounds: int
    retry_failed: bool
    bisect: bool
    pair: tuple[str, str] | None
    store: str | None
    timeout: float

    @property
    def any(self) -> bool:
        """Whether one that has no default was given."""
        given = (self.repo, self.build, self.binary, self.bench, self.levels, self.store, self.bisect, self.pair)
        return any(given)

    @property
    def file(self) -> str:
        """Where results are kept."""
        return self.store or DEFAULT_STORE


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """What is looked at in the measurements."""

    metric: str | None
    better: str | None
    alpha: float

    @property
    def less_is_better(self) -> bool | None:
        return None if self.better is None else self.better == "less"


@click.command("history", short_help="Find the revision at which speed or layout changed.")
@click.argument("revisions", required=False, metavar="[REV..REV]")
@click.option("--table", metavar="FILE", help="Measurements that exist: CSV, JSON, bordered tables, logs of revisions.")
@click.option("--repo", metavar="DIR", help="The repository.  [default: the one around the current folder]")
@click.option("--build", "build", metavar="CMD", help="Shell command that builds a revision, run in a copy of it.")
@click.option(
    "--binary",
    multiple=True,
    metavar="PATH",
    help="The program that it makes, relative to the copy; others are kept for a run with them first.",
)
@click.option("--bench", metavar="CMD", help="Shell command that measures a build; {level} and {binary} are filled in.")
@click.option("--levels", metavar="N,N,...", help="Values for {level}, such as numbers of threads.")
@click.option(
    "--metric",
    metavar="NAME",
    help="The word before the figure in the output.  [default: seconds; of a table, its first]",
)
@click.option(
    "--rounds", type=click.IntRange(1, 1000), default=6, show_default=True, help="Measurements of each build."
)
@click.option("--retry-failed", is_flag=True, help="Build again what failed in an earlier run.")
@click.option("--bisect", is_flag=True, help="Find one change with few builds instead of building all.")
@click.option("--pair", nargs=2, metavar="A B", help="With --bisect: when did these two variables meet or part?")
@click.option(
    "--better",
    type=click.Choice(["more", "less"]),
    help="Whether more or less of the metric is better.  [default: by the metric's name]",
)
@click.option("--revision-column", metavar="NAME", help="With --table: the column that names revisions.")
@click.option("--newest-first", is_flag=True, help="With --table: its first revision is the latest.")
@click.option("--store", metavar="FILE", help=f"Results of earlier runs.  [default: {DEFAULT_STORE}]")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    default=3600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of one build or run.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0.0001, 0.5),
    default=0.05,
    show_default=True,
    help="Probability of any false step.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["slowdown", "never"]),
    default="slowdown",
    show_default=True,
    help="What makes the exit code 1.",
)
@common.format_option(HISTORY_EMITTERS)
@common.common_options
@grouped(document=DocumentOptions, where=ProjectOptions, measured=TableOptions, built=BuildOptions, judged=JudgeOptions)
def command(
    revisions: str | None,
    document: DocumentOptions,
    where: ProjectOptions,
    measured: TableOptions,
    built: BuildOptions,
    judged: JudgeOptions,
    fail_on: str,
) -> int:
    """Find the revision at which a program's speed or layout changed.

    Builds and measures every revision of REV..REV (the first one included), or reads a table of measurements.
    """
    inputs: tuple[str | None, ...]
    if measured.table is not None:
        if revisions or built.any:
            raise click.UsageError(
                "--table reads what was measured: REV..REV, --repo, --build, --bench and the like do not go with it"
            )
        inputs = (split_part(measured.table)[0],)
        document.check(HISTORY_EMITTERS, inputs)
        history = _of_table(measured.table, measured, judged)
    else:
        if revisions is None:
            raise click.UsageError("give REV..REV, or --table FILE")
        inputs = (built.file,)
        history = _of_builds(revisions, built, judged, where, document)
    document.write(history, HISTORY_EMITTERS, inputs)
    return exit_code(history, fails=fail_on != "never")


def exit_code(history: History, *, fails: bool) -> int:
    """A slowdown that was found stays found where other builds failed; ``fails``: it makes the code 1.

    So does a step that may be one remain undecided, where the metric's name does not say which way is better.
    """
    if history.slowdown and fails:
        return common.EXIT_FINDINGS
    return common.EXIT_INCOMPLETE if history.incomplete or (history.undecided and fails) else common.EXIT_CLEAN


def _of_table(table: str, measured: TableOptions, judged: JudgeOptions) -> History:
    from linemate.history.table import TableOptions as Request
    from linemate.history.table import from_table

    return from_table(
        Request(
            table,
            judged.metric or "",
            measured.revision_column or "",
            measured.newest_first,
            judged.less_is_better,
            judged.alpha,
        )
    )


def _of_builds(
    revisions: str, built: BuildOptions, judged: JudgeOptions, where: ProjectOptions, document: DocumentOptions
) -> History:
    from linemate.history.options import HistoryOptions
    from linemate.history.run import history_of

    if built.build is None or not built.binary:
        raise click.UsageError("REV..REV needs --build and --binary")
    if built.pair is not None and not built.bisect:
        raise click.UsageError("--pair is for --bisect")
    document.check(HISTORY_EMITTERS, (built.file,))
    project, line_size = where.read()
    options = HistoryOptions(
        repo=built.repo or ".",
        revisions=revisions,
        build=built.build,
        binary=built.binary[0],
        others=built.binary[1:],
        bench=built.bench or "",
        levels=_levels(built.levels, built.bench),
        metric=judged.metric or "",
        rounds=built.rounds,
        retry_failed=built.retry_failed,
        bisect=built.bisect,
        pair=built.pair,
        less_is_better=judged.less_is_better,
        store=built.file,
        timeout_s=built.timeout,
        alpha=judged.alpha,
        line_size=line_size,
        project=project,
        quiet=document.quiet,
    )
    try:
        return history_of(options)
    except (Stopped, KeyboardInterrupt):
        click.echo(
            f"linemate: results so far are kept in {visible(built.file)}: run the same command to continue", err=True
        )
        raise


def _levels(levels: str | None, bench: str | None) -> tuple[str, ...]:
    if levels is None:
        if bench and "{level}" in bench:
            raise click.UsageError("--bench has {level}: give --levels")
        return ()
    found = tuple(part.strip() for part in levels.split(","))
    if not bench or "{level}" not in bench:
        raise LinemateError("--levels needs {level} in --bench")
    if not all(found) or len(set(found)) != len(found):
        raise LinemateError(f"--levels {levels}: an empty or repeated level")
    return found
