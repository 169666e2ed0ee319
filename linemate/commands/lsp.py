"""``linemate lsp``: the check as a language server for editors."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.extras import missing
from sharing.model.finding import Severity


@click.command("lsp", short_help="Serve editors: diagnostics, lines of variables and edits (language server).")
@common.database_option
@common.binary_option
@click.option(
    "--min-severity",
    type=click.Choice([severity.value for severity in Severity]),
    default=Severity.LOW.value,
    show_default=True,
    help="Show from this severity on.",
)
@common.config_option
def command(database: str | None, binary: str | None, min_severity: str, config: str | None) -> int:
    """Speak the language server protocol on standard input and output, for an editor that starts this.

    Sources are read when a file is opened first and at each save.
    """
    try:
        from linemate.editor.server import serve
    except ModuleNotFoundError as error:
        raise missing(f"lsp needs the Python package {error.name}", "lsp") from error
    from linemate.checking.run import facts_request
    from linemate.options import CheckOptions

    project = common.read_project(config)
    serve(
        CheckOptions(
            facts=facts_request(database, (), None, 0, cached=True),
            binary=binary or "",
            line_size=project.project.line_size,
            min_severity=Severity(min_severity),
            project=project,
        )
    )
    return common.EXIT_CLEAN
