"""``linemate report``: a saved document in another format."""

from __future__ import annotations

from dataclasses import replace

import click
import msgspec

from linemate.commands import common, explain, history
from linemate.commands.groups import DocumentOptions, grouped
from linemate.output import check_output
from linemate.saved import Saved
from reports import EMITTERS
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError
from sharing.model.finding import Report, Severity


@click.command("report", short_help="Render a report that was saved as JSON again.")
@click.argument("saved")
@common.fail_option("Exit with 1 from this severity on, as the command that made SAVED.")
@click.option(
    "--min-severity",
    type=click.Choice([severity.value for severity in Severity]),
    help="Show from this severity on.  [default: all that SAVED has]",
)
@common.format_option(EMITTERS)
@common.brevity_options
@common.output_option
@common.quiet_option("In text, findings without the summary.")
@grouped(document=DocumentOptions)
def command(saved: str, fail_on: str | None, min_severity: str | None, document: DocumentOptions) -> int:
    """Render SAVED, the JSON document of audit, check, explain or history, in the format that is asked for.

    SAVED may be - for standard input.  The exit code is that of the command that made it.
    """
    from linemate.saved import read_saved

    check_output(document.output, (saved,))
    read, kind = read_saved(saved)
    name = document.format_of(kind.emitters)
    if name not in kind.emitters:
        raise LinemateError(f"{saved}: a document of {read.command} has no format {name}: {', '.join(kind.emitters)}")
    rules = common.rule_infos() if isinstance(read, Report) else ()
    limit = common.fail_limit(fail_on)
    options = replace(document.render_options(rules, limit), saved=saved)
    shown = read if min_severity is None else _from(read, Severity(min_severity), saved)
    document.write(shown, kind.emitters, (saved,), options)
    if isinstance(read, Report):
        return common.exit_code(read, limit)
    if isinstance(read, Comparison):
        return explain.exit_code(read, limit)
    return history.exit_code(read, fails=limit is not None)


def _from(read: Saved, least: Severity, saved: str) -> Report:
    """The report without its findings below ``least``, which count as hidden.  The exit code is that of the whole."""
    if not isinstance(read, Report):
        raise LinemateError(
            f"{saved}: --min-severity is for documents of audit and check, this is one of {read.command}"
        )
    shown = tuple(finding for finding in read.findings if finding.severity.rank >= least.rank)
    return msgspec.structs.replace(read, findings=shown, hidden=read.hidden + len(read.findings) - len(shown))
