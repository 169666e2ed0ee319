"""``linemate lines``: what the user wants to see of a layout, shown."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.commands.groups import PLAIN, DocumentOptions, ProjectOptions, grouped
from linemate.output import MAX_WIDTH, progress, write_text
from reports.escape import visible


@click.command("lines", short_help="Show the lines of BINARY around symbols, byte by byte.")
@click.argument("binary")
@click.argument("symbols", nargs=-1, metavar="[SYMBOL|TYPE|ADDRESS]...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    help="Default: by the suffix of --output.",
)
@click.option("--context", type=click.IntRange(0, 1024), default=1, show_default=True, help="Lines shown on each side.")
@click.option(
    "--max-lines", type=click.IntRange(1, 65536), default=64, show_default=True, help="Lines shown per symbol."
)
@common.debug_option
@common.debuginfod_option
@common.common_options
@grouped(document=DocumentOptions, where=ProjectOptions)
def command(
    binary: str,
    symbols: tuple[str, ...],
    document: DocumentOptions,
    where: ProjectOptions,
    context: int,
    max_lines: int,
    debug_file: str | None,
    debuginfod: bool,
) -> int:
    """Show the lines of BINARY around each SYMBOL or ADDRESS, byte by byte, or the members of a TYPE on lines.

    SYMBOL and TYPE may go on into them: server.lruclock, slots[3].count, zone.lock.  Without one: how crowded the
    writable sections are.
    """
    project, line_size = where.read()
    inputs = (binary, debug_file, project.path or None)
    document.check(PLAIN, inputs)
    from linemate.debuginfod import find_debug_files
    from linemate.linequery import LinesOptions, lines

    options = LinesOptions(binary, symbols, line_size, context, max_lines, debug_file, project)
    with progress(f"linemate: reading {visible(binary)}", quiet=document.quiet):
        if debug_file is None:
            find_debug_files((binary,), asked=debuginfod, say=common.say)
        report = lines(options)
    if document.as_json:
        from reports.jsontext import encode

        text = encode(report)
    else:
        from reports.linemap import render

        text = render(report, document.render_options(widest=MAX_WIDTH))
    write_text(text, document.output, inputs)
    return common.EXIT_CLEAN
