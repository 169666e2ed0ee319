"""``linemate lines``: what the user wants to see of a layout, shown."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.output import check_output, progress, write_text
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
@common.common_options
def command(
    binary: str,
    symbols: tuple[str, ...],
    format_name: str | None,
    context: int,
    max_lines: int,
    line_size: str | None,
    debug_file: str | None,
    config: str | None,
    output: str | None,
    quiet: bool,
) -> int:
    """Show the lines of BINARY around each SYMBOL or ADDRESS, byte by byte, or the members of a TYPE on lines.

    SYMBOL may go on into the variable: server.lruclock, slots[3].count.  Without one: how crowded the writable
    sections are.
    """
    project = common.read_project(config)
    inputs = (binary, debug_file, project.path or None)
    check_output(output, inputs)
    as_json = common.wants_json(format_name, output)
    from linemate.linequery import LinesOptions, lines

    options = LinesOptions(
        binary, symbols, common.line_size_of(line_size, project), context, max_lines, debug_file, project
    )
    with progress(f"linemate: reading {visible(binary)}", quiet=quiet):
        report = lines(options)
    if as_json:
        from reports.jsontext import encode

        text = encode(report)
    else:
        from reports.linemap import render

        text = render(report, common.render_options(output, quiet))
    write_text(text, output, inputs)
    return common.EXIT_CLEAN
