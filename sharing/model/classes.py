"""Classes with virtual functions that a file defines or derives from, as its type information tells.

Owns the plain value.  Classes of which one derives from the other, also through others, are of one family: a pointer
to an object of one never leads to an object of another family.  Read from a file by ``elfscan.code.classes``.
"""

from __future__ import annotations

import msgspec


class Classes(msgspec.Struct, frozen=True):
    """Families are numbers.  What derives from something of which nothing is known is left out."""

    tables: dict[int, int] = {}  # the family of the class that has a table of virtual functions, by its first function
    names: dict[str, int] = {}  # by linkage name without the prefix; names of classes of several families are left out
