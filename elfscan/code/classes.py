"""Families of the classes of a file: which derive from each other, by their type information.

Owns the bases of each class: none, one, or a list (Itanium C++ ABI, 2.9.5), as relocated words.  A base of another file
is known by its symbol, and what derives from that is one family with it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from elfscan.code.overrides import BASE, ONE_BASE, OTHERS, TYPE_INFORMATION, Array, TypeWords, class_name
from elfscan.fileformat.program import Program
from sharing.model.classes import Classes

SEVERAL_BASES = OTHERS[1]
COUNT = 4  # bytes of the number of several bases, and of the flags in front of it
FIRST = 3  # words of type information before the first of several bases: its own table, the name, flags and number
EACH = 2  # words for each of several bases: its type information, and where it is in the object
MOST_BASES = 64
LOCAL = "*"  # in front of names that are compared by their place alone


class _Families:
    """Sets of type information that are joined with each other."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}

    def of(self, one: int) -> int:
        root = one
        while (above := self._of.get(root, root)) != root:
            root = above
        while one != root:
            self._of[one], one = root, self._of.get(one, one)
        return root

    def join(self, one: int, other: int) -> None:
        self._of[self.of(one)] = self.of(other)


def classes(program: Program) -> Classes:
    """Those of relocated files; a base whose place is not known makes its family unknown."""
    words = TypeWords(program)
    one_base, several = words.information(ONE_BASE), words.information(SEVERAL_BASES)
    known = words.information(ONE_BASE, *OTHERS)
    if not len(known):
        return Classes()
    families, unknown = _Families(), set[int]()
    bases = words.at(one_base + np.uint64(BASE) * words.size)[:, None].tolist()
    of_one = zip(one_base.tolist(), bases, strict=True)
    for information, of in itertools.chain(of_one, _of_several(program, words, several)):
        for base in of:
            if base:
                families.join(information, base)
            else:
                unknown.add(information)
    open_ = {families.of(one) for one in unknown}
    begins = words.tables(known)
    tables = {
        table: family
        for table, information in zip((begins + words.size).tolist(), words.at(begins).tolist(), strict=True)
        if (family := families.of(information)) not in open_
    }
    named: dict[str, set[int]] = defaultdict(set)
    for information, text in zip(known.tolist(), words.at(known + words.size).tolist(), strict=True):
        if name := class_name(program, text).removeprefix(LOCAL):
            named[name].add(families.of(information))
    for symbol, place in words.placed.items():
        if symbol.startswith(TYPE_INFORMATION):
            named[symbol.removeprefix(TYPE_INFORMATION)].add(families.of(place))
    names = {name: of.pop() for name, of in named.items() if len(of) == 1 and not of & open_}
    return Classes(tables, names)


def _of_several(program: Program, words: TypeWords, several: Array) -> Iterator[tuple[int, list[int]]]:
    """Type information of classes with several bases, and these; 0 for each that is not known."""
    elf, size = program.elf, int(words.size)
    for information in several.tolist():
        offset = elf.offset_of(information + 2 * size + COUNT)
        told = b"" if offset is None else elf.data[offset : offset + COUNT].tobytes()
        count = int.from_bytes(told, "little" if elf.arch.byteorder == "little" else "big")
        if not 0 < count <= MOST_BASES:
            yield information, [0]
            continue
        steps = np.arange(count, dtype=np.uint64) * np.uint64(EACH * size)
        yield information, words.at(np.uint64(information + FIRST * size) + steps).tolist()
