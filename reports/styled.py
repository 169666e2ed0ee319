"""Text in columns as lines of (text, style) pieces: colours, wrapping, and the picture of a line.

Owns how pieces become text: without colour they are joined, with colour rich writes them, and rich is imported only
then.  Nothing is parsed as markup.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence

from reports import picture as pictures
from sharing.model import LinePicture

Piece = tuple[str, str]
Line = list[Piece]

INDENT = "  "
MIN_WIDTH = 60
NAME_WIDTH = 44

SEVERITY_STYLE = {
    "critical": "bold white on red",
    "high": "bold red",
    "medium": "bold yellow",
    "low": "cyan",
    "note": "dim",
}
_OWNER_STYLES = ("red", "blue", "green", "magenta", "yellow", "cyan")


def paint(lines: Sequence[Line], *, color: bool) -> str:
    """The lines as one text, with ANSI styles or without."""
    if not color:
        return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", width=1 << 16, highlight=False)
    for line in lines:
        console.print(Text.assemble(*line), soft_wrap=True, end="\n")
    return out.getvalue()


def owner_styles(picture: LinePicture) -> dict[pictures.Owner, str]:
    """A colour for each owner; colours repeat after six, letters tell them apart."""
    return {owner: _OWNER_STYLES[i % len(_OWNER_STYLES)] for i, owner in enumerate(pictures.marks(picture))}


def picture_rows(picture: LinePicture) -> Iterator[Line]:
    """The ruler and the bytes, 64 to a row."""
    styles = owner_styles(picture)
    for first, groups in pictures.rows(picture):
        yield [(f"{INDENT} {pictures.ruler(first, len(groups))}", "dim")]
        row: Line = [(f"{INDENT}|", "dim")]
        for group in groups:
            for cell, chars in pictures.runs(group):
                style = styles.get(cell.owner, "dim")
                row.append((chars, f"bold {style} reverse" if cell.hot else style))
            row.append(("|", "dim"))
        yield row


def wrapped(text: str, width: int, indent: str, *, hang: int = 0, style: str = "") -> Iterator[Line]:
    for line in textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * hang,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ):
        yield [(line, style)]
