"""``linemate show``: findings of a saved report, or of the last run, with everything that is known of them."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, grouped
from reports import EMITTERS
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
    """Show findings with all that is known of them.  ID is a finding's, its beginning, or the digits at its end.

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
    """The last report that has all findings, else the last of all, of which it is then said what it is of."""
    from linemate.byid import with_id
    from linemate.lastreport import KEPT, last_reports

    first: tuple[Report, str] | None = None
    for report, path in last_reports():
        if all(with_id(report.findings, wanted) for wanted in ids):
            if first is not None:
                common.say(f"from an earlier report, of {_of(report)}")
            return report, path
        first = first or (report, path)
    assert first is not None
    kept = f"the last report, of {_of(first[0])}, and those kept before it (the last {KEPT}; --in FILE names another)"
    return first[0], kept


def _of(report: Report) -> str:
    """What a report is of, in a few words."""
    names = [target.path for target in report.targets[:1]]
    more = len(report.targets) - len(names)
    return ", ".join([*names, f"{more:,} more"] if more else names) or report.command
