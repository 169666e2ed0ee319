"""The texts that two programs print: string literals of constant sections, which no compiler, flag or linker changes.

Owns what counts as a text of a program.  What their share decides is ``unrelated``'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sharing.model.comparison import FileTraits
from sharing.model.image import Image, SectionKind

LONGEST = 512  # bytes of a text that are compared
MOST_BYTES = 1 << 24  # of constant data that are searched
# Behind a zero and up to one, as compilers put them into one section: letters, not numbers that look like some.
_TEXT = re.compile(rb"(?<=\0)[\t\n\x20-\x7e]{6,%d}(?=\0)" % LONGEST)


@dataclass(frozen=True, slots=True)
class Texts:
    """How many texts two programs have, and how many of them are in both."""

    old: int
    new: int
    both: int

    @property
    def smaller(self) -> int:
        return min(self.old, self.new)

    @property
    def either(self) -> int:
        return self.old + self.new - self.both


def texts_of_both(old: Image, old_traits: FileTraits, new: Image, new_traits: FileTraits) -> Texts:
    """Counts of different texts; none of a file whose bytes are not at hand."""
    one, other = _texts(old, old_traits.code), _texts(new, new_traits.code)
    return Texts(len(one), len(other), len(one & other))


def _texts(image: Image, file: memoryview) -> frozenset[bytes]:
    out: set[bytes] = set()
    left = MOST_BYTES
    for section in image.sections:
        if section.kind is not SectionKind.CONSTANT or section.file_offset is None or left <= 0:
            continue
        data = bytes(file[section.file_offset : section.file_offset + min(section.size, left)])
        left -= len(data)
        out.update(_TEXT.findall(b"\0" + data))
    return frozenset(out)
