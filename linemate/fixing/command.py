"""``linemate fix``: findings of a check into edits, shown, exported, verified or written.

Owns the flags and the order: check, plan, show, verify, write.  Nothing is written to source without ``--apply``, and
with ``--verify`` only after it held.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linemate.byid import with_id
from linemate.commands import common
from linemate.commands.check import FLAGS, WithFlags
from linemate.commands.groups import DocumentOptions, ProjectOptions, grouped
from linemate.fixing.earlier import of_earlier, reviewed
from linemate.fixing.units import ReadOptions
from linemate.output import check_output, progress, write_text
from reports.escape import visible
from reports.order import by_severity
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Report, Severity, SourceEdit
from sharing.model.inputs import read_source
from sharing.model.plural import count
from sharing.model.project import ProjectConfig

if TYPE_CHECKING:
    from linemate.fixing.verify import Verified, VerifyOptions
    from linemate.options import CheckOptions
    from sharing.fix.edits import Planned
    from sharing.source.program import Program

EXIT_FAILED = 1
_ABI = "changes the layout of a type or variable that others may be compiled against, files that were not analysed too"
_ID = re.compile(r"[a-z0-9-]+")  # or its beginning, or the digits at its end: a source has an ending, or a folder


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedOptions:
    """Which findings: from a severity on where none is named, and of which report; ``saved`` None for a new check."""

    above: str | None
    saved: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOptions:
    """What is to become of the edits; they are shown where nothing else is asked for."""

    write: bool
    export_fixes: str | None
    ordering_file: str | None
    linker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOptions:
    """How the edits are tried in a copy, with ``verify``."""

    verify: bool
    build: str | None
    binaries: tuple[str, ...]
    bench: str | None
    metric: str
    rounds: int
    timeout: float

    def refuse_contradictions(self) -> None:
        """Raises LinemateError for options of --verify without it, and the other way round."""
        if self.verify != (self.build is not None):
            raise LinemateError("--verify needs --build CMD" if self.verify else "--build is for --verify")
        if self.bench and not self.verify:
            raise LinemateError("--bench is for --verify")
        if len(self.binaries) > 1 and not self.verify:
            raise LinemateError("several --binary are for --verify: one program's layout is judged")

    @property
    def linked(self) -> str:
        """The program whose layout is judged, as ``check --binary`` does; "" where that is predicted.

        With ``verify`` it may be yet to be made, and is named as in the copy.
        """
        if not self.verify:
            return next(iter(self.binaries), "")
        made = [Path(name).resolve() for name in self.binaries]
        return str(made[0]) if len(made) == 1 and made[0].is_relative_to(Path.cwd()) and made[0].exists() else ""

    def request(self, line_size: int, project: ProjectConfig) -> VerifyOptions | None:
        """None where nothing is to be tried."""
        if self.build is None:
            return None
        from linemate.fixing.bench import Benchmark
        from linemate.fixing.verify import VerifyOptions

        return VerifyOptions(
            build=self.build,
            folder=Path.cwd(),
            binaries=self.binaries,
            bench=Benchmark(self.bench, self.metric, self.rounds, self.timeout) if self.bench else None,
            line_size=line_size,
            timeout_s=self.timeout,
            project=project,
        )


@click.command("fix", cls=WithFlags, short_help="Show, verify or apply the edits that separate.")
@click.argument("what", nargs=-1, metavar="[ID|SOURCE]...")
@click.option(
    "--above",
    type=click.Choice([severity.value for severity in Severity]),
    help="All findings from this severity on.  [default: high, where no ID is given]",
)
@click.option(
    "--in", "saved", metavar="FILE", help="Take the findings of this report of check or audit instead of checking."
)
@click.option("-p", "database", metavar="DIR", help="Folder with compile_commands.json, or that file.")
@click.option("--facts", "streams", multiple=True, metavar="FILE", help="Facts gathered before; may be repeated.")
@click.option("--apply", "write", is_flag=True, help="Write the edits: all files or none.")
@click.option("--export-fixes", metavar="FILE", help="Write the edits as YAML for clang-apply-replacements.")
@click.option("--ordering-file", metavar="FILE", help="Write a symbol order for the linker that separates, no edits.")
@click.option(
    "--linker",
    type=click.Choice(["lld", "gold"]),
    default="lld",
    show_default=True,
    help="The linker that reads the symbol order.",
)
@click.option("--verify", is_flag=True, help="Build before and after in copies and audit both; needs --build.")
@click.option("--build", metavar="CMD", help="What builds the program, in a copy of this folder.")
@click.option(
    "--binary",
    "binaries",
    multiple=True,
    metavar="FILE",
    help="The linked program: its layout is judged, as check does; with --verify what --build makes (default: found).",
)
@click.option("--bench", metavar="CMD", help="A benchmark to run in both copies in turns.")
@click.option(
    "--metric", default="", metavar="WORD", help="Compare the number behind WORD in its output, not its time."
)
@click.option("--rounds", type=click.IntRange(1, 1000), default=5, show_default=True, help="Rounds of --bench.")
@click.option(
    "--timeout", type=click.FloatRange(1), default=1800.0, show_default=True, help="Seconds for each command."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(0, 1024), default=0, help="Units read in parallel; default: one per core."
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@common.threads_option
@common.common_options
@grouped(
    document=DocumentOptions,
    where=ProjectOptions,
    wanted=WantedOptions,
    units=ReadOptions,
    edits=EditOptions,
    trial=TrialOptions,
)
@click.pass_context
def command(
    ctx: click.Context,
    what: tuple[str, ...],
    document: DocumentOptions,
    where: ProjectOptions,
    wanted: WantedOptions,
    edits: EditOptions,
    trial: TrialOptions,
    units: ReadOptions,
) -> int:
    """Turn findings of a check into edits, as a unified diff on standard output.

    ID is a finding's, as check prints it, its beginning, or all ten digits behind its last dash; SOURCE limits
    the check.  FLAGS after -- compile the SOURCEs where there is no compile database.
    """
    from linemate.checking.run import judged_line_size
    from linemate.fixing.asaudited import parted_otherwise
    from linemate.fixing.journal import recover
    from linemate.options import CheckOptions

    recover(common.say)
    trial.refuse_contradictions()
    for path in (document.output, edits.export_fixes, edits.ordering_file):
        check_output(path, (wanted.saved,))
    ids = tuple(word for word in what if _is_id(word))
    sources = tuple(word for word in what if word not in ids)
    limit = Severity(wanted.above) if wanted.above else None if ids else Severity.HIGH
    project, line_size = where.read()
    options = CheckOptions(
        facts=units.request(sources, ctx.meta.get(FLAGS)),
        streams=units.streams,
        line_size=line_size,
        min_severity=Severity.NOTE if ids else _listed(limit or Severity.HIGH),
        project=project,
        binary=trial.linked,
        assume_threads=units.assume_threads,
        newcomers=reviewed(ids) if wanted.saved is None else frozenset(),
    )
    with progress("linemate: checking", quiet=document.quiet):
        program, report, findings = _check(options, ids, limit, wanted.saved)
    size = judged_line_size(report, options)
    unread = _say_unread(program)
    if unread and (edits.write or trial.verify):
        # A use in there would be missed, and the tree would not build.
        return common.EXIT_INCOMPLETE
    if edits.ordering_file is not None:
        return _order(program, findings, size, edits.ordering_file, edits.linker, document.quiet)
    chosen, planned_edits = _plan(program, findings, options, size)
    otherwise = parted_otherwise(chosen) if ids and not options.binary and wanted.saved is None else []
    told = _explanations(chosen) or [f"nothing to fix from {limit} on"]
    for line in (*told, *otherwise, *_left_out(report, limit)):
        print(visible(line), file=sys.stderr)
    held = _deliver(chosen, planned_edits, edits, trial.request(size, project), document)
    done = common.EXIT_INCOMPLETE if unread else common.EXIT_CLEAN
    if not planned_edits:
        return EXIT_FAILED if chosen else done
    complete = all(planned.plan is not None for _, plans in chosen for planned in plans)
    return done if held and complete else EXIT_FAILED


def _deliver(
    chosen: Chosen,
    planned: Sequence[SourceEdit],
    wanted: EditOptions,
    trial: VerifyOptions | None,
    document: DocumentOptions,
) -> bool:
    """Whether the edits held, where they were tried; only then are they written."""
    from linemate.fixing.write import changed_files, folder_of_diff, refuse_links_out, replacements_yaml, unified_diff

    files = changed_files(planned)
    output = document.output
    if wanted.export_fixes is not None:
        write_text(replacements_yaml(planned), wanted.export_fixes, tuple(str(path) for path in files))
    if not planned:
        return True
    if trial is not None:
        if not _verify(files, chosen, trial, document):
            return False
    elif wanted.export_fixes is None and not wanted.write:
        for_terminal = (output is None or output == "-") and sys.stdout.isatty()
        folder = folder_of_diff(files, Path.cwd())
        write_text(unified_diff(files, folder, for_terminal=for_terminal), output, tuple(map(str, files)))
        if folder != Path.cwd():
            print(f"the diff is for {visible(str(folder))}: patch -p1 or git apply there", file=sys.stderr)
    if wanted.write:
        from linemate.fixing.journal import write_all

        refuse_links_out(files, Path.cwd())
        write_all(files)
        print(f"wrote {count(len(planned), 'edit')} to {count(len(files), 'file')}", file=sys.stderr)
    return True


def _say_unread(program: Program) -> bool:
    """Whether units were not read, or not whole; names them."""
    unread = [*program.failed, *((u.path, f"only in part: {u.errors[0]}") for u in program.units if u.errors)]
    for path, reason in unread:
        print(f"linemate: not analysed: {visible(path)}: {visible(reason)}", file=sys.stderr)
    return bool(unread)


def _check(
    options: CheckOptions, ids: Sequence[str], limit: Severity | None, saved: str | None
) -> tuple[Program, Report, tuple[Finding, ...]]:
    """The program, what is said of it, and the findings asked for, worst first."""
    from linemate.checking.linked import check_built
    from linemate.source import read_program

    program = read_program(options)
    if saved is not None:
        return (program, *_of_report(saved, program, ids, limit))
    report = check_built(program, options)
    every = (*report.findings, *_parted_by_others(program, report, options, ids))
    named: set[str] = set()
    earlier: list[Finding] = []
    for wanted in ids:
        meant = {finding.id for finding in with_id(every, wanted)}
        named |= meant
        if len(meant) > 1:
            raise LinemateError(f"{wanted} is the beginning of several findings: {', '.join(sorted(meant))}")
        if not meant:
            earlier.append(of_earlier(wanted, program, report.findings, options))
    listed = {f.id for f in report.findings if limit is not None and f.severity.rank >= limit.rank}
    chosen = tuple(f for f in every if f.id in named | listed)
    return program, report, (*earlier, *chosen)


def _is_id(word: str) -> bool:
    """What is no file and can be no source is meant as an id, even if it is none."""
    return _ID.fullmatch(word) is not None and not Path(word).exists()


def _parted_by_others(
    program: Program, report: Report, options: CheckOptions, ids: Sequence[str]
) -> tuple[Finding, ...]:
    """Pairs that the edit of a worse one parts as well, if one is asked for: of ``check --base`` these may be new."""
    from linemate.checking.linked import check_built

    if all(with_id(report.findings, wanted) for wanted in ids):
        return ()
    known = {finding.id for finding in report.findings}
    every = check_built(program, dataclasses.replace(options, every_pair=True)).findings
    return tuple(finding for finding in every if finding.id not in known)


def _of_report(
    saved: str, program: Program, ids: Sequence[str], limit: Severity | None
) -> tuple[Report, tuple[Finding, ...]]:
    """A report that was written before, and of its findings those asked for, on the source's own declarations.

    Raises LinemateError for one that was named and is on nothing that the sources declare; others are counted.
    """
    from linemate.saved import named, read_report
    from sharing.fix.seen import in_source

    report = read_report(saved)
    wanted = {finding.id for one in ids for finding in named(report, one, saved)}
    chosen, elsewhere = [], 0
    for finding in report.findings:
        if finding.id not in wanted and (limit is None or finding.severity.rank < limit.rank):
            continue
        found = in_source(finding, program)
        if found is None and finding.id in wanted:
            raise LinemateError(f"{finding.id} is on nothing that these sources declare: no edit is known for it")
        chosen += [found] if found is not None else []
        elsewhere += found is None
    if elsewhere:
        common.say(f"{saved}: {count(elsewhere, 'finding')} on nothing that these sources declare, left as is")
    return report, tuple(chosen)


Chosen = list[tuple[Finding, tuple["Planned", ...]]]


def _plan(
    program: Program, findings: Sequence[Finding], options: CheckOptions, line_size: int
) -> tuple[Chosen, tuple[SourceEdit, ...]]:
    """Plans of all findings, and their edits together; a plan that overlaps one before it becomes a reason."""
    import dataclasses

    from sharing.fix.edits import plan_finding
    from sharing.fix.plan import Planner
    from sharing.fix.style import FixOptions
    from sharing.fix.together import combine

    planner = Planner(program, read_source, FixOptions(line_size, options.project.fix.align_macro or ""))
    planned = [(finding, plan_finding(finding, planner)) for finding in findings]
    named = [
        (f"{finding.id} ({number + 1})", one.plan)
        for finding, plans in planned
        for number, one in enumerate(plans)
        if one.plan is not None
    ]
    edits, left_out = combine(named)
    reasons = dict(left_out)
    chosen: Chosen = []
    for finding, plans in planned:
        kept = []
        for number, one in enumerate(plans):
            reason = reasons.get(f"{finding.id} ({number + 1})")
            kept.append(one if reason is None else dataclasses.replace(one, plan=None, reason=reason))
        chosen.append((finding, tuple(kept)))
    return chosen, edits


def _listed(limit: Severity) -> Severity:
    """From which severity on findings are asked for: what ``check`` lists is counted where it is left out."""
    return min(limit, Severity.LOW, key=lambda severity: severity.rank)


def _left_out(report: Report, limit: Severity | None) -> list[str]:
    """What was found and is left as it is, in a line each; of a run that was asked for by ids alone nothing."""
    if limit is None:
        return []
    milder = [(severity, number) for severity, number in by_severity(report.findings) if severity.rank < limit.rank]
    lines = []
    if milder:
        each = ", ".join(f"{number:,} {severity}" for severity, number in milder)
        found = count(sum(number for _, number in milder), "milder finding")
        lines.append(f"left out: {found} ({each}): --above {milder[-1][0]} takes them, the id of one that one")
    if report.suppressed:
        lines.append(f"left out: {count(report.suppressed, 'finding')} that the project file suppresses")
    return lines


def _explanations(chosen: Chosen) -> list[str]:
    """For each finding what is done or why not, and what to know before accepting it."""
    lines: list[str] = []
    said: set[str] = set()  # what is to be known of several edits is told once; what an edit changes of each
    for finding, plans in chosen:
        if not plans:
            lines.append(f"{finding.id}: no edit: none is known after which nothing is left of this finding")
        for one in plans:
            done = one.plan.how if one.plan is not None else f"no edit: {one.reason}"
            head = f"{finding.id}: {one.participant.full_name}: {done}"
            if head in said:
                continue
            said.add(head)
            lines.append(head)
            if one.plan is None:
                lines += _by_hand(one)
                continue
            if one.plan.breaks_abi:
                lines.append(f"  {_ABI}")
            lines += [f"  {note}" for note in one.plan.notes if note not in said]
            said.update(one.plan.notes)
    return lines


def _by_hand(one: Planned) -> list[str]:
    """What a reader can do where no edit is made: the remedy's own words and text, unless the reason has them."""
    remedy = one.remedy
    if not remedy.edit or one.by_macro or one.breaks or remedy.text in one.reason:
        return []
    return [f"  by hand: {remedy.text}", *(f"    {line}" for line in remedy.edit.splitlines())]


