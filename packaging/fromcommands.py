"""Manual pages and completions of shells, made of the commands: ``fromcommands.py FOLDER`` fills ``FOLDER/share``.

Owns the form of a manual page and where each shell looks for completions.  What an option means is said once, where
the option is; what a shell asks while somebody types is answered by the commands (``linemate.completion``).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

ROOT = Path(__file__).resolve().parent.parent
COMPLETIONS = {
    "bash": "bash-completion/completions/linemate",
    "zsh": "zsh/site-functions/_linemate",
    "fish": "fish/vendor_completions.d/linemate.fish",
}


def main(folder: Path) -> None:
    """Write all files below ``folder/share``."""
    sys.path.insert(0, str(ROOT))
    from click.shell_completion import get_completion_class

    from linemate.cli import cli
    from linemate.completion import VARIABLE
    from linemate.version import __version__

    files: dict[str, str] = {}
    top = cli.make_context("linemate", [], resilient_parsing=True)
    names = cli.list_commands(top)
    pages = [("linemate", top), *((name, _context(top, name)) for name in names)]
    for name, context in pages:
        title = "linemate" if context is top else f"linemate-{name}"
        others = ["linemate", *(f"linemate-{other}" for other in names)]
        files[f"man/man1/{title}.1"] = _page(title, context, __version__, [one for one in others if one != title])
    for shell, path in COMPLETIONS.items():
        kind = get_completion_class(shell)
        assert kind is not None
        made = kind(cli, {}, "linemate", VARIABLE)
        # Not source(): it asks the shell of this machine for its version.
        files[path] = (made.source_template % made.source_vars()).lstrip()
    for path, text in files.items():
        target = folder / "share" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _context(top: click.Context, name: str) -> click.Context:
    import click

    assert isinstance(top.command, click.Group)
    command = top.command.get_command(top, name)
    assert command is not None
    return click.Context(command, info_name=name, parent=top)


def _page(title: str, context: click.Context, version: str, others: list[str]) -> str:
    """One page in the macros of man(7)."""
    import click

    command = context.command
    help_text = command.help or ""
    summary = (command.short_help or help_text.split("\n")[0]).rstrip(".")
    lines = [
        f'.TH "{title.upper()}" "1" "" "linemate {version}" "User commands"',
        ".SH NAME",
        _plain(f"{title} - {summary[:1].lower()}{summary[1:]}"),
        ".SH SYNOPSIS",
        f".B {_plain(context.command_path)}",
        _plain(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
    ]
    for paragraph in re.split(r"\n\s*\n", help_text.strip()):
        lines += [".PP", _plain(" ".join(paragraph.split()))]
    records = [p.get_help_record(context) for p in command.get_params(context)]
    lines += [".SH OPTIONS"]
    for names, meaning in (record for record in records if record and record[1]):
        lines += [".TP", f".B {_plain(names)}", _plain(meaning)]
    if isinstance(command, click.Group):
        lines += [".SH COMMANDS"]
        for name in command.list_commands(context):
            one = _context(context, name).command
            lines += [".TP", f".B {_plain(name)}", _plain(one.get_short_help_str(300))]
    lines += [".SH EXIT STATUS"]
    for code, meaning in (
        ("0", "Nothing at or above what --fail-on says."),
        ("1", "Findings."),
        ("2", "Bad usage, or an input that cannot be read."),
        ("3", "The analysis is incomplete."),
    ):
        lines += [".TP", f".B {code}", _plain(meaning)]
    lines += [".SH SEE ALSO", _plain(", ".join(f"{other}(1)" for other in others))]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that roff takes for nothing else; dashes stay dashes, so that options can be searched and copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    main(Path(sys.argv[1]))
