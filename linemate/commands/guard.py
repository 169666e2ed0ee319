"""``linemate guard``: findings into guards that hold them apart from now on."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, ProjectOptions, grouped
from linemate.output import check_output, progress, write_text
from reports.escape import visible
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity


@click.command("guard", short_help="Write guards that keep pairs of variables on different lines.")
@click.argument("binary")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--in",
    "saved",
    metavar="FILE",
    help="Take the findings of this report, as of the build before the fix, instead of auditing BINARY.",
)
@click.option(
    "--above",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.MEDIUM.value,
    show_default=True,
    help="Without an ID: all findings from this severity on.",
)
@click.option(
    "--asserts",
    metavar="FILE",
    help="Write static_asserts for members of one variable there, to be included in source.",
)
@common.common_options
@grouped(document=DocumentOptions, where=ProjectOptions)
def command(
    binary: str,
    ids: tuple[str, ...],
    document: DocumentOptions,
    where: ProjectOptions,
    saved: str | None,
    above: str,
    asserts: str | None,
) -> int:
    """Write the pairs of findings as a file that audit --guards holds every later link of BINARY against.

    Padding is lost in later edits; a guard fails then.  ID is a finding's, or the beginning of one.
    """
    from linemate.guardfile import asserts_of, check_target, chosen, guard_file, pairs_of
    from linemate.options import DEFAULT_LINE_SIZE, AuditOptions
    from linemate.pipeline import audit
    from linemate.saved import read_report

    project, asked = where.read()
    check_target(asserts)
    for path in (document.output, asserts):
        check_output(path, (binary, saved, project.path or None))
    if saved is not None:
        report = read_report(saved)
    else:
        options = AuditOptions(binary=binary, line_size=asked, min_severity=Severity.NOTE, project=project)
        with progress(f"linemate: reading {visible(binary)}", quiet=document.quiet) as say:
            report = audit(options, say)
    size = asked or max((target.line_size for target in report.targets), default=DEFAULT_LINE_SIZE)
    findings = chosen(report, ids, Severity(above), saved or binary)
    pairs, notes = pairs_of(findings, size)
    if asserts is not None:
        text, unnamed = asserts_of(findings, size)
        notes += unnamed
        if text:
            write_text(text, asserts, ())
        else:
            common.say(f"{asserts}: not written: no finding is about two members of one variable")
    for note in notes:
        common.say(note)
    if not pairs:
        mended = "" if saved else "; of a program that was mended --in REPORT gives the pairs of before"
        every = f"{len(report.findings):,} in all; see --above"
        raise LinemateError(f"{saved or binary}: no finding to guard ({every}){mended}")
    write_text(guard_file(pairs), document.output, ())
    return common.EXIT_CLEAN
