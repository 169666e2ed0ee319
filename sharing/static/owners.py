"""Variables as the owners of what is accessed: what all actors of one have in common, and names of addresses.

Owns the reading of a row of the table of variables as words.  Which bytes are an actor is ``pieces``'s to say.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.sourcepath import in_project
from sharing.model.arrays import distinct
from sharing.model.image import AccessKind, Image, VariableFlag
from sharing.model.linkage import Languages
from sharing.model.profile import Range
from sharing.static.origins import source_text
from sharing.static.shapes import Shapes

_UNSIZED = int(VariableFlag.SIZE_INFERRED | VariableFlag.RECOVERED)


class Owner(msgspec.Struct, frozen=True):
    """A variable, by the fields that an ``Actor`` has of its owner."""

    name: str
    span: Range
    type_row: int
    type_name: str
    source: str
    file: str
    language: str
    alignment: int
    section: str
    unit: int
    sized: bool
    room: int
    identity: str


class Owners:
    """The variables of one image, each read once."""

    def __init__(self, image: Image, shapes: Shapes) -> None:
        self._image = image
        self._shapes = shapes
        self._section = {section.index: section.name for section in image.sections}
        self._languages = Languages(image)
        self._known: dict[int, Owner] = {}
        self._marks: npt.NDArray[np.uint64] | None = None  # where anything that code refers to begins

    def name_of(self, address: int) -> str:
        """Display name of a static address: variable, or variable.member where the type is known."""
        row = self._image.variable_at(address)
        if row < 0:
            return f"{address:#x}"
        variable = self._image.variables[row]
        base = self._image.variable_name(row)
        offset = address - int(variable["address"])
        for lock in self._shapes.locks(int(variable["type"])):
            if lock.covers(offset):
                return member_name(base, lock.path_at(lock.path, offset))
        return base if not offset else f"{base}+{offset:#x}"

    def owner(self, row: int) -> Owner:
        """The variable of this row."""
        known = self._known.get(row)
        if known is None:
            image, v = self._image, self._image.variables[row]
            start, size, kind, unit = int(v["address"]), int(v["size"]), int(v["type"]), int(v["unit"])
            file, section = int(v["file"]), self._section.get(int(v["section"]), "")
            known = self._known[row] = Owner(
                name=image.variable_name(row),
                span=(start, start + size),
                type_row=kind,
                type_name=image.types.name(kind) if kind >= 0 else "",
                source=source_text(image.files[file], int(v["line"]), int(v["column"])) if file >= 0 else "",
                file=in_project(image.files[file], unit, image.units) if file >= 0 else "",
                language=self._languages.of(row),
                alignment=self._alignment(kind, int(v["align"]), section),
                section=section,
                unit=unit,
                sized=not v["flags"] & _UNSIZED,
                room=self._room(start + size) + size if v["flags"] & _UNSIZED else size,
                identity=image.identities.get(start, ""),
            )
        return known

    def _room(self, end: int) -> int:
        """Bytes from here to the next thing of the section that code refers to, or to its end."""
        if self._marks is None:
            image = self._image
            addresses = image.sites["target"][image.sites["kind"] == AccessKind.ADDRESS]
            ends = np.array([section.end for section in image.sections], np.uint64)
            self._marks = distinct(np.concatenate([image.variables["address"], addresses, ends]))
        at = int(np.searchsorted(self._marks, np.uint64(end)))
        return int(self._marks[at]) - end if at < len(self._marks) else 0

    def _alignment(self, type_row: int, declared_here: int, section: str) -> int:
        if section.startswith(".data..cacheline_aligned"):
            return self._image.arch.line_size
        types = self._image.types
        core, _, _ = types.strip(type_row)
        declared = [types[row].align for row in (type_row, core) if 0 <= row < len(types)]
        return max([align for align in (*declared, declared_here) if align > 0], default=0)


def member_name(base: str, path: str) -> str:
    """``base.path``, or ``base[0]`` and ``base+0x8`` for paths of those kinds."""
    if not path:
        return base
    return base + path if path[0] in "[+" else f"{base}.{path}"
