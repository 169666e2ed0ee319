"""``linemate diff``: two saved reports against each other."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, grouped
from reports.diff import DIFF_EMITTERS
from sharing.model.finding import Severity
from sharing.model.reportdiff import ReportDiff


@click.command("diff", short_help="Say which findings of two saved reports are new, gone or moved.")
@click.argument("old")
@click.argument("new")
@common.fail_option("Exit with 1 where a finding is new, or worse than before, and at least so severe.")
@common.format_option(DIFF_EMITTERS)
@common.output_option
@common.quiet_option("In text, findings without the summary.")
@grouped(document=DocumentOptions)
def command(old: str, new: str, fail_on: str | None, document: DocumentOptions) -> int:
    """Say what became of the findings of OLD in NEW: JSON documents of audit or check, of two builds or two days.

    A finding is the same one where rule, variables and their files are, wherever it lies.
    """
    from linemate.reportdiff import difference
    from linemate.saved import read_report

    document.check(DIFF_EMITTERS, (old, new))
    found = difference(read_report(old), read_report(new))
    document.write(found, DIFF_EMITTERS, (old, new))
    return exit_code(found, common.fail_limit(fail_on))


def exit_code(found: ReportDiff, limit: Severity | None) -> int:
    """3 where a report is of an incomplete analysis, before 1 for what is new or worse."""
    if found.incomplete:
        return common.EXIT_INCOMPLETE
    worse = (row.new for row in found.differences if row.worse and row.new is not None)
    failed = limit is not None and any(side.severity.rank >= limit.rank for side in worse)
    return common.EXIT_FINDINGS if failed else common.EXIT_CLEAN
