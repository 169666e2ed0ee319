"""Functions of a kernel that only its administration calls: settings, what is shown of them, and what changes are told.

Owns which functions these are: those that are kept in tables of settings, parameters, attributes, drivers and the like
and nowhere else, and those that only seldom code calls.  What that makes of the places in them is ``rarecode``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, ImageKind, Table
from sharing.model.types import TypeKind
from sharing.static import numbers
from sharing.static.callees import function_at, functions_called
from sharing.static.roots import flagged, for_others
from sharing.static.sections import within

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
MAX_DIMENSIONS = 8  # arrays in arrays
ROUNDS = 12  # of functions that only such functions call

_KERNELS = (ImageKind.KERNEL, ImageKind.MODULE)


def administrators(image: Image, tables: frozenset[str], shown: npt.NDArray[np.uint64]) -> Rows:
    """Functions whose address stands in tables of administration alone, and which nobody calls directly.

    A table is one by its type, or because it is handed to one of the functions ``shown`` and to no other: those make
    files of it that an administrator reads.  Words that the kernel frees when it has started (``.init``) are nobody's
    way to a function.
    """
    words, variables = image.code_words, image.variables
    if image.kind not in _KERNELS or not len(words) or not len(variables):
        return np.zeros(0, np.int64)
    slot = words["slot"].astype(np.uint64)
    freed = within(slot, [section for section in image.sections if section.name.startswith(".init")])
    at = image.variables_at(slot)
    types = np.where(at >= 0, variables["type"][at], -1)
    wanted = [row for row in distinct(types).tolist() if row >= 0 and _record_name(image, row) in tables]
    kept = among(types, np.array(wanted, np.int64)) | among(at, _handed_alone(image, shown))
    row = function_at(image, words["value"])
    elsewhere = [row[~kept & ~freed], functions_called(image)]
    addressed = image.sites["target"][image.sites["kind"] == AccessKind.ADDRESS]
    handed = image.args["value"][image.args["kind"] == ArgKind.ADDRESS].astype(np.uint64)
    elsewhere += [function_at(image, addresses) for addresses in (addressed, handed, image.kept["value"])]
    found = distinct(row[kept & (row >= 0)])
    return found[~among(found, np.concatenate(elsewhere))]


def _handed_alone(image: Image, shown: npt.NDArray[np.uint64]) -> Rows:
    """Variables whose address is handed to one of these functions, to no other, and stands in no data."""
    args = picked(image.args, image.args["kind"] == ArgKind.ADDRESS)
    variable = image.variables_at(args["value"].astype(np.uint64))
    ours = among(args["callee"], shown)
    found = distinct(variable[ours & (variable >= 0)])
    stored = image.variables_at(image.pointed)
    return found[~among(found, np.concatenate([variable[~ours], stored]))]


def called_by_seldom_code(image: Image, calls: Table) -> Rows:
    """Functions of a kernel that are called, though never but by seldom code: such functions, or on seldom ways.

    ``calls`` with the rarity that is known by now.  Who else may call a function is known in a kernel: its address is
    stored or handed somewhere, or it is there for modules.  Of these the callers that are seen speak for the others
    where there are several: modules are drivers and the like as what is built in.
    """
    functions = image.functions
    if image.kind not in _KERNELS or not len(calls):
        return np.zeros(0, np.int64)
    entered = flagged(image, FunctionFlag.ADDRESS_TAKEN)
    seldom = flagged(image, FunctionFlag.COLD | FunctionFlag.INIT)
    row = functions_called(image)
    inside = row >= 0
    caller, callee = calls["function"][inside].astype(np.int64), row[inside]
    rare = (calls["rarity"][inside] >= shared.SELDOM) & (caller >= 0)
    pairs = distinct(callee << 32 | np.maximum(caller, 0))
    callers = np.bincount(pairs >> 32, minlength=len(functions))
    called = callers >= np.where(flagged(image, for_others(image)), numbers.SEVERAL_CALLERS, 1)
    found = seldom.copy()
    for _ in range(ROUNDS):
        often = ~rare & ~np.append(found, False)[caller] & (caller != callee)
        fresh = found | (called & ~entered & ~(np.bincount(callee[often], minlength=len(functions)) > 0))
        if (fresh == found).all():
            break
        found = fresh
    result: Rows = np.flatnonzero(found & ~seldom)
    return result


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
