"""What a shell is told while somebody types a command.

Owns which arguments are names of files: commands take them as text, since linemate says itself what is wrong with one.
"""

from __future__ import annotations

import os

import click

VARIABLE = "_LINEMATE_COMPLETE"  # set by the scripts that the packages install
_FILES = ("FILE", "BINARY", "PATH...", "SAVED", "OLD", "NEW", "[SOURCE]...", "[ID|SOURCE]...", "PATH", "DIR")


def asked() -> bool:
    """Whether a shell asks, not a person."""
    return VARIABLE in os.environ


def with_file_names(command: click.Command) -> click.Command:
    """The same command, whose files complete as such.  For this process alone, which runs nothing else."""
    for parameter in command.params:
        shown = parameter.metavar or (parameter.name or "").upper()
        if shown in _FILES and isinstance(parameter.type, click.types.StringParamType):
            parameter.type = click.Path(file_okay=shown != "DIR")
    return command
