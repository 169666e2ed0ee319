"""``linemate show``: findings of a saved report, or of the last run, with everything that is known of them."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, grouped
from reports import EMITTERS


@click.command("show", short_help="Show findings by ID with all evidence.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--in",
    "saved",
    metavar="FILE",
    help="The JSON document of audit or check that has them.  [default: what audit or check said last]",
)
@common.format_option(EMITTERS)
@common.output_option
@grouped(document=DocumentOptions)
def command(ids: tuple[str, ...], saved: str | None, document: DocumentOptions) -> int:
    """Show findings with all that is known of them.  ID is a finding's, or the beginning of one."""
    from dataclasses import replace

    import msgspec

    from linemate.lastreport import last_report
    from linemate.saved import named, read_report

    document.check(EMITTERS, (saved,))
    report, path = last_report() if saved is None else (read_report(saved), saved)
    chosen = {finding.id for wanted in ids for finding in named(report, wanted, path)}
    findings = tuple(finding for finding in report.findings if finding.id in chosen)
    shown = msgspec.structs.replace(report, findings=findings)
    alone = replace(document, quiet=True)
    alone.write(shown, EMITTERS, (path,), alone.render_options(common.rule_infos()))
    return common.EXIT_CLEAN
