"""Where a finding's participants are in a linked binary, and whether they still meet.

Owns the comparison of addresses before and after an edit.  Nothing is built or run here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

import msgspec
import numpy as np

from elfscan.debug.demangle import demangle
from linemate.fixing.recordlines import element_leaves
from sharing.basics.geometry import lines_of
from sharing.fix.wrapper import VALUE
from sharing.model.finding import Finding, Participant
from sharing.model.image import Image, SectionKind
from sharing.model.types import TypeKind

_NUMBERED = re.compile(r"\.\d+$")
_INTO = re.compile(r"\.(?!\d)|\[")  # from a variable to a part of it; a number behind a dot is one of several statics
_TEMPLATE = re.compile(r"<.*>|\(.*\)")


@dataclass(frozen=True, slots=True)
class Location:
    """[start, end) of a participant in a binary, and (``owner``) of the whole variable.

    ``align`` is what the variable or its type asks for, 0 where nothing says.
    """

    start: int
    end: int
    owner: tuple[int, int]
    align: int = 0


@dataclass(frozen=True, slots=True)
class LineSharing:
    """What a binary says of a finding: ``together`` are names of participants on one line with the moved one.

    ``mates`` are other objects on its lines, ``missing`` names that the binary does not have.  ``whole_lines``: it
    starts and ends at a line's border, and not by luck.
    """

    together: tuple[str, ...]
    mates: tuple[str, ...]
    missing: tuple[str, ...]
    where: str
    whole_lines: bool = False


def line_sharing(image: Image, finding: Finding, moved: Participant, line_size: int, *, whole: bool) -> LineSharing:
    """Who is on the lines of ``moved``, or (``whole``) of the variable that it is a part of."""
    own = find(image, moved)
    if own is None:
        return LineSharing((), (), (moved.full_name,), "")
    name = moved.name if whole else moved.full_name
    if whole:
        own = Location(*own.owner, own.owner, own.align)
    lines = set(lines_of(own.start, own.end - own.start, line_size))
    together, missing, known = [], [], {own.owner}
    for other in finding.participants:
        if other is moved or other.full_name == moved.full_name:
            continue
        place = find(image, other)
        if place is None:
            missing.append(other.full_name)
            continue
        known.add(place.owner)
        if whole and place.owner == own.owner:
            continue
        if lines.intersection(lines_of(place.start, place.end - place.start, line_size)):
            together.append(other.full_name)
    table = image.variables
    first, last = min(lines), max(lines) + line_size
    start, size = table["address"], table["size"]
    end = start + size
    near = np.flatnonzero((start < last) & (end > first))
    mates = []
    for row in near.tolist():
        span = (int(start[row]), int(end[row]))
        if span not in known and span != own.owner:
            mates.append(_name(image, row))
    where = f"{name} at {own.start:#x}, {own.end - own.start} bytes"
    # An address that happens to be a line's is not one that stays.
    filled = own.start % line_size == own.end % line_size == 0 and not 0 < own.align < line_size
    return LineSharing(tuple(together), tuple(mates), tuple(missing), where, filled)


def find(image: Image, who: Participant) -> Location | None:
    """The place of a participant by its symbol, None where the binary has none or several of that name."""
    rows, member = _rows_and_member(image, who)
    if len(rows) != 1:
        return None
    start = int(image.variables["address"][rows[0]])
    end = start + int(image.variables["size"][rows[0]])
    align = _asked_alignment(image, rows[0])
    if not member:
        return Location(start, end, (start, end), align)
    wanted = re.sub(r"\[\d+\]", "[]", member).lstrip(".")
    kind = int(image.variables["type"][rows[0]])
    leaves = tuple(image.types.flatten(kind)) if kind >= 0 else ()
    for path in (wanted, *_wrapped(wanted)):
        for leaf in leaves:
            if leaf.path == path or leaf.path.startswith((f"{path}.", f"{path}[")):
                return Location(start + leaf.offset, start + leaf.offset + max(leaf.size, 1), (start, end), align)
    # An array of scalars is one leaf, whose elements have no path.
    return Location(start, end, (start, end), align) if re.fullmatch(r"(\[\])+", wanted) else None


def lacks_types(image: Image, who: Participant) -> bool:
    """Whether the binary has the variable and says nothing of its members: it was built without debug information."""
    rows, member = _rows_and_member(image, who)
    return bool(member) and len(rows) == 1 and int(image.variables["type"][rows[0]]) < 0


def _wrapped(path: str) -> tuple[str, ...]:
    """The path as an edit may have made it, of a wrapped variable or of wrapped elements."""
    index = re.match(r"(\[\])*", path)
    front = index[0] if index else ""
    rest = path[len(front) :]
    return (f"{front}.{VALUE}{rest}".lstrip("."), f"{front}.{VALUE}.{rest.lstrip('.')}".strip("."))


def element_bytes(image: Image, who: Participant) -> int:
    """From one element to the next of a variable that is an array, or of the array in it that is meant; 0 of none."""
    rows, member = _rows_and_member(image, who)
    kind = int(image.variables["type"][rows[0]]) if len(rows) == 1 else -1
    core = image.types.strip(kind)[0] if kind >= 0 else -1
    if core < 0 or image.types[core].kind != TypeKind.ARRAY or image.types[core].count <= 0:
        inner = element_leaves(image.types.flatten(kind), member) if core >= 0 and member else []
        return next((leaf.stride for leaf in inner if leaf.stride), 0)
    return int(image.variables["size"][rows[0]]) // image.types[core].count


def _asked_alignment(image: Image, row: int) -> int:
    kind = int(image.variables["type"][row])
    core, _, _ = image.types.strip(kind) if kind >= 0 else (-1, frozenset(), ())
    types = [image.types[index].align for index in (kind, core) if index >= 0]
    return max([int(image.variables["align"][row]), *types])


def _is_local_to_thread(image: Image, row: int) -> bool:
    section = int(image.variables["section"][row])
    return section >= 0 and image.sections[section].kind is SectionKind.TLS


def _rows_and_member(image: Image, who: Participant) -> tuple[list[int], str]:
    """The variables that may be the participant's, and its path in them: of some findings the name includes it."""
    found = _INTO.search(_TEMPLATE.sub(lambda part: "x" * len(part[0]), who.name))
    end = found.start() if found else len(who.name)
    rows = _rows(image, msgspec.structs.replace(who, name=who.name[:end]))
    return [row for row in rows if not _is_local_to_thread(image, row)], who.full_name[end:].lstrip(".")


