"""The commands: a table of names, one module each.

Owns the table and the loading, so that asking for one command imports no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

# Name on the command line, in the order of --help: the module, whose ``command`` is a click command.
COMMANDS = {
    "audit": "linemate.commands.audit",
    "check": "linemate.commands.check",
    "diff": "linemate.commands.diff",
    "doctor": "linemate.commands.doctor",
    "explain": "linemate.commands.explain",
    "fix": "linemate.fixing.command",
    "guard": "linemate.commands.guard",
    "help": "linemate.commands.help",
    "history": "linemate.commands.history",
    "lines": "linemate.commands.lines",
    "lsp": "linemate.commands.lsp",
    "record": "linemate.commands.record",
    "report": "linemate.commands.report",
    "rules": "linemate.commands.rules",
    "show": "linemate.commands.show",
}


def load(name: str) -> click.Command:
    """The command of that name."""
    return cast(click.Command, import_module(COMMANDS[name]).command)
