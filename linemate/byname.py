"""Variables and members by the names that users type: own names, names qualified by a function, aliases, members.

Owns the look-up.  What is shown of what was found is ``linemate.linequery``'s, what must stay apart
``linemate.guardfile``'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from sharing.model.image import Image, SectionKind, VariableFlag
from sharing.model.linkage import as_written
from sharing.model.types import TypeTable

_INDEX = re.compile(r"\[(\d{1,18})\]")
_OFFSET = re.compile(r"\+(0[xX][0-9a-fA-F]{1,16}|0|[1-9]\d{0,18})$")
_KIND = re.compile(r" \([\w ]+\)$")
_SEPARATORS = ".[+"
_FEW_WANTED = 4
# What is named by its address has another name in the next build.
_BY_ADDRESS = re.compile(r"(?:[\w.$]+\+0x[0-9a-f]+|heap .*|0x[0-9a-f]+)(?: \(.*\))?")


def is_by_address(name: str) -> bool:
    """Whether a variable has no name but its place: ``bss+0x40 (mutex)``."""
    return _BY_ADDRESS.fullmatch(name) is not None


def parts_of(symbol: str) -> int:
    """How many names ``candidates`` makes of it; their length together grows with the square."""
    return 1 + sum(map(symbol.count, _SEPARATORS))


def candidates(symbols: Iterable[str]) -> frozenset[str]:
    """All names of variables that the symbols can mean: themselves, and what is in front of a member or an offset."""
    return frozenset(
        part
        for symbol in map(as_written, symbols)
        for part in (symbol, *(symbol[:at] for at, ch in enumerate(symbol) if ch in _SEPARATORS))
    )


def rows_by_name(image: Image, wanted: frozenset[str] | None = None) -> dict[str, list[int]]:
    """Rows by every name that a user may type: own, qualified by its function, and aliases; only ``wanted`` ones.

    A table of all names of two million variables takes longer to make than everything else.
    """
    rows: dict[str, list[int]] = {}

    def put(name: str, row: int) -> None:
        if wanted is None or name in wanted:
            rows.setdefault(name, []).append(row)

    called = image.variables["name"]
    named = called >= 0 if wanted is None else np.isin(called, _positions(image.names, wanted))
    for row in np.flatnonzero(named).tolist():
        put(image.names[int(called[row])], row)
    # A recovered object is called "bss+0x40 (mutex)": what it is need not be typed.
    for row in np.flatnonzero(image.variables["flags"] & VariableFlag.RECOVERED).tolist():
        name = image.names[int(called[row])]
        plain = _KIND.sub("", name)
        if plain != name:
            put(plain, row)
    for row in np.flatnonzero(image.variables["scope"] >= 0).tolist():
        put(image.variable_name(row), row)
    for row, aliases in image.aliases.items():
        for alias in aliases:
            put(alias, row)
    return rows


def _positions(names: list[str], wanted: frozenset[str]) -> list[int]:
    """Where ``wanted`` stand in ``names``: few are compared with all, since to hash millions of names takes longer."""
    if len(wanted) > _FEW_WANTED:
        return [at for at, name in enumerate(names) if name in wanted]
    found = []
    for name in wanted:
        at = -1
        for _ in range(names.count(name)):
            at = names.index(name, at + 1)
            found.append(at)
    return found


def spans_of(image: Image, symbols: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
    """(address, size in bytes) of every variable or member that each symbol names, thread-local ones left out.

    Where there is none: of the nearest variable or member that it was a part of.
    """
    symbols = list(symbols)
    names = rows_by_name(image, candidates(symbols))
    thread_local = {section.index for section in image.sections if section.kind is SectionKind.TLS}
    found: dict[str, list[tuple[int, int]]] = {}
    for symbol in symbols:
        found[symbol] = spans = []
        for part in _with_owners(symbol):
            rows, member = split_member(names, part)
            for row in dict.fromkeys(rows):
                variable = image.variables[row]
                if int(variable["section"]) in thread_local:
                    continue
                inner = member_span(image, row, member) if member else (0, max(int(variable["size"]), 1))
                if inner is not None:
                    spans.append((int(variable["address"]) + inner[0], inner[1]))
            if spans or not rows:
                break
    return found


def _with_owners(symbol: str) -> Iterator[str]:
    """The name, and the variables or members that it may be a part of, the nearest first."""
    yield symbol
    yield from (symbol[:at] for at in range(len(symbol) - 1, 0, -1) if symbol[at] in ".[")


def split_member(names: dict[str, list[int]], symbol: str) -> tuple[list[int], str]:
    """Rows and member path: the longest beginning that is a variable's name, so that dots in names are no trouble."""
    symbol = as_written(symbol)
    if symbol in names:
        return names[symbol], ""
    for at in range(len(symbol) - 1, 0, -1):
        if symbol[at] in _SEPARATORS and symbol[:at] in names:
            return names[symbol[:at]], symbol[at:].removeprefix(".")
    return [], ""


def by_ending(names: dict[str, list[int]], symbol: str) -> list[str]:
    """Full names of variables whose names end in it, ``main.total`` of ``total``, with what it has behind the name.

    One name for each variable, the shortest first.
    """
    bases = [symbol, *(symbol[:at] for at in range(len(symbol) - 1, 0, -1) if symbol[at] in _SEPARATORS)]
    for base in bases:
        ends = (f".{base}", f"::{base}")
        chosen: dict[tuple[int, ...], str] = {}
        for name in sorted((name for name in names if name.endswith(ends)), key=lambda name: (len(name), name)):
            chosen.setdefault(tuple(names[name]), name + symbol[len(base) :])
        if chosen:
            return list(chosen.values())
    return []


def member_span(image: Image, row: int, path: str) -> tuple[int, int] | None:
    """(offset, size) of a member and all below it; an index chooses the element, else the first is meant.

    ``+0x40`` is the byte at that offset, for variables whose type is not known.
    """
    if path.startswith("+"):
        size = int(image.variables["size"][row])
        return (int(path, 0), 1) if _OFFSET.match(path) and int(path, 0) < size else None
    return path_span(image.types, int(image.variables["type"][row]), path)


def path_span(types: TypeTable, kind: int, path: str) -> tuple[int, int] | None:
    """(offset, size) of a member of a type and all below it; an index chooses the element, else the first is meant."""
    index = _INDEX.search(path)
    number = int(index[1]) if index else 0
    series = f"{path[: index.start()]}[]{path[index.end() :]}" if index else path
    flat = types.flatten(kind)
    leaves = [m for m in flat if m.path == series or m.path.startswith((f"{series}.", f"{series}["))]
    if not leaves and index and not path[index.end() :]:
        arrays = [m for m in flat if m.path == path[: index.start()] and m.stride > 0 and number < m.count]
        return (arrays[0].offset + number * arrays[0].stride, arrays[0].stride) if arrays else None
    if not leaves or (index and number >= leaves[0].count):
        return None
    start = min(m.offset for m in leaves)
    shift = number * leaves[0].stride if index else 0
    return start + shift, max(max(m.offset + m.size for m in leaves) - start, 1)
