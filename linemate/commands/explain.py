"""``linemate explain``: flags of a comparison into a request, the comparison out."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.output import check_output, progress
from linemate.tabletext import split_part
from reports.escape import visible
from reports.explain import EXPLAIN_EMITTERS
from sharing.model.comparison import Comparison
from sharing.model.finding import Severity


@click.command("explain", short_help="Say why NEW may be slower than OLD.")
@click.argument("old")
@click.argument("new")
@click.option(
    "--samples-old",
    multiple=True,
    metavar="FILE",
    help="A profile of OLD: perf.data, perf script, opreport, CSV; repeat for several recordings.",
)
@click.option("--samples-new", multiple=True, metavar="FILE", help="A profile of NEW.")
@click.option("--bench-old", multiple=True, metavar="FILE", help="Measurements of OLD; repeat for repetitions.")
@click.option("--bench-new", multiple=True, metavar="FILE", help="Measurements of NEW.")
@click.option(
    "--matters",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="PERCENT",
    help="The loss that is worth a search: measurements that exclude it lower a cause.  [default: 3]",
)
@click.option("--sensitivity", is_flag=True, help="Say which other insertions would join or part busy pairs.")
@click.option("--debug-old", metavar="FILE", help="Debug information of OLD, if not in the usual places.")
@click.option("--debug-new", metavar="FILE", help="Debug information of NEW.")
@common.fail_option("Exit with 1 where the layout explains a slowdown from this severity on.")
@common.format_option(EXPLAIN_EMITTERS)
@common.common_options
def command(
    old: str,
    new: str,
    samples_old: tuple[str, ...],
    samples_new: tuple[str, ...],
    bench_old: tuple[str, ...],
    bench_new: tuple[str, ...],
    matters: float | None,
    sensitivity: bool,
    debug_old: str | None,
    debug_new: str | None,
    fail_on: str | None,
    format_name: str | None,
    line_size: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
) -> int:
    """Say why NEW may be slower than OLD: what moved, which variables share a line now, and what else differs.

    OLD and NEW are two builds of one program, or listings of them (nm -nS, System.map, a linker's map).  A profile or
    table may be a part of its file: FILE#PART is the listing, or the rows, with that label.
    """
    project = common.read_project(config)
    limit = common.fail_limit(fail_on, project)
    parts = (old, new, *samples_old, *samples_new, *bench_old, *bench_new)
    inputs = (*(split_part(given)[0] for given in parts), debug_old, debug_new, project.path or None)
    check_output(output, inputs)
    common.format_of(EXPLAIN_EMITTERS, format_name, output)
    from linemate.explaining.run import ExplainRequest, explain

    told = {} if matters is None else {"matters": matters / 100}
    request = ExplainRequest(
        old=old,
        new=new,
        samples_old=samples_old,
        samples_new=samples_new,
        bench_old=bench_old,
        bench_new=bench_new,
        debug_old=debug_old,
        debug_new=debug_new,
        sensitivity=sensitivity,
        line_size=common.line_size_of(line_size, project),
        project=project,
        **told,
    )
    with progress(f"linemate: reading {visible(old)} and {visible(new)}", quiet=quiet):
        comparison = explain(request)
    common.write_document(comparison, EXPLAIN_EMITTERS, format_name, output, inputs, quiet=quiet)
    return exit_code(comparison, limit)


def exit_code(comparison: Comparison, limit: Severity | None) -> int:
    """3 for an incomplete analysis before 1 for a layout that explains a slowdown."""
    from linemate.explaining.run import failing

    if comparison.incomplete:
        return common.EXIT_INCOMPLETE
    return common.EXIT_FINDINGS if failing(comparison, limit) else common.EXIT_CLEAN
