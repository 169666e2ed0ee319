"""``linemate lsp``: the check as a language server for editors."""

from __future__ import annotations

from pathlib import Path

import click

from linemate.commands import common
from linemate.extras import missing
from sharing.model.finding import Severity
from sharing.model.project import ProjectConfig


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

    Sources are read when a file is opened first and at each save.  Without -p or --binary each file is of the program
    whose compile database is nearest to it.
    """
    try:
        from linemate.editor.server import serve
    except ModuleNotFoundError as error:
        raise missing(f"lsp needs the Python package {error.name}", "lsp") from error
    from linemate.checking.run import facts_request
    from linemate.config import find_config
    from linemate.editor.programs import Programs
    from linemate.options import CheckOptions

    def options_of(path: str | None, project: ProjectConfig) -> CheckOptions:
        return CheckOptions(
            facts=facts_request(path, (), None, 0, cached=True),
            binary=binary or "",
            line_size=project.project.line_size,
            min_severity=Severity(min_severity),
            project=project,
        )

    def nearest(path: Path) -> CheckOptions:
        near = config or find_config(path.parent)
        return options_of(str(path), common.read_project(str(near)) if near else common.NO_PROJECT)

    one = database is not None or binary is not None
    serve(Programs(options_of(database, common.read_project(config)) if one else None, nearest))
    return common.EXIT_CLEAN
