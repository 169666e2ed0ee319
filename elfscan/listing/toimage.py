"""A listing as an image: tables sorted by address, one variable an address, sizes where none are listed.

Owns that step for all formats.  What a listing cannot say stays empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.listing.rows import Listing, Region, Symbol
from sharing.model import (
    FUNCTION_DTYPE,
    VARIABLE_DTYPE,
    Architecture,
    Image,
    ImageKind,
    Malformed,
    Section,
    SectionKind,
    VariableFlag,
)
from sharing.model.finding import NO_ARCHITECTURE
from sharing.model.image import FunctionFlag, Unit

Rows = npt.NDArray[np.int64]

# Lines of 64 bytes are an assumption that whoever compares may replace.
UNKNOWN_ARCHITECTURE = Architecture(NO_ARCHITECTURE, 64, "little", 64, 128, False)
_LINE_DIGITS = 8  # of a line number


def image_of(path: str, listing: Listing, format_name: str) -> Image:
    """Raises Malformed where nothing is listed."""
    symbols = listing.symbols
    if not symbols:
        raise Malformed(path, None, f"this {format_name} names no variable and no function")
    regions = sorted(listing.regions, key=lambda r: (r.start, r.name))
    columns = _Columns.of(symbols, regions)
    code = np.array([r.kind is SectionKind.CODE for r in regions] + [False])[columns.section]
    leads, aliases = _one_each(symbols, columns, np.flatnonzero(~code & (columns.section >= 0)))
    units = tuple(dict.fromkeys(s.unit for s in symbols if s.unit))
    variables, files = _variables(symbols, columns, leads, units)
    _fill_sizes(variables, columns.size[leads], regions)
    inferred = variables["flags"] & VariableFlag.SIZE_INFERRED != 0
    return Image(
        path=path,
        member=None,
        arch=UNKNOWN_ARCHITECTURE,
        kind=ImageKind.EXECUTABLE,
        build_id=None,
        synthetic=False,
        sections=tuple(
            Section(i, r.name, r.kind, r.start, r.end - r.start, r.alignment, None) for i, r in enumerate(regions)
        ),
        names=[s.name for s in symbols],
        variables=variables,
        functions=_functions(columns, np.flatnonzero(code)),
        units=tuple(Unit(u, "", "", "") for u in units),
        files=files,
        aliases=aliases,
        notes=(
            f"{format_name}: no code, no types, no processor"
            + ("; sizes reach up to the next symbol" if inferred.any() else ""),
        ),
        counts={"symbols": len(symbols), "symtab_symbols": len(symbols), "variables": len(variables)},
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The symbols as arrays; ``section`` is the number of the region, -1 none."""

    section: Rows
    address: npt.NDArray[np.uint64]
    size: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]
    named: npt.NDArray[np.bool_]
    at_most: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, symbols: Sequence[Symbol], regions: Sequence[Region]) -> _Columns:
        number = {region.name: row for row, region in enumerate(regions)}
        return cls(
            np.array([number.get(s.section, -1) for s in symbols], np.int64),
            np.array([s.address for s in symbols], np.uint64),
            np.array([s.size for s in symbols], np.int64),
            np.array([s.local for s in symbols], bool),
            np.array([bool(s.name) for s in symbols], bool),
            np.array([s.at_most for s in symbols], bool),
        )


def _one_each(symbols: Sequence[Symbol], columns: _Columns, data: Rows) -> tuple[Rows, dict[int, tuple[str, ...]]]:
    """(one row an address, in order; the other names there): what has a size leads, and what is global."""
    address, section = columns.address, columns.section
    data = data[np.lexsort((data, columns.local[data], columns.size[data] <= 0, address[data], section[data]))]
    first = np.ones(len(data), bool)
    first[1:] = (address[data[1:]] != address[data[:-1]]) | (section[data[1:]] != section[data[:-1]])
    leads = data[first]
    lead_of = np.cumsum(first) - 1
    by_address = np.argsort(address[leads], kind="stable")
    rank = np.zeros(len(leads), np.int64)
    rank[by_address] = np.arange(len(leads))
    aliases: dict[int, list[str]] = {}
    for row, lead in zip(data[~first].tolist(), rank[lead_of[~first]].tolist(), strict=True):
        aliases.setdefault(lead, []).append(symbols[row].name)
    return leads[by_address], {lead: tuple(names) for lead, names in aliases.items()}


def _variables(
    symbols: Sequence[Symbol], columns: _Columns, leads: Rows, units: tuple[str, ...]
) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """(the variables of the rows ``leads``, still without sizes; the files that declare them)."""
    declared = [_file_and_line(symbol.declared) for symbol in symbols]
    files = {name: row for row, name in enumerate(dict.fromkeys(name for name, _ in declared if name))}
    unit_number = {u: i for i, u in enumerate(units)}
    variables = np.zeros(len(leads), VARIABLE_DTYPE)
    for column in ("type", "scope", "file", "unit"):
        variables[column] = -1
    variables["address"], variables["section"] = columns.address[leads], columns.section[leads]
    variables["name"] = np.where(columns.named[leads], leads, -1)
    variables["unit"] = [unit_number.get(symbols[row].unit, -1) for row in leads.tolist()]
    variables["file"] = [files.get(declared[row][0], -1) for row in leads.tolist()]
    variables["line"] = [declared[row][1] for row in leads.tolist()]
    variables["flags"] = np.where(columns.local[leads], VariableFlag.LOCAL, 0)
    variables["flags"] |= np.where(columns.at_most[leads], VariableFlag.SIZE_INFERRED, 0).astype(np.uint32)
    return variables, tuple(files)


def _file_and_line(declared: str) -> tuple[str, int]:
    name, _, line = declared.rpartition(":")
    return (name, int(line)) if name and line.isdecimal() and len(line) <= _LINE_DIGITS else ("", 0)


def _functions(columns: _Columns, rows: Rows) -> npt.NDArray[Any]:
    """The functions of these rows, by address."""
    rows = rows[np.argsort(columns.address[rows], kind="stable")]
    table = np.zeros(len(rows), FUNCTION_DTYPE)
    table["address"], table["size"] = columns.address[rows], np.maximum(columns.size[rows], 0)
    table["name"], table["section"] = np.where(columns.named[rows], rows, -1), columns.section[rows]
    table["flags"] = np.where(columns.local[rows], 0, FunctionFlag.EXPORTED)
    return table


def _fill_sizes(variables: npt.NDArray[Any], size: npt.NDArray[np.int64], regions: Sequence[Region]) -> None:
    """Sizes as listed; what has none reaches up to the next object of its section, and is marked."""
    unknown = size <= 0
    order = np.lexsort((variables["address"], variables["section"]))
    limit = np.array([r.end for r in regions] or [0], np.uint64)[variables["section"][order]]
    start = variables["address"][order]
    following = limit.copy()
    same = variables["section"][order][1:] == variables["section"][order][:-1]
    following[:-1] = np.where(same, start[1:], limit[:-1])
    room = np.where(following > start, following - start, np.uint64(0))
    reach = np.zeros(len(variables), np.uint64)
    reach[order] = room
    variables["size"] = np.where(unknown, reach, np.maximum(size, 0).astype(np.uint64))
    variables["flags"] |= np.where(unknown, VariableFlag.SIZE_INFERRED, 0).astype(np.uint32)
