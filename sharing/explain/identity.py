"""What two builds may call the same: the columns by which objects of two images are matched.

Owns names: linkage names, the suffixes that compilers add to copies and parts of a function and to local statics,
source files without the folder they were built in.  Does not match (``match``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain.behaviour import function_bodies
from sharing.model.image import FunctionFlag, Image, Table, VariableFlag
from sharing.static.callees import function_name
from sharing.static.linemap import names_locals
from sharing.static.origins import source_text

Ids = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# gcc: clones of a function, numbered local statics; LTO: .lto_priv.N; clang: .llvm.HASH, .__uniq.HASH.  All repeat.
_SUFFIX = re.compile(
    r"(\.(?:constprop|isra|part|cold|lto_priv|localalias|llvm|__uniq|clone|specialized|resolver)(?:\.\d+)?|\.\d+)+$"
)
_PART = re.compile(r"\.(cold|part)\b")
WHOLE, PART, COLD = 0, 1, 2  # of a function
ANY_ALIGNMENT = 4096  # bound where a section's alignment is not known: no object asks for more than a page


class Vocabulary:
    """Numbers for the strings of both images, from 0; -1 stands for an unknown one."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    @property
    def words(self) -> list[str]:
        """The strings, by their numbers."""
        return list(self._ids)

    def ids(self, words: Iterable[str]) -> Ids:
        """One number each; equal words have equal numbers."""
        table = self._ids
        return np.array([table.setdefault(word, len(table)) for word in words], np.int64)


def base_name(name: str) -> str:
    """The name without what a compiler appends to copies, parts and local statics."""
    return _SUFFIX.sub("", name) or name if "." in name else name


def part_of_function(name: str) -> int:
    """Which part of its function a symbol is, by its suffix: WHOLE, PART (outlined) or COLD."""
    kinds = _PART.findall(name) if "." in name else []
    return (COLD if kinds[-1] == "cold" else PART) if kinds else WHOLE


@dataclass(frozen=True, slots=True)
class Objects:
    """The variables, or the functions, of one image as columns, one row each, in the order of the image's table.

    Identifiers are numbers of a ``Vocabulary`` that both sides share, -1 unknown.  ``inferred`` marks sizes that reach
    up to the next object for want of better.  ``aliases`` are (row, name).  ``bound`` is the largest alignment in bytes
    that the section allows, ``body`` what a function does where (``behaviour``), 0 unknown.
    """

    image: Image
    address: Words
    size: Words
    name: Ids
    base: Ids
    part: Ids
    scope: Ids
    unit: Ids  # the source file with the folder it is in
    file: Ids  # the source file alone
    type: Ids
    section: Ids
    local: npt.NDArray[np.bool_]
    inferred: npt.NDArray[np.bool_]
    named: npt.NDArray[np.bool_]
    align: Ids  # declared, 0 unknown
    bound: Words
    body: Ids
    alias_row: Ids
    alias_name: Ids
    words: list[str]  # of the vocabulary
    code: bool  # functions
    complete: bool  # all objects that have a name in source have one here

    def __len__(self) -> int:
        return len(self.address)

    def label(self, row: int) -> str:
        """The name as reports show it, an address for what has none."""
        if not self.code:
            if not self.named[row] and self.file[row] >= 0:  # an input section without a symbol
                return self.input_section(row)
            return self.image.variable_name(row)
        return function_name(self.image, row)

    def input_section(self, row: int) -> str:
        """What an object file brought to a section, as linkers write it: ``lock.o(.bss)``."""
        return f"{self.words[int(self.file[row])]}({self.section_name(row)})"

    def place(self, row: int) -> str:
        """file:line of the declaration, the unit where only that is known, "" unknown."""
        if self.code:
            return ""
        variable = self.image.variables[row]
        file, unit = int(variable["file"]), int(variable["unit"])
        if file >= 0:
            return source_text(self.image.files[file], int(variable["line"]), 0)
        return self.image.units[unit].name if unit >= 0 else ""

    def section_name(self, row: int) -> str:
        """The name of the section that a row is in, "" for none."""
        number = int(self.section[row])
        return self.words[number] if number >= 0 else ""


