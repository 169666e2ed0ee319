"""Notes that people take of a few variables: ``lock: 0x1074120, size= 48 (cache line starts 0x1074100)``."""

from __future__ import annotations

import re

from elfscan.listing.rows import Listing, Symbol, extent, spanned
from sharing.model import Malformed

_LINE = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_][\w:.~]{0,200}?)[:=]? {0,4}0x(?P<address>[0-9a-fA-F]{1,16}),? {0,4}size ?[:=]? {0,4}"
    r"(?P<size>0x[0-9a-fA-F]{1,15}|[1-9]\d{0,15})\b[^\n]*$",
    re.MULTILINE,
)
_NAMES_SHOWN = 8


def shows(text: str) -> bool:
    return _LINE.search(text) is not None


def read(path: str, text: str, part: str) -> Listing:
    """The variables of the one block of lines whose heading, the line in front of it, has ``part`` in it."""
    blocks: list[tuple[str, list[tuple[int, re.Match[str]]]]] = []
    heading, inside, offset = "", False, 0
    for line in text.split("\n"):
        found = _LINE.match(line)
        if found and not inside:
            blocks.append((heading, []))
        if found:
            blocks[-1][1].append((offset, found))
        elif line.strip():
            heading = line.strip().rstrip(":")
        inside, offset = found is not None, offset + len(line) + 1
    meant = [lines for name, lines in blocks if part.lower() in name.lower()]
    if len(meant) != 1:
        names = [name for name, _ in blocks[:_NAMES_SHOWN]]
        raise Malformed(path, None, f"{len(meant)} blocks of addresses are meant: choose one with FILE#PART of {names}")
    return spanned(
        [
            Symbol(found["name"], *extent(path, at, found["address"], f"{int(found['size'], 0):x}"), ".data")
            for at, found in meant[0]
        ]
    )
