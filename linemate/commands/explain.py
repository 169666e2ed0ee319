"""``linemate explain``: flags of a comparison into a request, the comparison out."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass

import click

from linemate.byid import looks_like_id
from linemate.commands import common
from linemate.commands.groups import DocumentOptions, ProjectOptions, grouped
from linemate.filepart import split_part
from linemate.output import progress
from reports.escape import visible
from reports.explain import EXPLAIN_EMITTERS
from sharing.model.comparison import Comparison
from sharing.model.finding import NAMES, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEvidence:
    """What else is known of the two builds."""

    samples_old: tuple[str, ...]
    samples_new: tuple[str, ...]
    bench_old: tuple[str, ...]
    bench_new: tuple[str, ...]
    debug_old: str | None
    debug_new: str | None
    debuginfod: bool

    @property
    def tables(self) -> tuple[str, ...]:
        """Profiles and measurements, each perhaps a part of its file."""
        return (*self.samples_old, *self.samples_new, *self.bench_old, *self.bench_new)


class _OfTwo(click.Command):
    """Takes two builds; whoever gives one id of a finding is told what explains that."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            if len(given) == 1 and looks_like_id(given[0]) and not os.path.lexists(given[0]):
                raise click.UsageError(
                    f"explain compares two builds, OLD and NEW; what is known of a finding: linemate show {given[0]}"
                ) from None
            raise


@click.command("explain", cls=_OfTwo, short_help="Say why NEW may be slower than OLD.")
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
@common.debuginfod_option
@common.fail_option("Exit with 1 where the layout explains a slowdown from this severity on.")
@common.format_option(EXPLAIN_EMITTERS)
@common.common_options
@grouped(document=DocumentOptions, where=ProjectOptions, evidence=PairEvidence)
def command(
    old: str,
    new: str,
    document: DocumentOptions,
    where: ProjectOptions,
    evidence: PairEvidence,
    matters: float | None,
    sensitivity: bool,
    fail_on: str | None,
) -> int:
    """Say why NEW may be slower than OLD: what moved, which variables share a line now, and what else differs.

    OLD and NEW are two builds of one program, or listings of them (nm -nS, System.map, a linker's map).  A profile or
    table may be a part of its file: FILE#PART is the listing, or the rows, with that label.
    """
    project, line_size = where.read()
    limit = common.fail_limit(fail_on, project)
    parts = (old, new, *evidence.tables)
    inputs = (*(split_part(given)[0] for given in parts), evidence.debug_old, evidence.debug_new, project.path or None)
    document.check(EXPLAIN_EMITTERS, inputs)
    from linemate.debuginfod import find_debug_files
    from linemate.explaining.run import ExplainRequest, explain

    request = ExplainRequest(
        old=old,
        new=new,
        samples_old=evidence.samples_old,
        samples_new=evidence.samples_new,
        bench_old=evidence.bench_old,
        bench_new=evidence.bench_new,
        debug_old=evidence.debug_old,
        debug_new=evidence.debug_new,
        sensitivity=sensitivity,
        line_size=line_size,
        project=project,
        **({} if matters is None else {"matters": matters / 100}),
    )
    with progress(f"linemate: reading {visible(old)} and {visible(new)}", quiet=document.quiet):
        bare = [file for file, named in ((old, evidence.debug_old), (new, evidence.debug_new)) if named is None]
        unanswered: list[str] = []
        denied = find_debug_files(bare, asked=evidence.debuginfod, say=unanswered.append)
        comparison = explain(request)
    hints = _where_names_are(comparison, old, new, asked=evidence.debuginfod, denied=denied)
    if document.output not in (None, "-"):
        for text in unanswered:
            common.say(text)
    comparison = common.with_notes(comparison, (*unanswered, *hints))
    if evidence.debuginfod:
        from linemate.askedinvain import both_from_files

        comparison = both_from_files(comparison)
    document.write(comparison, EXPLAIN_EMITTERS, inputs)
    return exit_code(comparison, limit)


def _where_names_are(comparison: Comparison, old: str, new: str, *, asked: bool, denied: frozenset[str]) -> list[str]:
    """Notes on the names of files without debug information, one for those that it is the same of."""
    from linemate.distribution import are_of_packages, unpacked_as, where_names_are

    unnamed = [target.path for target in comparison.targets if not target.debug]
    again = shlex.join(["linemate", "explain", "--debuginfod", old, new])
    hints: dict[str, list[str]] = {}
    sides = zip(("--debug-old", "--debug-new"), ("OLD_FOLDER", "NEW_FOLDER"), comparison.targets, strict=True)
    then = " ".join(
        unpacked_as(option, folder, target.build_id) for option, folder, target in sides if not target.debug
    )
    several = are_of_packages(set(unnamed)) > 1
    for path in dict.fromkeys(unnamed):
        hint = where_names_are(
            path,
            again=again,
            asked=asked,
            denied=path in denied,
            then=then,
            several=several,
        )
        hints.setdefault(hint, []).append(path)
    return [f"{NAMES}{' and '.join(of)}: {hint}" for hint, of in hints.items() if hint]


def exit_code(comparison: Comparison, limit: Severity | None) -> int:
    """3 for an incomplete analysis, or none, before 1 for a layout that explains a slowdown."""
    from linemate.explaining.run import failing
    from sharing.explain.unrelated import is_of_two_programs

    if comparison.incomplete or is_of_two_programs(comparison):
        return common.EXIT_INCOMPLETE
    return common.EXIT_FINDINGS if failing(comparison, limit) else common.EXIT_CLEAN