def variables(image: Image, words: Vocabulary) -> Objects:
    """The variables of an image; those that nothing names stay unnamed, they are matched by what touches them."""
    table = image.variables
    n = len(table)
    # Synthetic and thread-local addresses mean something within their section only.
    address = table["address"].astype(np.uint64)
    if image.synthetic:
        start = {s.index: s.address for s in image.sections}
        begin = np.array([start.get(int(i), 0) for i in table["section"]], np.uint64)
        address = address - begin
    recovered = (table["flags"] & VariableFlag.RECOVERED) != 0
    named = (table["name"] >= 0) & ~recovered
    plain = _unversioned([image.names[i] if i >= 0 else "" for i in table["name"].tolist()])
    linkage = list(plain)
    for row, others in image.aliases.items():
        linkage[row] = _linkage(plain[row], others)
    called = [linkage[row] for row in np.flatnonzero(named).tolist()]
    alias_row = [row for row, others in image.aliases.items() for _ in range(len(others) + 1)]
    alias_words = [name for row, others in image.aliases.items() for name in (plain[row], *others)]
    name = _where(named, words.ids(called))
    unit_two, unit_one = _units(words, [u.name for u in image.units])
    unit = table["unit"].astype(np.int64)
    known = unit >= 0
    # The units of link-time optimisation are no source files: the declaration tells the file.
    merged = np.array([u.name.startswith("<") for u in image.units] + [False], bool)[unit] & (table["file"] >= 0)
    file_two, file_one = _units(words, image.files if merged.any() else ())
    declared = np.where(merged, table["file"].astype(np.int64), -1)
    used, of_type = np.unique(table["type"].astype(np.int64), return_inverse=True)
    types = words.ids(image.types.name(row) if row >= 0 else "" for row in used.tolist())
    asked = np.array([max(image.types[row].align, 0) if row >= 0 else 0 for row in used.tolist()], np.int64)
    align = np.maximum(table["align"].astype(np.int64), asked[of_type])
    return Objects(
        image=image,
        address=address,
        size=table["size"].astype(np.uint64),
        name=name,
        base=_where(named, words.ids(map(base_name, called))),
        part=np.zeros(n, np.int64),
        scope=_pick_words(words, image.names, table["scope"].astype(np.int64)),
        unit=np.where(merged, _pick(file_two, declared), np.where(known, _pick(unit_two, unit), -1)),
        file=np.where(merged, _pick(file_one, declared), np.where(known, _pick(unit_one, unit), -1)),
        type=np.where(table["type"] >= 0, types[of_type], -1),
        section=_sections(image, words, table),
        local=(table["flags"] & VariableFlag.LOCAL) != 0,
        inferred=((table["flags"] & VariableFlag.SIZE_INFERRED) != 0) | recovered,
        named=named,
        align=align,
        bound=_bounds(image, table),
        body=np.zeros(n, np.int64),
        alias_row=np.array(alias_row, np.int64),
        alias_name=words.ids(alias_words),
        words=words.words,
        code=False,
        complete=_complete(image, bool(recovered.any())),
    )


