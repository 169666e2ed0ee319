"""``linemate doctor``: what can be recorded on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from linemate.commands import common
from linemate.commands.groups import DocumentOptions, grouped
from linemate.output import progress, write_text


@click.command("doctor", short_help="Say what this machine can record, and what would give better evidence.")
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json"]), help="Default: by the suffix of --output."
)
@common.output_option
@common.quiet_option("No progress.")
@click.option("--root", default="/", hidden=True, help="Where proc and sys are.")
@grouped(document=DocumentOptions)
def command(document: DocumentOptions, root: str) -> int:
    """Say what this machine can record, why not more, and what to change.

    Tries every event on a short work of its own.  Exits with 1 where nothing can be sampled.
    """
    from linemate.doctor import diagnose

    as_json = document.as_json
    with progress("linemate: trying events", quiet=document.quiet):
        found = diagnose(Path(root))
    if as_json:
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
    else:
        from linemate.doctor_text import render

        text = render(found)
    write_text(text, document.output, ())
    return common.EXIT_CLEAN if found.best else common.EXIT_FINDINGS
