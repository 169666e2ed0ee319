"""Maps of lld (``-Map``): a table with one line for each output section, input section and symbol."""

from __future__ import annotations

import re

from elfscan.listing.rows import HEAD, Listing, Region, Symbol, extent, kind_of
from sharing.model import Malformed

_HEAD = re.compile(r"^\s*VMA\s+LMA\s+Size\s+Align\s+Out\s+In\s+Symbol$")
_LINE = re.compile(
    r"^\s*(?P<address>[0-9a-f]{1,16})\s+[0-9a-f]{1,16}\s+(?P<size>[0-9a-f]{1,16})\s+(?P<align>\d{1,19})"
    r"(?P<indent> +)(?P<rest>\S.*)$"
)
# What the last column names, by its indent (lld/ELF/MapFile.cpp): each level has eight blanks more than the one before.
_OUTPUT_INDENT, _INPUT_INDENT = 1, 9


def shows(text: str) -> bool:
    return _HEAD.match(text[:HEAD].split("\n", 1)[0]) is not None


def read(path: str, text: str) -> Listing:
    """Raises Malformed."""
    symbols: list[Symbol] = []
    regions: list[Region] = []
    output, unit = "", ""
    head, _, table = text.partition("\n")
    at, following = 0, len(head) + 1
    for line in table.split("\n"):
        at, following = following, following + len(line) + 1
        found = _LINE.match(line)
        if found is None:
            if line.strip():
                raise Malformed(path, at, f"not a line of lld's map: {line[:60]!r}")
            continue
        address, size = extent(path, at, found["address"], found["size"])
        indent, rest = len(found["indent"]), found["rest"]
        if indent == _OUTPUT_INDENT:
            output = rest if address else ""
            if output and size:
                regions.append(Region(rest, kind_of(rest), address, address + size, int(found["align"])))
        elif indent <= _INPUT_INDENT:
            unit = rest.partition(":(")[0].strip()
        elif output and not rest.startswith((". ", "PROVIDE")):
            symbols.append(Symbol(rest, address, size or -1, output, unit=unit))
    if not regions:
        raise Malformed(path, None, "the map lists no section with an address")
    return Listing(symbols, regions)
