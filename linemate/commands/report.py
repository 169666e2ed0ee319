"""``linemate report``: a saved document in another format."""

from __future__ import annotations

from dataclasses import replace

import click

from linemate.commands import common, explain, history
from linemate.commands.groups import DocumentOptions, grouped
from linemate.output import check_output
from reports import EMITTERS
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError
from sharing.model.finding import Report


@click.command("report", short_help="Render a report that was saved as JSON again.")
@click.argument("saved")
@common.fail_option("Exit with 1 from this severity on, as the command that made SAVED.")
@common.format_option(EMITTERS)
@common.brevity_options
@common.output_option
@common.quiet_option("In text, findings without the summary.")
@grouped(document=DocumentOptions)
def command(saved: str, fail_on: str | None, document: DocumentOptions) -> int:
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
    document.write(read, kind.emitters, (saved,), options)
    if isinstance(read, Report):
        return common.exit_code(read, limit)
    if isinstance(read, Comparison):
        return explain.exit_code(read, limit)
    return history.exit_code(read, fails=limit is not None)
