"""Virtual functions of classes that derive from a class of another file, by their type information.

Owns what C++ leaves of classes in a stripped file: a type information object names its class and its base's, and a
table of virtual functions begins with the type information of its class.  A library that starts threads calls a virtual
function of the objects that it is handed; which one that is says no symbol.  A base may come with a library's headers:
then its type information is here, and its namespace is called like a library that the file needs.  The layout is the
Itanium C++ ABI's (2.5.2, 2.9.5).  Of this file's own classes it tells which derive from one.
Says nothing of what the functions are for.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from sharing.model.arrays import among
from sharing.model.image import Override

Array = npt.NDArray[Any]

ONE_BASE = "_ZTVN10__cxxabiv120__si_class_type_infoE"  # the table of the type information of classes with one base
OTHERS = ("_ZTVN10__cxxabiv117__class_type_infoE", "_ZTVN10__cxxabiv121__vmi_class_type_infoE")  # with none, and more
TYPE_INFORMATION = "_ZTI"
BASE = 2  # words of type information before that of the base: its own table, the name
MOST_DERIVED = 8  # classes from one of another file down to the one that is made
MOST_SLOTS = 64  # virtual functions of a class
MOST_NAME_BYTES = 256
_NAMESPACE = re.compile(r"N(\d{1,3})(?=[A-Za-z_])")


class TypeWords:
    """The words of a file that are relocated, by address; ``placed``: what stands for each import."""

    def __init__(self, program: Program) -> None:
        self.size = np.uint64(program.elf.arch.pointer_size)
        self.slot, self.value = (np.ascontiguousarray(program.linkage.words[field]) for field in ("slot", "value"))
        self.placed = dict(zip(program.import_names(), program.linkage.placeholders["slot"].tolist(), strict=True))

    def at(self, addresses: Array) -> Array:
        """What the words at these addresses hold after relocation; 0 where nothing is relocated."""
        if not len(self.slot):
            return np.zeros(len(addresses), np.uint64)
        row = np.minimum(np.searchsorted(self.slot, addresses), len(self.slot) - 1)
        return np.where(self.slot[row] == addresses, self.value[row], np.uint64(0))

    def information(self, *kinds: str) -> Array:
        """Where type information of these kinds begins: with a word into the table of the kind."""
        known = [self.placed[name] for name in kinds if name in self.placed]
        found: Array = self.slot[among(self.value, np.array(known, np.uint64) + np.uint64(2) * self.size)]
        return found

    def tables(self, information: Array) -> Array:
        """Where type information stands in tables of virtual functions: behind a distance, which nothing relocates.

        Type information that refers to a base's does so behind the name of its class.
        """
        found: Array = self.slot[among(self.value, information)]
        return found[~among(found - self.size, self.slot)]


def overrides(program: Program) -> tuple[Override, ...]:
    """The functions in the tables of classes whose base, or base's base, is another library's; relocated files only."""
    names = program.import_names()
    imports = program.linkage.placeholders["slot"]
    if ONE_BASE not in names:
        return ()
    words = TypeWords(program)
    size, slot, value, word = words.size, words.slot, words.value, words.at
    known = dict(zip(imports.tolist(), names, strict=True))
    begin = slot[value == imports[names.index(ONE_BASE)] + np.uint64(2) * size]
    # Beyond an import's placeholder is the next one: what has no name behind it is no type information.
    begin = begin[word(begin + size) != 0]
    bases = dict(zip(begin.tolist(), word(begin + np.uint64(BASE) * size).tolist(), strict=True))
    needed = program.needed()
    roots = sorted(set(bases.values()) - set(bases) - set(known))
    for root in roots:
        if name := _of_library(program, int(word(np.array([root], np.uint64) + size)[0]), needed):
            known[root] = name
    of = {information: name for information in bases if (name := _base(information, bases, known))}
    tables = np.flatnonzero(among(value, np.array(list(of), np.uint64)))
    # Before the type information stands the distance to the whole object: 0, which nothing relocates.
    tables = tables[word(slot[tables] - size) == 0]
    found = []
    ends = np.append(begin, np.array(roots, np.uint64))
    steps = np.arange(1, MOST_SLOTS + 1, dtype=np.uint64) * size
    for table, information in zip(slot[tables], value[tables].tolist(), strict=True):
        places = table + steps
        functions = np.where(among(places, ends), np.uint64(0), word(places)).tolist()
        end = functions.index(0) if 0 in functions else MOST_SLOTS
        found += [Override(of[information], number, functions[number]) for number in range(end)]
    return tuple(found)


def _of_library(program: Program, address: int, needed: tuple[str, ...]) -> str:
    """The symbol of a class whose name stands here, if its namespace is that of a needed library; "" otherwise."""
    offset = program.elf.offset_of(address)
    if offset is None:
        return ""
    text = _text(program, offset)
    found = _NAMESPACE.match(text)
    if found is None or text[found.end() :][: int(found[1])] not in {_library_name(name) for name in needed}:
        return ""
    return TYPE_INFORMATION + text


def class_name(program: Program, address: int) -> str:
    """The linkage name without the prefix that stands at an address; "" where the file has no bytes there."""
    offset = program.elf.offset_of(address)
    return "" if offset is None else _text(program, offset)


def _text(program: Program, offset: int) -> str:
    return program.elf.data[offset : offset + MOST_NAME_BYTES].tobytes().partition(b"\0")[0].decode("latin-1")


def _library_name(file: str) -> str:
    """``tbb`` of ``libtbb.so.12``."""
    return file.partition(".so")[0].removeprefix("lib")


def _base(information: int, bases: dict[int, int], known: dict[int, str]) -> str:
    """Name of the type information of the nearest base that is another library's, "" where none is."""
    for _ in range(MOST_DERIVED):
        information = bases.get(information, 0)
        name = known.get(information, "")
        if name.startswith(TYPE_INFORMATION):
            return name
    return ""


def virtual_tables(program: Program) -> Array:
    """Where the virtual functions of this file's classes begin, sorted: behind the type information; relocated only."""
    words = TypeWords(program)
    found: Array = np.sort(words.tables(words.information(ONE_BASE, *OTHERS)) + words.size)
    return found


def class_roots(program: Program) -> dict[int, str]:
    """By table of ``virtual_tables`` the class that its class derives from in the end, by its linkage name without the
    prefix; those that derive from another file's are left out, and of several bases none is followed."""
    words = TypeWords(program)
    one_base, known = words.information(ONE_BASE), words.information(ONE_BASE, *OTHERS)
    bases = dict(zip(one_base.tolist(), words.at(one_base + np.uint64(BASE) * words.size).tolist(), strict=True))
    texts = dict(zip(known.tolist(), words.at(known + words.size).tolist(), strict=True))
    begins, names = words.tables(known), dict[int, str]()
    found = {}
    for table, root in zip((begins + words.size).tolist(), words.at(begins).tolist(), strict=True):
        for _ in range(MOST_DERIVED):
            if root not in bases:
                break
            root = bases[root]
        if root not in texts or root in bases:
            continue
        if root not in names:
            names[root] = class_name(program, texts[root])
        if names[root]:
            found[table] = names[root]
    return found