def _rows(image: Image, who: Participant) -> list[int]:
    """Variables that may be the participant: by symbol, else by readable name; of several those of its file."""
    symbol, _, path = who.identity.partition("@")
    last = re.split(r"::|\.", _TEMPLATE.sub("", who.name))[-1]
    exact, likely = [], []
    for row, index in enumerate(image.variables["name"].tolist()):
        if index < 0:
            continue
        name = image.names[index]
        if name in (symbol, who.name):
            exact.append(row)
        elif last in name:
            likely.append(row)
    rows = exact
    if not rows:
        names = [_NUMBERED.sub("", image.names[int(image.variables["name"][row])]) for row in likely]
        same = {who.name, last, symbol.rpartition(".")[2]}
        for row, name, readable in zip(likely, names, demangle(names), strict=True):
            if name in same or readable in same or readable.rpartition("::")[2] == last:
                rows.append(row)
    if len(rows) > 1 and path:
        rows = [row for row in rows if _in_unit(image, row, path)] or rows
    return rows


def _in_unit(image: Image, row: int, path: str) -> bool:
    for table, column in ((tuple(unit.name for unit in image.units), "unit"), (image.files, "file")):
        index = int(image.variables[column][row])
        if 0 <= index < len(table) and PurePath(table[index]).name == PurePath(path).name:
            return True
    return False


def _name(image: Image, row: int) -> str:
    index = int(image.variables["name"][row])
    return image.names[index] if index >= 0 else f"{int(image.variables['address'][row]):#x}"
