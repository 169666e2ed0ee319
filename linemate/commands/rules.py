"""``linemate rules``: the registry as a list, or one rule's page."""

from __future__ import annotations

import click

from linemate.commands import common
from linemate.output import write_text


@click.command("rules")
@click.argument("rule_id", required=False, metavar="[ID]")
def command(rule_id: str | None) -> int:
    """List the rules, or explain the one named ID."""
    known = common.rule_infos()
    if rule_id is not None:
        info = common.rule_by_id(known, rule_id)
        write_text(f"{info.id}: {info.name} (usually {info.severity})\n\n{info.help_markdown.strip()}\n", None, ())
        return common.EXIT_CLEAN
    width = max(len(info.id) for info in known)
    level = max(len(info.severity.value) for info in known)
    rows = [f"{info.id:<{width}}  {info.severity.value:<{level}}  {info.summary}\n" for info in known]
    write_text("".join(rows), None, ())
    return common.EXIT_CLEAN
