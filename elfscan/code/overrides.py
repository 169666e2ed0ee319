"""Virtual functions of classes that derive from a class of another file, by their type information.

Owns what C++ leaves of classes in a stripped file: a type information object names its base's, and a table of virtual
functions begins with the type information of its class.  A library that starts threads calls a virtual function of the
objects that it is handed; which one that is says no symbol.  The layout is the Itanium C++ ABI's (2.5.2, 2.9.5).  Says
nothing of what the functions are for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from sharing.model.image import Override

Array = npt.NDArray[Any]

ONE_BASE = "_ZTVN10__cxxabiv120__si_class_type_infoE"  # the table of the type information of classes with one base
TYPE_INFORMATION = "_ZTI"
BASE = 2  # words of type information before that of the base: its own table, the name
MOST_DERIVED = 8  # classes from one of another file down to the one that is made
MOST_SLOTS = 64  # virtual functions of a class


def overrides(program: Program) -> tuple[Override, ...]:
    """The functions in the tables of classes whose base, or base's base, is another file's; relocated files only."""
    names = program.import_names()
    imports = program.linkage.placeholders["slot"]
    if ONE_BASE not in names or not any(name.startswith(TYPE_INFORMATION) for name in names):
        return ()
    size = np.uint64(program.elf.arch.pointer_size)
    slot, value = (np.ascontiguousarray(program.linkage.words[field]) for field in ("slot", "value"))

    def word(addresses: Array) -> Array:
        """What the words at these addresses hold after relocation; 0 where nothing is relocated."""
        row = np.minimum(np.searchsorted(slot, addresses), len(slot) - 1)
        return np.where(slot[row] == addresses, value[row], np.uint64(0))

    known = dict(zip(imports.tolist(), names, strict=True))
    begin = slot[value == imports[names.index(ONE_BASE)] + np.uint64(2) * size]
    # Beyond an import's placeholder is the next one: what has no name behind it is no type information.
    begin = begin[word(begin + size) != 0]
    bases = dict(zip(begin.tolist(), word(begin + np.uint64(BASE) * size).tolist(), strict=True))
    of = {information: name for information in bases if (name := _base(information, bases, known))}
    tables = np.flatnonzero(np.isin(value, np.array(list(of), np.uint64)))
    # Before the type information stands the distance to the whole object: 0, which nothing relocates.
    tables = tables[word(slot[tables] - size) == 0]
    found = []
    steps = np.arange(1, MOST_SLOTS + 1, dtype=np.uint64) * size
    for table, information in zip(slot[tables], value[tables].tolist(), strict=True):
        places = table + steps
        functions = np.where(np.isin(places, begin), np.uint64(0), word(places)).tolist()
        end = functions.index(0) if 0 in functions else MOST_SLOTS
        found += [Override(of[information], number, functions[number]) for number in range(end)]
    return tuple(found)


def _base(information: int, bases: dict[int, int], known: dict[int, str]) -> str:
    """Name of the type information of the nearest base that is another file's, "" where none is."""
    for _ in range(MOST_DERIVED):
        information = bases.get(information, 0)
        name = known.get(information, "")
        if name.startswith(TYPE_INFORMATION):
            return name
    return ""
