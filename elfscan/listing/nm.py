"""Listings of ``nm``, also System.map and /proc/kallsyms."""

from __future__ import annotations

import re

from elfscan.listing.rows import HEAD, Listing, Symbol, extent, spanned
from sharing.model import Malformed

_LINE = re.compile(
    r"^(?P<address>[0-9a-fA-F]{1,16}) (?:(?P<size>[0-9a-fA-F]{1,16}) )?(?P<letter>[A-Za-z\-?]) (?P<name>[^\t\n]+)"
    r"(?:\t(?P<declared>[^\n]*))?$",
    re.MULTILINE,
)
_OTHER_LINE = re.compile(r"^ {8,16}(?: {8,17})? ?[UwvWV] \S|^\S.*:$|^$", re.MULTILINE)
_MODULE = re.compile(r"(?<!\s)\s+\[\w+\]$")
# What linkers and assemblers mark addresses with.
_MARK = re.compile(
    r"_*(?:end|edata|etext|bss_start|bss_start__|bss_end__|data_start|dso_handle|TMC_END)_*|_GLOBAL_OFFSET_TABLE_|_DYNAMIC"
)
# nm(1): the letter is the kind of section; upper case is global, u a GNU unique global, v and V weak objects.
_SECTIONS = {
    "b": ".bss",
    "s": ".sbss",
    "d": ".data",
    "g": ".sdata",
    "c": "COMMON",
    "u": ".data",
    "v": ".data",
    "r": ".rodata",
    "t": ".text",
    "w": ".text",
    "i": ".text",
}
_GLOBAL_LOWER = "uvwi"


def shows(text: str) -> bool:
    return _LINE.search(text, 0, HEAD) is not None


def read(path: str, text: str) -> Listing:
    """A section for each letter.  Raises Malformed."""
    symbols: list[Symbol] = []
    end = 0
    sized = False
    for found in _LINE.finditer(text):
        if found.start() > end and not _skippable(text[end : found.start()]):
            raise Malformed(path, end, "not a line of nm's output")
        end = found.end()
        letter, size = found["letter"], found["size"]
        section = _SECTIONS.get(letter.lower())
        if section is None:
            continue  # absolute, debugging and undefined symbols are not in memory
        sized |= size is not None
        symbols.append(
            Symbol(
                _MODULE.sub("", found["name"]),  # kallsyms: the module behind the name
                *extent(path, found.start(), found["address"], size),
                section,
                local=letter.islower() and letter not in _GLOBAL_LOWER,
                declared=found["declared"] or "",
            )
        )
    if not _skippable(text[end:]):
        raise Malformed(path, end, "not a line of nm's output")
    return spanned([symbol for symbol in symbols if not _is_mark(symbol, sized=sized)])


def _is_mark(symbol: Symbol, *, sized: bool) -> bool:
    """In a listing with sizes, data that has none."""
    if sized:
        return symbol.size <= 0 and symbol.section != ".text"
    return _MARK.fullmatch(symbol.name) is not None


def _skippable(between: str) -> bool:
    """Blank lines, headings of ``nm`` on several files, undefined symbols."""
    return all(_OTHER_LINE.match(line) for line in between.split("\n"))
