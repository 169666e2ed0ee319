"""Layouts from text: listings of ``nm`` (also System.map) and maps of linkers, as images without code.

Owns the formats, and the notes that people take of a few variables.  A listing knows names, addresses and mostly
sizes; a map of GNU ld or lld also says which object file brought what.  Nothing is known of accesses, types or the
processor, so nothing is judged from them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model import (
    ARG_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    VARIABLE_DTYPE,
    Architecture,
    Image,
    ImageKind,
    Malformed,
    Section,
    SectionKind,
    TypeTable,
    Unrecognized,
    VariableFlag,
)
from sharing.model.image import FunctionFlag, Unit
from sharing.model.inputs import read_input

# Lines of 64 bytes are an assumption that whoever compares may replace.
UNKNOWN_ARCHITECTURE = Architecture("unknown", 64, "little", 64, 128, False)
MAX_BYTES = 1 << 30  # maps of browsers have hundreds of MB

HEAD_BYTES = 1 << 16  # in which a format has to show itself
ADDRESS_LIMIT = (1 << 64) - 1  # of an end, which has to fit into 64 bits as well
MAX_OBJECT_BYTES = (1 << 63) - 1

# nm(1): the letter is the kind of section; upper case is global, u a GNU unique global, v and V weak objects.
_NM_LINE = re.compile(
    r"^(?P<address>[0-9a-fA-F]{1,16}) (?:(?P<size>[0-9a-fA-F]{1,16}) )?(?P<letter>[A-Za-z\-?]) (?P<name>[^\t\n]+)"
    r"(?:\t(?P<place>[^\n]*))?$",
    re.MULTILINE,
)
_MODULE = re.compile(r"(?<!\s)\s+\[\w+\]$")
_NM_OTHER = re.compile(r"^ {8,16}(?: {8,17})? ?[UwvWV] \S|^\S.*:$|^$", re.MULTILINE)
_MARK = re.compile(
    r"_*(?:end|edata|etext|bss_start|bss_start__|bss_end__|data_start|dso_handle|TMC_END)_*|_GLOBAL_OFFSET_TABLE_|_DYNAMIC"
)
# As in a report: "lock: 0x1074120, size= 48 (cache line starts 0x1074100)".
_NOTED = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_][\w:.~]{0,200}?)[:=]? {0,4}0x(?P<address>[0-9a-fA-F]{1,16}),? {0,4}size ?[:=]? {0,4}"
    r"(?P<size>0x[0-9a-fA-F]{1,15}|[1-9]\d{0,15})\b[^\n]*$",
    re.MULTILINE,
)
_LETTERS = {
    "b": (".bss", SectionKind.WRITABLE),
    "s": (".sbss", SectionKind.WRITABLE),
    "d": (".data", SectionKind.WRITABLE),
    "g": (".sdata", SectionKind.WRITABLE),
    "c": ("COMMON", SectionKind.WRITABLE),
    "u": (".data", SectionKind.WRITABLE),
    "v": (".data", SectionKind.WRITABLE),
    "r": (".rodata", SectionKind.CONSTANT),
    "t": (".text", SectionKind.CODE),
    "w": (".text", SectionKind.CODE),
    "i": (".text", SectionKind.CODE),
}
_PREFIXES = (
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
# GNU ld -Map: output sections start in the first column, inputs in the second, symbols far right.
_LD_HEAD = "Linker script and memory map"
_LD_OUTPUT = re.compile(r"^(?P<name>\S+)\s+0x(?P<address>[0-9a-f]{1,16})\s+0x(?P<size>[0-9a-f]{1,16})(?:\s+load .*)?$")
_LD_INPUT = re.compile(
    r"^ (?P<name>\S+)\s+0x(?P<address>[0-9a-f]{1,16})\s+0x(?P<size>[0-9a-f]{1,16})(?: (?P<file>\S.*))?$"
)
_LD_NAME_ALONE = re.compile(r"^ ?[.\w]\S*$")
_LD_SYMBOL = re.compile(r"^ {16}0x(?P<address>[0-9a-f]{1,16}) {2,}(?P<name>[^\s=].*?)$")
# lld -Map: a table; what is in the last column is an output section, an input section or a symbol by its indent.
_LLD_HEAD = re.compile(r"^\s*VMA\s+LMA\s+Size\s+Align\s+Out\s+In\s+Symbol$")
_LLD_LINE = re.compile(
    r"^\s*(?P<address>[0-9a-f]{1,16})\s+[0-9a-f]{1,16}\s+(?P<size>[0-9a-f]{1,16})\s+(?P<align>\d{1,19})"
    r"(?P<indent> +)(?P<rest>\S.*)$"
)


@dataclass(slots=True)
class _Rows:
    """What was read, one entry a symbol; ``unit`` is "" unknown, ``size`` -1 unknown, ``guessed`` at most that."""

    name: list[str] = field(default_factory=list)
    address: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    section: list[str] = field(default_factory=list)
    local: list[bool] = field(default_factory=list)
    unit: list[str] = field(default_factory=list)
    place: list[str] = field(default_factory=list)
    guessed: list[bool] = field(default_factory=list)

    def add(
        self, name: str, address: int, size: int, section: str, *, local: bool = False, unit: str = "", place: str = ""
    ) -> None:
        self.name.append(name)
        self.address.append(address)
        self.size.append(size)
        self.section.append(section)
        self.local.append(local)
        self.unit.append(unit)
        self.place.append(place)
        self.guessed.append(False)


@dataclass(frozen=True, slots=True)
class _Region:
    """One output section: start, end, alignment (0 unknown)."""

    name: str
    kind: SectionKind
    start: int
    end: int
    alignment: int = 0


def read_listing(path: str, part: str = "") -> Image:
    """The image of an ``nm`` listing, a System.map, a linker's map or notes of where variables lie.

    ``part`` is a part of the heading of the notes that are meant.  Raises Unrecognized, Malformed for a broken line.
    """
    data = read_input(path, MAX_BYTES, "a listing or a map")
    if not data:
        raise Malformed(path, 0, "the file is empty")
    if b"\0" in data[:HEAD_BYTES]:
        raise Unrecognized(path, "not text: no listing and no map")
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    head = text[:HEAD_BYTES]
    if _LD_HEAD in text:
        return _image(path, *_read_ld_map(path, text), "map of GNU ld")
    first = head.split("\n", 1)[0]
    if _LLD_HEAD.match(first):
        return _image(path, *_read_lld_map(path, text), "map of lld")
    if _NM_LINE.search(head):
        return _image(path, *_read_nm(path, text), "listing of nm")
    if _NOTED.search(text):
        return _image(path, *_read_notes(path, text, part), "notes of addresses")
    raise Unrecognized(path, "neither a listing of nm nor a map of GNU ld or lld")


def _read_notes(path: str, text: str, part: str) -> tuple[_Rows, list[_Region]]:
    """The variables of one block of lines; the line in front of a block is its heading."""
    blocks: list[tuple[str, list[tuple[int, re.Match[str]]]]] = []
    heading, inside, offset = "", False, 0
    for line in text.split("\n"):
        found = _NOTED.match(line)
        if found and not inside:
            blocks.append((heading, []))
        if found:
            blocks[-1][1].append((offset, found))
        elif line.strip():
            heading = line.strip().rstrip(":")
        inside, offset = found is not None, offset + len(line) + 1
    meant = [lines for name, lines in blocks if part.lower() in name.lower()]
    if len(meant) != 1:
        names = [name for name, _ in blocks[:8]]
        raise Malformed(path, None, f"{len(meant)} blocks of addresses are meant: choose one with FILE#PART of {names}")
    rows = _Rows()
    for at, found in meant[0]:
        rows.add(found["name"], *_extent(path, at, found["address"], f"{int(found['size'], 0):x}"), ".data")
    return rows, _regions_of(rows)


def _extent(path: str, offset: int, address: str, size: str | None) -> tuple[int, int]:
    """Start and size (-1 unknown) from hexadecimal.  Raises Malformed where no memory could hold them."""
    start, count = int(address, 16), int(size, 16) if size else -1
    if count > MAX_OBJECT_BYTES or start + count > ADDRESS_LIMIT:
        raise Malformed(path, offset, f"{count:#x} bytes from {start:#x} on reach beyond 64 bits")
    return start, count


def _read_nm(path: str, text: str) -> tuple[_Rows, list[_Region]]:
    rows = _Rows()
    end = 0
    sized = False
    for found in _NM_LINE.finditer(text):
        if found.start() > end and not _skippable(text[end : found.start()]):
            raise Malformed(path, end, "not a line of nm's output")
        end = found.end()
        letter, size = found["letter"], found["size"]
        kind = _LETTERS.get(letter.lower())
        if kind is None:
            continue  # absolute, debugging and undefined symbols have no place in memory
        sized |= size is not None
        name = _MODULE.sub("", found["name"])  # kallsyms: the module behind the name
        rows.add(
            name,
            *_extent(path, found.start(), found["address"], size),
            kind[0],
            local=letter.islower() and letter not in "uvwi",
            place=found["place"] or "",
        )
    if not _skippable(text[end:]):
        raise Malformed(path, end, "not a line of nm's output")
    rows = _without_marks(rows, sized=sized)
    return rows, _regions_of(rows)


def _without_marks(rows: _Rows, *, sized: bool) -> _Rows:
    """Without what linkers and assemblers mark places with: in a listing with sizes, data that has none."""
    kept = _Rows()
    for name, address, size, section, local, unit, place in zip(
        rows.name, rows.address, rows.size, rows.section, rows.local, rows.unit, rows.place, strict=True
    ):
        if (size > 0 or section == ".text") if sized else not _MARK.fullmatch(name):
            kept.add(name, address, size, section, local=local, unit=unit, place=place)
    return kept


def _skippable(between: str) -> bool:
    """Blank lines, headings of ``nm`` on several files, undefined symbols."""
    return all(_NM_OTHER.match(line) for line in between.split("\n"))


def _regions_of(rows: _Rows) -> list[_Region]:
    """Where no section is listed: from the first to the last symbol of each letter."""
    out: dict[str, tuple[int, int]] = {}
    for name, address, size in zip(rows.section, rows.address, rows.size, strict=True):
        low, high = out.get(name, (address, address))
        out[name] = (min(low, address), max(high, min(address + max(size, 1), ADDRESS_LIMIT)))
    kinds = dict(_LETTERS.values())
    return [_Region(name, kinds[name], low, high) for name, (low, high) in out.items()]


def _kind_of(section: str) -> SectionKind:
    return next((kind for prefix, kind in _PREFIXES if section.startswith(prefix)), SectionKind.OTHER)


def _read_ld_map(path: str, text: str) -> tuple[_Rows, list[_Region]]:
    rows = _Rows()
    regions: list[_Region] = []
    inputs: list[tuple[str, int, int, str]] = []  # (section name, address, size, object file) with bytes
    output, unit, limit = "", "", 0
    pending = ""
    at = following = text.index(_LD_HEAD)
    for line in text[at:].split("\n"):
        at, following = following, following + len(line) + 1
        if pending:
            # Only a line that begins with blanks goes on; names alone, line after line, would make ever longer ones.
            line, pending = pending + line if line[:1] == " " else line, ""
        if found := _LD_SYMBOL.match(line):
            address = int(found["address"], 16)
            if (
                output
                and address < limit
                and not found["name"].startswith((". ", ".=", "PROVIDE", "ASSERT", "[!provide]"))
            ):
                rows.add(found["name"].strip(), address, -1, output, unit=unit)
        elif found := _LD_INPUT.match(line):
            address, size = _extent(path, at, found["address"], found["size"])
            unit, limit = (found["file"] or "").strip(), address + size
            if size and output and found["name"] != "*fill*":
                inputs.append((found["name"], address, size, unit))
        elif found := _LD_OUTPUT.match(line):
            output, unit = found["name"], ""
            low, size = _extent(path, at, found["address"], found["size"])
            limit = low + size
            if low and size:
                regions.append(_Region(output, _kind_of(output), low, low + size))
            else:
                output = ""  # not allocated: debugging sections
        elif _LD_NAME_ALONE.match(line):
            pending = line  # a long name has its numbers on the next line
    _bounded_by_inputs(rows, inputs, regions)
    if not regions:
        raise Malformed(path, None, "the map lists no section with an address")
    return rows, regions


def _bounded_by_inputs(rows: _Rows, inputs: list[tuple[str, int, int, str]], regions: list[_Region]) -> None:
    """Sizes up to the next symbol or the end of the input section; inputs without a symbol are objects without a name.

    -fdata-sections names an input after its one object (``.bss.lock``), which gives file-static variables a name.
    """
    starts = np.sort(np.array(rows.address, np.uint64))
    edge = np.array([low for _, low, _, _ in inputs], np.uint64)
    ends = np.array([low + size for _, low, size, _ in inputs], np.uint64)
    split = [name.count(".") > 1 for name, _, _, _ in inputs]  # .bss.lock: a section of its own
    order = np.argsort(edge, kind="stable")
    edge, ends = edge[order], ends[order]
    address = np.array(rows.address, np.uint64)
    at = np.searchsorted(edge, address, "right") - 1
    for row, (place, position) in enumerate(zip(address.tolist(), at.tolist(), strict=True)):
        if position < 0 or place >= int(ends[position]):
            continue
        follows = int(np.searchsorted(starts, np.uint64(place), "right"))
        following = int(starts[follows]) if follows < len(starts) else int(ends[position])
        rows.size[row] = min(following, int(ends[position])) - place
        # The only symbol of its input, from its first byte on, has it all; others may be followed by statics.
        alone = place == int(edge[position]) and following >= int(ends[position])
        rows.guessed[row] = not (alone and split[order[position]])
    homes = sorted(regions, key=lambda r: r.start)
    begins = [r.start for r in homes]
    for section, low, size, unit in inputs:
        first = int(np.searchsorted(starts, np.uint64(low), "left"))
        if first < len(starts) and int(starts[first]) < low + size:
            continue
        position = bisect_right(begins, low) - 1
        if position < 0 or low >= homes[position].end:
            continue
        home = homes[position]
        name = section[len(home.name) + 1 :] if section.startswith(home.name + ".") else ""
        rows.add(name, low, size, home.name, local=True, unit=unit)


def _read_lld_map(path: str, text: str) -> tuple[_Rows, list[_Region]]:
    rows = _Rows()
    regions: list[_Region] = []
    output, unit = "", ""
    at = following = 0
    for number, line in enumerate(text.split("\n")):
        at, following = following, following + len(line) + 1
        if not number:
            continue
        found = _LLD_LINE.match(line)
        if found is None:
            if line.strip():
                raise Malformed(path, at, f"not a line of lld's map: {line[:60]!r}")
            continue
        address, size = _extent(path, at, found["address"], found["size"])
        depth, rest = len(found["indent"]), found["rest"]
        if depth == 1:
            output = rest if address else ""
            if output and size:
                regions.append(_Region(rest, _kind_of(rest), address, address + size, int(found["align"])))
        elif depth <= 9:
            unit = rest.partition(":(")[0].strip()
        elif output and not rest.startswith((". ", "PROVIDE")):
            rows.add(rest, address, size or -1, output, unit=unit)
    if not regions:
        raise Malformed(path, None, "the map lists no section with an address")
    return rows, regions


def _image(path: str, rows: _Rows, regions: Iterable[_Region], what: str) -> Image:
    if not rows.name:
        raise Malformed(path, None, f"this {what} names no variable and no function")
    regions = sorted(regions, key=lambda r: (r.start, r.name))
    number = {r.name: i for i, r in enumerate(regions)}
    sections = tuple(
        Section(i, r.name, r.kind, r.start, r.end - r.start, r.alignment, None) for i, r in enumerate(regions)
    )
    columns = _Columns(
        np.array([number.get(name, -1) for name in rows.section], np.int64),
        np.array(rows.address, np.uint64),
        np.array(rows.size, np.int64),
        np.array(rows.local, bool),
        np.array([bool(name) for name in rows.name], bool),
    )
    kinds = np.array([r.kind is SectionKind.CODE for r in regions] + [False])
    code = kinds[columns.section]
    units = tuple(dict.fromkeys(u for u in rows.unit if u))
    leads, aliases = _one_each(rows, columns, np.flatnonzero(~code & (columns.section >= 0)))
    variables, files = _variables(rows, columns, leads, units)
    _fill_sizes(variables, columns.size[leads], regions)
    inferred = variables["flags"] & VariableFlag.SIZE_INFERRED != 0
    return Image(
        path=path,
        member=None,
        arch=UNKNOWN_ARCHITECTURE,
        kind=ImageKind.EXECUTABLE,
        build_id=None,
        synthetic=False,
        sections=sections,
        names=rows.name,
        variables=variables,
        functions=_functions(columns, np.flatnonzero(code)),
        sites=np.zeros(0, SITE_DTYPE),
        calls=np.zeros(0, CALL_DTYPE),
        args=np.zeros(0, ARG_DTYPE),
        params=np.zeros(0, PARAM_DTYPE),
        types=TypeTable(),
        units=tuple(Unit(u, "", "", "") for u in units),
        files=tuple(files),
        aliases=aliases,
        notes=(
            f"{what}: no code, no types, no processor"
            + ("; sizes reach up to the next symbol" if inferred.any() else ""),
        ),
        counts={"symbols": len(rows.name), "symtab_symbols": len(rows.name), "variables": len(variables)},
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The rows of a listing as arrays; ``section`` is the number of the region, -1 none."""

    section: npt.NDArray[np.int64]
    address: npt.NDArray[np.uint64]
    size: npt.NDArray[np.int64]
    local: npt.NDArray[np.bool_]
    named: npt.NDArray[np.bool_]