def functions(image: Image, words: Vocabulary) -> Objects:
    """The functions of an image that are code of its own: no stubs, no extents without a name."""
    table = image.functions
    n = len(table)
    stub = (table["flags"] & FunctionFlag.STUB) != 0
    named = (table["name"] >= 0) & ~stub
    called = _unversioned([image.names[i] for i in table["name"][named].tolist()])
    none = np.full(n, -1, np.int64)
    return Objects(
        image=image,
        address=table["address"].astype(np.uint64),
        size=table["size"].astype(np.uint64),
        name=_where(named, words.ids(called)),
        base=_where(named, words.ids(map(base_name, called))),
        part=_where(named, np.array([part_of_function(w) for w in called], np.int64), WHOLE),
        scope=none,
        unit=none,
        file=none,
        type=none,
        section=_sections(image, words, table),
        local=(table["flags"] & FunctionFlag.EXPORTED) == 0,
        inferred=table["size"] == 0,
        named=named,
        align=np.zeros(n, np.int64),
        bound=_bounds(image, table),
        body=function_bodies(image),
        alias_row=np.zeros(0, np.int64),
        alias_name=np.zeros(0, np.int64),
        words=words.words,
        code=True,
        complete=bool((named | stub).all()),
    )


def _where(named: npt.NDArray[np.bool_], values: Ids, other: int = -1) -> Ids:
    """The values in the rows that have a name."""
    out = np.full(len(named), other, np.int64)
    out[named] = values
    return out


def _complete(image: Image, recovered: bool) -> bool:
    """Whether static variables have names; a file of exported symbols alone shows others only by their accesses."""
    return not recovered or bool(image.counts.get("symtab_symbols")) or bool(image.debug_source) or names_locals(image)


def _unversioned(names: list[str]) -> list[str]:
    """``stderr@@GLIBC_2.2.5`` as ``stderr``: listings write versions, symbol tables hold them elsewhere.

    Two versions of one name in one file keep them apart.
    """
    if not any("@" in name for name in names):
        return names
    bare = [name.partition("@")[0] or name for name in names]
    many = Counter(bare)
    return [short if many[short] == 1 else name for short, name in zip(bare, names, strict=True)]


def _linkage(name: str, others: tuple[str, ...]) -> str:
    """The symbol's own name, where the readable one came from debug information or a demangler."""
    for other in others:
        if other.startswith("_Z") or base_name(other) == name:
            return other
    return name


def _units(words: Vocabulary, units: Sequence[str]) -> tuple[Ids, Ids]:
    names = [name.replace("\\", "/") for name in units]
    return (
        words.ids("/".join(name.rsplit("/", 2)[-2:]) for name in names),
        words.ids(name.rpartition("/")[2] for name in names),
    )


def _pick_words(words: Vocabulary, names: Sequence[str], rows: Ids) -> Ids:
    """Numbers of names[rows], -1 where the row is.  An image has many more names than are asked for."""
    used, at = np.unique(rows, return_inverse=True)
    numbers = words.ids(names[row] if row >= 0 else "" for row in used.tolist())
    return np.where(rows >= 0, numbers[at], -1) if len(rows) else np.zeros(0, np.int64)


def _pick(values: Ids, rows: Ids) -> Ids:
    """values[rows], -1 where the row is."""
    if not len(values):
        return np.full(len(rows), -1, np.int64)
    picked: Ids = np.where(rows >= 0, values[np.maximum(rows, 0)], -1)
    return picked


def _sections(image: Image, words: Vocabulary, table: Table) -> Ids:
    numbers = {s.index: k for k, s in enumerate(image.sections)}
    ids = words.ids(s.name for s in image.sections)
    return _pick(ids, _positions(table, numbers))


def _bounds(image: Image, table: Table) -> Words:
    numbers = {s.index: k for k, s in enumerate(image.sections)}
    bounds = np.array([s.alignment if s.alignment > 0 else ANY_ALIGNMENT for s in image.sections], np.int64)
    return np.maximum(_pick(bounds, _positions(table, numbers)), 1).astype(np.uint64)


def _positions(table: Table, numbers: dict[int, int]) -> Ids:
    """Position of each row's section in ``Image.sections``."""
    highest = max(numbers, default=-1)
    lookup = np.full(highest + 2, -1, np.int64)
    for index, position in numbers.items():
        lookup[index] = position
    section = table["section"].astype(np.int64)
    inside = (section >= 0) & (section <= highest)
    found: Ids = np.where(inside, lookup[np.where(inside, section, 0)], -1)
    return found