def _verify(
    files: dict[Path, tuple[bytes, bytes]], chosen: Chosen, wanted: VerifyOptions, document: DocumentOptions
) -> bool:
    from linemate.fixing.verify import verify

    say: Callable[[str], None] = (
        (lambda text: None) if document.quiet else lambda text: print(f"linemate: {text}", file=sys.stderr, flush=True)
    )
    result = verify(files, chosen, wanted, say)
    write_text(_verdict(result), document.output, tuple(map(str, files)))
    return result.holds


def _verdict(result: Verified) -> str:
    marks = {True: "separated", False: "FAILED", None: "ok"}
    lines = [f"{'unknown' if c.unknown else marks[c.holds]}: {visible(c.text)}" for c in result.checks]
    if result.measured is not None:
        lines.append(result.measured.text())
    why = f": {result.reason}" if result.reason else ""
    lines.append("the edit holds" if result.holds else f"the edit does not hold{why}: nothing was written")
    return "\n".join([*lines, ""])


def _order(program: Program, findings: Sequence[Finding], line_size: int, path: str, linker: str, quiet: bool) -> int:
    from sharing.fix.ordering import order_symbols, ordering_text

    order = order_symbols(program, findings, line_size)
    write_text(ordering_text(order, linker), path, ())
    if not quiet:
        for line in order.notes:
            print(visible(line), file=sys.stderr)
    return common.EXIT_CLEAN if order.symbols and not order.left_together else EXIT_FAILED
