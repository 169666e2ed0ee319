"""``linemate help``: what ``--help`` says of a command, or of all."""

from __future__ import annotations

import click


def _names(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from linemate.commands import COMMANDS

    return [name for name in COMMANDS if name.startswith(incomplete)]


@click.command("help", short_help="Show the help of COMMAND, or the list of commands.")
@click.argument("name", required=False, metavar="[COMMAND]", shell_complete=_names)
@click.pass_context
def command(ctx: click.Context, name: str | None) -> None:
    """Show what COMMAND does and its options; without one, all commands."""
    group = ctx.parent
    assert group is not None
    if name is None:
        click.echo(group.get_help())
        return
    # resolve_command says what is wrong with a name that there is not, as for the command itself.
    assert isinstance(group.command, click.Group)
    _, found, _ = group.command.resolve_command(group, [name])
    assert found is not None
    click.echo(found.get_help(click.Context(found, info_name=name, parent=group)))
