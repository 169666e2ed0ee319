"""``linemate report``: a saved document in another format."""

from __future__ import annotations

import click

from linemate.commands import common, explain, history
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
def command(
    saved: str, fail_on: str | None, format_name: str | None, output: str | None, quiet: bool, details: bool, top: int
) -> int:
    """Render SAVED, the JSON document of audit, check, explain or history, in the format that is asked for.

    SAVED may be - for standard input.  The exit code is that of the command that made it.
    """
    from linemate.saved import read_saved

    check_output(output, (saved,))
    document, kind = read_saved(saved)
    name = common.format_of(kind.emitters, format_name, output)
    if name not in kind.emitters:
        raise LinemateError(
            f"{saved}: a document of {document.command} has no format {name}: {', '.join(kind.emitters)}"
        )
    rules = common.rule_infos() if isinstance(document, Report) else ()
    limit = common.fail_limit(fail_on)
    common.write_document(
        document, kind.emitters, name, output, (saved,), rules, quiet=quiet, details=details, top=top, limit=limit
    )
    if isinstance(document, Report):
        return common.exit_code(document, limit)
    if isinstance(document, Comparison):
        return explain.exit_code(document, limit)
    return history.exit_code(document, fails=limit is not None)
