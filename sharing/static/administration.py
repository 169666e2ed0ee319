"""Functions of a kernel that only its administration calls: settings and what is shown of them.

Owns which functions these are: those that are kept in tables of settings, parameters and attributes and nowhere else.
What that makes of the places in them is ``rarecode``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct
from sharing.model.image import AccessKind, ArgKind, Image, ImageKind
from sharing.model.types import TypeKind
from sharing.static.callees import function_at, functions_called
from sharing.static.sections import within

Rows = npt.NDArray[np.int64]
MAX_DIMENSIONS = 8  # arrays in arrays


def administrators(image: Image, tables: frozenset[str]) -> Rows:
    """Functions whose address stands in variables of these types alone, and which nobody calls directly.

    Words that the kernel frees when it has started (``.init``) are nobody's way to a function.
    """
    words, variables = image.code_words, image.variables
    if image.kind not in (ImageKind.KERNEL, ImageKind.MODULE) or not len(words) or not len(variables):
        return np.zeros(0, np.int64)
    slot = words["slot"].astype(np.uint64)
    freed = within(slot, [section for section in image.sections if section.name.startswith(".init")])
    at = image.variables_at(slot)
    types = np.where(at >= 0, variables["type"][at], -1)
    wanted = [row for row in distinct(types).tolist() if row >= 0 and _record_name(image, row) in tables]
    kept = among(types, np.array(wanted, np.int64))
    row = function_at(image, words["value"])
    elsewhere = [row[~kept & ~freed], functions_called(image)]
    addressed = image.sites["target"][image.sites["kind"] == AccessKind.ADDRESS]
    handed = image.args["value"][image.args["kind"] == ArgKind.ADDRESS].astype(np.uint64)
    elsewhere += [function_at(image, addresses) for addresses in (addressed, handed, image.kept["value"])]
    found = distinct(row[kept & (row >= 0)])
    return found[~among(found, np.concatenate(elsewhere))]


def _record_name(image: Image, row: int) -> str:
    """The name of the record that a variable's type is, or is an array of."""
    for _ in range(MAX_DIMENSIONS):
        core, _, _ = image.types.strip(row)
        if core < 0:
            return ""
        record = image.types[core]
        if record.kind != TypeKind.ARRAY:
            return record.name
        row = record.target
    return ""