def _one_each(
    rows: _Rows, columns: _Columns, data: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], dict[int, tuple[str, ...]]]:
    """(one row an address, in order; the other names there): what has a size leads, and what is global."""
    address, section = columns.address, columns.section
    data = data[np.lexsort((data, columns.local[data], columns.size[data] <= 0, address[data], section[data]))]
    first = np.ones(len(data), bool)
    first[1:] = (address[data[1:]] != address[data[:-1]]) | (section[data[1:]] != section[data[:-1]])
    leads = data[first]
    owner = np.cumsum(first) - 1
    by_address = np.argsort(address[leads], kind="stable")
    place_of = np.zeros(len(leads), np.int64)
    place_of[by_address] = np.arange(len(leads))
    aliases: dict[int, tuple[str, ...]] = {}
    for row, lead in zip(data[~first].tolist(), place_of[owner[~first]].tolist(), strict=True):
        aliases[lead] = (*aliases.get(lead, ()), rows.name[row])
    return leads[by_address], aliases


def _variables(
    rows: _Rows, columns: _Columns, leads: npt.NDArray[np.int64], units: tuple[str, ...]
) -> tuple[npt.NDArray[Any], dict[str, int]]:
    """(the variables of the rows ``leads``, still without sizes; files by name)."""
    files, places = _places(rows)
    unit_number = {u: i for i, u in enumerate(units)}
    variables = np.zeros(len(leads), VARIABLE_DTYPE)
    for column in ("type", "scope", "file", "unit"):
        variables[column] = -1
    variables["address"], variables["section"] = columns.address[leads], columns.section[leads]
    variables["name"] = np.where(columns.named[leads], leads, -1)
    variables["unit"] = [unit_number.get(rows.unit[row], -1) for row in leads.tolist()]
    variables["file"] = [files.get(places[row][0], -1) for row in leads.tolist()]
    variables["line"] = [places[row][1] for row in leads.tolist()]
    guessed = np.array(rows.guessed, bool)
    variables["flags"] = np.where(columns.local[leads], VariableFlag.LOCAL, 0)
    variables["flags"] |= np.where(guessed[leads], VariableFlag.SIZE_INFERRED, 0).astype(np.uint32)
    return variables, files


def _functions(columns: _Columns, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The functions of these rows, by address."""
    rows = rows[np.argsort(columns.address[rows], kind="stable")]
    table = np.zeros(len(rows), FUNCTION_DTYPE)
    table["address"], table["size"] = columns.address[rows], np.maximum(columns.size[rows], 0)
    table["name"], table["section"] = np.where(columns.named[rows], rows, -1), columns.section[rows]
    table["flags"] = np.where(columns.local[rows], 0, FunctionFlag.EXPORTED)
    return table


def _places(rows: _Rows) -> tuple[dict[str, int], list[tuple[str, int]]]:
    """(files by name, (file, line) of each row) from ``nm -l``."""
    out: list[tuple[str, int]] = []
    for place in rows.place:
        name, _, line = place.rpartition(":")
        out.append((name, int(line)) if name and line.isdecimal() and len(line) < 9 else ("", 0))
    return {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in out if name))}, out


def _fill_sizes(variables: npt.NDArray[Any], size: npt.NDArray[np.int64], regions: list[_Region]) -> None:
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
