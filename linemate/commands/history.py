"""``linemate history``: flags into options, the document out."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.output import check_output
from linemate.tabletext import split_part
from reports.escape import visible
from reports.history import HISTORY_EMITTERS
from sharing.model.errors import LinemateError
from sharing.model.history import History
from sharing.model.process.stopping import Stopped


@click.command("history", short_help="Find the revision at which speed or layout changed.")
@click.argument("revisions", required=False, metavar="[REV..REV]")
@click.option("--table", metavar="FILE", help="Measurements that exist: CSV, JSON, bordered tables, logs of revisions.")
@click.option("--repo", metavar="DIR", help="The repository.  [default: the one around the current folder]")
@click.option("--build", "build", metavar="CMD", help="Shell command that builds a revision, run in a copy of it.")
@click.option("--binary", metavar="PATH", help="The program that it makes, relative to the copy.")
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
@click.option("--store", metavar="FILE", help="Results of earlier runs.  [default: .linemate-history.sqlite]")
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
def command(
    revisions: str | None,
    table: str | None,
    repo: str | None,
    build: str | None,
    binary: str | None,
    bench: str | None,
    levels: str | None,
    metric: str | None,
    rounds: int,
    retry_failed: bool,
    bisect: bool,
    pair: tuple[str, str] | None,
    better: str | None,
    revision_column: str | None,
    newest_first: bool,
    store: str | None,
    timeout: float,
    alpha: float,
    fail_on: str,
    format_name: str | None,
    line_size: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
) -> int:
    """Find the revision at which a program's speed or layout changed.

    Builds and measures every revision of REV..REV (the first one included), or reads a table of measurements.
    """
    less = None if better is None else better == "less"
    if table is not None:
        _only_with_repository(revisions, repo, build, binary, bench, levels, store, bisect, pair)
        from linemate.history.table import TableOptions, from_table

        inputs: tuple[str | None, ...] = (split_part(table)[0],)
        check_output(output, inputs)
        common.format_of(HISTORY_EMITTERS, format_name, output)
        history = from_table(TableOptions(table, metric or "", revision_column or "", newest_first, less, alpha))
    else:
        from linemate.history.options import HistoryOptions
        from linemate.history.run import history_of

        if revisions is None:
            raise click.UsageError("give REV..REV, or --table FILE")
        if build is None or binary is None:
            raise click.UsageError("REV..REV needs --build and --binary")
        if pair is not None and not bisect:
            raise click.UsageError("--pair is for --bisect")
        store = store or ".linemate-history.sqlite"
        inputs = (store,)
        check_output(output, inputs)
        common.format_of(HISTORY_EMITTERS, format_name, output)
        project = common.read_project(config)
        options = HistoryOptions(
            repo=repo or ".",
            revisions=revisions,
            build=build,
            binary=binary,
            bench=bench or "",
            levels=_levels(levels, bench),
            metric=metric or "",
            rounds=rounds,
            retry_failed=retry_failed,
            bisect=bisect,
            pair=pair,
            less_is_better=less,
            store=store,
            timeout_s=timeout,
            alpha=alpha,
            line_size=common.line_size_of(line_size, project),
            project=project,
            quiet=quiet,
        )
        try:
            history = history_of(options)
        except (Stopped, KeyboardInterrupt):
            click.echo(
                f"linemate: results so far are kept in {visible(store)}: run the same command to continue", err=True
            )
            raise
    common.write_document(history, HISTORY_EMITTERS, format_name, output, inputs, quiet=quiet)
    return exit_code(history, fails=fail_on != "never")


def exit_code(history: History, *, fails: bool) -> int:
    """A slowdown that was found stays found where other builds failed; ``fails``: it makes the code 1."""
    if history.slowdown and fails:
        return common.EXIT_FINDINGS
    return common.EXIT_INCOMPLETE if history.incomplete else common.EXIT_CLEAN


def _only_with_repository(*given: object) -> None:
    if any(given):
        raise click.UsageError(
            "--table reads what was measured: REV..REV, --repo, --build, --bench and the like do not go with it"
        )


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
