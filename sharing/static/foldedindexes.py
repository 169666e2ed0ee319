"""Accesses at an index whose constant part compilers folded into the address: ``text[n - 34]`` begins before ``text``.

Owns which accesses cannot be to what lies at their address by its type, and which array they are to instead: none has
an element there, and the first array behind it has elements that far apart.  Others are to nothing that is known.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from sharing.model.arrays import among
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.model.types import RECORD_KINDS, Member, TypeKind, TypeTable


def with_folded_indexes(image: Image) -> Image:
    """The same image with such accesses where they are, and without those of which that is not known."""
    sites, variables = image.sites, image.variables
    if image.origins or not len(variables):
        return image
    indexed = (sites["flags"] & SiteFlag.INDEXED != 0) & (sites["stride"] > 0) & (sites["size"] > 0)
    rows = np.flatnonzero(indexed & (sites["kind"] != AccessKind.ADDRESS))
    # What is between two objects is filling, if the first one is known.
    first = np.searchsorted(variables["address"], sites["target"][rows], "right") - 1
    variable = image.variables_at(sites["target"][rows])
    variable = np.where(variable >= 0, variable, first)
    typed = (variable >= 0) & (variables["type"][np.maximum(variable, 0)] >= 0)
    rows, variable = rows[typed], variable[typed]
    accessed, start = sites["target"][rows], variables["address"][variable]
    offsets = (accessed - start).tolist()
    strides = sites["stride"][rows].tolist()
    known: dict[tuple[int, int, int], int | None] = {}
    moved: dict[int, int | None] = {}
    for row, *place in zip(rows.tolist(), variable.tolist(), offsets, strides, strict=True):
        key = place[0], place[1], place[2]
        if key not in known:
            known[key] = _array_of(image, *key)
        target = known[key]
        if target != int(sites["target"][row]):
            moved[row] = target
    if not moved:
        return image
    changed = sites.copy()
    for row, target in moved.items():
        changed["target"][row] = target or 0
    gone = np.array([row for row, target in moved.items() if target is None], np.int64)
    return dataclasses.replace(image, sites=changed[~among(np.arange(len(changed)), gone)])


def _array_of(image: Image, variable: int, offset: int, stride: int) -> int | None:
    """The address of the array that is accessed there, in elements so far apart; None: not known."""
    of = image.variables[variable]
    types, begin = image.types, int(of["address"])
    if _has_elements(types, int(of["type"]), offset, stride):
        return begin + offset
    behind = _first_array(types, int(of["type"]), offset, stride)
    if behind is not None:
        return begin + behind
    following = image.variables[variable + 1 : variable + 2]
    if len(following) and following["section"][0] == of["section"] and following["type"][0] >= 0:
        behind = _first_array(types, int(following["type"][0]), -1, stride)
        if behind is not None:
            return int(following["address"][0]) + behind
    return begin + offset if offset >= int(of["size"]) else None


def _has_elements(types: TypeTable, row: int, offset: int, stride: int) -> bool:
    """Whether an object of a type may have something at that offset and so far behind it again.

    Parts of elements do, and the bytes of the whole object.
    """
    leaves = types.flatten(row)
    if offset == 0 or not leaves:
        return True
    leaf = types.leaf(row, offset)
    if leaf is not None and _goes_on(leaf, offset, stride):
        return True
    return any(_covers(one, offset) and _goes_on(one, offset, stride) for one in leaves)


def _covers(leaf: Member, offset: int) -> bool:
    length = max(leaf.size, leaf.stride * leaf.count)
    return leaf.offset <= offset and (offset < leaf.offset + length or (leaf.stride > 0 and leaf.count <= 0))


def _goes_on(leaf: Member, offset: int, stride: int) -> bool:
    if leaf.stride:
        return stride % leaf.stride == 0 or (offset - leaf.offset) % leaf.stride == 0 or leaf.stride % stride != 0
    opaque = leaf.kind in RECORD_KINDS or leaf.kind in (TypeKind.UNKNOWN, TypeKind.ARRAY)
    return bool(opaque or leaf.bit_size) or (offset == leaf.offset and stride >= leaf.size)


def _first_array(types: TypeTable, row: int, offset: int, stride: int) -> int | None:
    """The offset of the first array of an object behind an offset, if its elements are so far apart."""
    for leaf in types.flatten(row):
        if leaf.offset > offset and leaf.stride:
            return leaf.offset if leaf.stride == stride else None
    return None
