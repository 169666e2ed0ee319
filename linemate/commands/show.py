"""``linemate show``: findings of a saved report, or of the last run, with everything that is known of them."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, grouped
from reports import EMITTERS
from sharing.model.errors import LinemateError
from sharing.model.finding import Report


@click.command("show", short_help="Show findings by ID with all evidence.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--in",
    "saved",
    metavar="FILE",
    help="The JSON document of audit or check that has them.  [default: what they said last]",
)
@common.format_option(EMITTERS)
@common.output_option
@grouped(document=DocumentOptions)
def command(ids: tuple[str, ...], saved: str | None, document: DocumentOptions) -> int:
    """Show findings with all that is known of them.  ID is a finding's, its beginning, or all ten digits
    behind its last dash.

    Without --in the last of the kept reports that has all of them is meant, and named if it is not the last of all.
    """
    from dataclasses import replace

    import msgspec

    from linemate.saved import named, read_report

    document.check(EMITTERS, (saved,))
    report, path = _kept(ids) if saved is None else (read_report(saved), saved)
    chosen = {finding.id for wanted in ids for finding in named(report, wanted, path)}
    findings = tuple(finding for finding in report.findings if finding.id in chosen)
    shown = msgspec.structs.replace(report, findings=findings)
    alone = replace(document, quiet=True)
    alone.write(shown, EMITTERS, (saved,), alone.render_options(common.rule_infos()))
    return common.EXIT_CLEAN


def _kept(ids: tuple[str, ...]) -> tuple[Report, str]:
    """The last kept report that has all findings.  Raises LinemateError that says where they were looked for."""
    from linemate.byid import with_id
    from linemate.lastreport import kept_files, last_reports

    first: Report | None = None
    for report, path in last_reports(ids):
        if all(with_id(report.findings, wanted) for wanted in ids):
            if first is not None:
                common.say(f"from an earlier report, of {_of(report)}")
            return report, path
        first = first or report
    assert first is not None
    files = kept_files()
    kept = f"the {len(files):,} reports" if len(files) > 1 else "the report"
    raise LinemateError(
        f"no finding {' and '.join(repr(wanted) for wanted in ids)} in {kept} kept in {files[0].parent}, the last of "
        f"{_of(first)}{_nearest(ids, first)}: audit or check once more (--min-severity note shows all findings), "
        "or name the document that has it: --in FILE"
    )


def _nearest(ids: tuple[str, ...], report: Report) -> str:
    """What may have been meant."""
    import difflib

    known = [finding.id for finding in report.findings][:1000]
    near = [one for wanted in ids for one in difflib.get_close_matches(wanted[:80], known, n=1) if one != wanted]
    return f" (did you mean {near[0]!r}?)" if near else ""


def _of(report: Report) -> str:
    """What a report is of, in a few words."""
    names = [target.path for target in report.targets[:1]]
    more = len(report.targets) - len(names)
    return ", ".join([*names, f"{more:,} more"] if more else names) or report.command
