"""What every listing comes to: symbols and the sections that they are in.

Owns the step from names and hexadecimal numbers of a text to these.  Knows no format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sharing.model import Malformed, SectionKind

HEAD = 1 << 16  # characters in which a format has to show itself
ADDRESS_LIMIT = (1 << 64) - 1  # of an end, which has to fit into 64 bits as well
MAX_OBJECT_BYTES = (1 << 63) - 1

# By the beginning of a section's name; the first that fits.
_KINDS = (
    (".tbss", SectionKind.TLS),
    (".tdata", SectionKind.TLS),
    (".text", SectionKind.CODE),
    (".init_array", SectionKind.RELRO),
    (".fini_array", SectionKind.RELRO),
    (".init", SectionKind.CODE),
    (".fini", SectionKind.CODE),
    (".plt", SectionKind.CODE),
    (".rodata", SectionKind.CONSTANT),
    (".eh_frame", SectionKind.CONSTANT),
    (".data.rel.ro", SectionKind.RELRO),
    (".got", SectionKind.RELRO),
    (".dynamic", SectionKind.RELRO),
    (".data..percpu", SectionKind.PERCPU),
    (".data", SectionKind.WRITABLE),
    (".sdata", SectionKind.WRITABLE),
    (".bss", SectionKind.WRITABLE),
    (".sbss", SectionKind.WRITABLE),
    ("COMMON", SectionKind.WRITABLE),
)


@dataclass(slots=True)
class Symbol:
    """``size`` -1: not listed; ``at_most``: not listed either, but no more than that.

    ``unit`` is the object file that brought it, ``declared`` its ``file:line``; "" unknown.
    """

    name: str
    address: int
    size: int
    section: str
    local: bool = False
    unit: str = ""
    declared: str = ""
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """One output section: start, end, alignment (0 unknown)."""

    name: str
    kind: SectionKind
    start: int
    end: int
    alignment: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """What was read."""

    symbols: Sequence[Symbol]
    regions: Sequence[Region]


def extent(path: str, offset: int, address: str, size: str | None) -> tuple[int, int]:
    """Start and size (-1 unknown) from hexadecimal.  Raises Malformed where no memory could hold them."""
    start, count = int(address, 16), int(size, 16) if size else -1
    if count > MAX_OBJECT_BYTES or start + count > ADDRESS_LIMIT:
        raise Malformed(path, offset, f"{count:#x} bytes from {start:#x} on reach beyond 64 bits")
    return start, count


def kind_of(section: str) -> SectionKind:
    return next((kind for prefix, kind in _KINDS if section.startswith(prefix)), SectionKind.OTHER)


def spanned(symbols: Sequence[Symbol]) -> Listing:
    """Where no section is listed: each reaches from its first to its last symbol."""
    spans: dict[str, tuple[int, int]] = {}
    for symbol in symbols:
        low, high = spans.get(symbol.section, (symbol.address, symbol.address))
        end = min(symbol.address + max(symbol.size, 1), ADDRESS_LIMIT)
        spans[symbol.section] = (min(low, symbol.address), max(high, end))
    return Listing(symbols, [Region(name, kind_of(name), low, high) for name, (low, high) in spans.items()])
