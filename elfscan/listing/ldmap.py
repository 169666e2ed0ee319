"""Maps of GNU ld (``-Map``): output sections, the input sections in them, and global symbols without sizes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from elfscan.listing.rows import Listing, Region, Symbol, extent, kind_of
from sharing.model import Malformed

_HEAD = "Linker script and memory map"
# Output sections start in the first column, inputs in the second, symbols far right.
_OUTPUT = re.compile(r"^(?P<name>\S+)\s+0x(?P<address>[0-9a-f]{1,16})\s+0x(?P<size>[0-9a-f]{1,16})(?:\s+load .*)?$")
_INPUT = re.compile(
    r"^ (?P<name>\S+)\s+0x(?P<address>[0-9a-f]{1,16})\s+0x(?P<size>[0-9a-f]{1,16})(?: (?P<file>\S.*))?$"
)
_NAME_ALONE = re.compile(r"^ ?[.\w]\S*$")
_SYMBOL = re.compile(r"^ {16}0x(?P<address>[0-9a-f]{1,16}) {2,}(?P<name>[^\s=].*?)$")
# Where a symbol's name would be: assignments and commands of the linker's script.
_NO_NAME = (". ", ".=", "PROVIDE", "ASSERT", "[!provide]")


@dataclass(frozen=True, slots=True)
class _Input:
    """An input section with bytes; ``unit`` is the object file."""

    name: str
    start: int
    size: int
    unit: str

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def holds_one_object(self) -> bool:
        """-fdata-sections gives each object a section and names it: ``.bss.lock``."""
        return self.name.count(".") > 1


def shows(text: str) -> bool:
    return _HEAD in text


def read(path: str, text: str) -> Listing:
    """Raises Malformed."""
    found = _Map(path)
    pending = ""
    at = following = text.index(_HEAD)
    for line in text[at:].split("\n"):
        at, following = following, following + len(line) + 1
        if pending:
            # Only a line that begins with blanks goes on; names alone, line after line, would make ever longer ones.
            line, pending = pending + line if line[:1] == " " else line, ""
        if not found.takes(line, at) and _NAME_ALONE.match(line):
            pending = line  # a long name has its numbers on the next line
    if not found.regions:
        raise Malformed(path, None, "the map lists no section with an address")
    _bound_by_inputs(found.symbols, found.inputs)
    found.symbols += _unnamed(found)
    return Listing(found.symbols, found.regions)


@dataclass(slots=True)
class _Map:
    """What was read so far, and the sections that the next symbol is in."""

    path: str
    symbols: list[Symbol] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    inputs: list[_Input] = field(default_factory=list)
    output: str = ""  # "" is not allocated: debugging sections
    unit: str = ""
    limit: int = 0  # where the innermost section ends

    def takes(self, line: str, at: int) -> bool:
        """Reads a line at this offset; whether it is one with an address."""
        if found := _SYMBOL.match(line):
            address = int(found["address"], 16)
            if self.output and address < self.limit and not found["name"].startswith(_NO_NAME):
                self.symbols.append(Symbol(found["name"].strip(), address, -1, self.output, unit=self.unit))
        elif found := _INPUT.match(line):
            start, size = extent(self.path, at, found["address"], found["size"])
            self.unit, self.limit = (found["file"] or "").strip(), start + size
            if size and self.output and found["name"] != "*fill*":
                self.inputs.append(_Input(found["name"], start, size, self.unit))
        elif found := _OUTPUT.match(line):
            start, size = extent(self.path, at, found["address"], found["size"])
            self.output, self.unit, self.limit = found["name"] if start and size else "", "", start + size
            if self.output:
                self.regions.append(Region(self.output, kind_of(self.output), start, start + size))
        return found is not None


def _bound_by_inputs(symbols: Sequence[Symbol], inputs: Sequence[_Input]) -> None:
    """Sizes up to the next symbol or the end of the input section."""
    addresses = sorted(symbol.address for symbol in symbols)
    inputs = sorted(inputs, key=lambda one: one.start)
    starts = [one.start for one in inputs]
    for symbol in symbols:
        at = bisect_right(starts, symbol.address) - 1
        if at < 0 or symbol.address >= inputs[at].end:
            continue
        home = inputs[at]
        after = bisect_right(addresses, symbol.address)
        following = addresses[after] if after < len(addresses) else home.end
        symbol.size = min(following, home.end) - symbol.address
        # The only symbol of its input, from its first byte on, has it all; others may be followed by statics.
        alone = symbol.address == home.start and following >= home.end
        symbol.at_most = not (alone and home.holds_one_object)


def _unnamed(found: _Map) -> list[Symbol]:
    """Inputs without a symbol: objects without a name, or the file-static one that the input is named after."""
    addresses = sorted(symbol.address for symbol in found.symbols)
    regions = sorted(found.regions, key=lambda region: region.start)
    starts = [region.start for region in regions]
    out = []
    for one in found.inputs:
        first = bisect_left(addresses, one.start)
        if first < len(addresses) and addresses[first] < one.end:
            continue
        at = bisect_right(starts, one.start) - 1
        if at < 0 or one.start >= regions[at].end:
            continue
        prefix = f"{regions[at].name}."
        name = one.name[len(prefix) :] if one.name.startswith(prefix) else ""
        out.append(Symbol(name, one.start, one.size, regions[at].name, local=True, unit=one.unit))
    return out
