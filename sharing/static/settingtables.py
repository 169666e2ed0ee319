"""Functions in a table of names, ``{"limit", set_limit}``, that code which asks for names alone calls.

Owns which functions these are: source tells in which place they are kept, and which calls take their target from there.
In code the table is static data that nothing but such code names; what it names there it calls through a pointer.  Who
else calls what stands in such a table, as for what a client sent, runs commands.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct
from sharing.model.image import AccessKind, ArgKind, Image, SectionKind, Table
from sharing.static.callees import function_at, functions_given

Bools = npt.NDArray[np.bool_]
Addresses = npt.NDArray[np.uint64]


class Asking(msgspec.Struct, frozen=True):
    """Code that reads what a file says: whole functions, and parts of others: (row, which calls, do they count).

    ``comparing`` are those of the functions that compare texts by calls.  What only parts do that do not count, nothing
    is said of.
    """

    functions: Bools
    comparing: Bools
    parts: list[tuple[int, Bools, bool]]


def called_by_name(image: Image, asking: Asking) -> Bools:
    """Functions that are kept where none but these call anything through pointers."""
    return _in_members(image, asking.comparing) | _in_tables(image, asking)


def _in_members(image: Image, asking: Bools) -> Bools:
    """Functions that are kept in one place, through which none but these, which compare texts, calls anything."""
    result, calls, kept = np.zeros(len(asking), bool), image.calls, image.kept
    through = calls[calls["slot"] != 0]
    ours = np.append(asking, np.False_)[through["function"]]
    places = _place(through[ours])
    places = places[~among(places, _place(through[~ours]))]
    there = among(_place(kept), places)
    # Where what is kept there is little, calls through it are calls of these functions as well.
    directly = calls["callee"][~among(calls["ip"], through["ip"][among(_place(through), places)])]
    handed = image.args["value"].astype(np.uint64)
    elsewhere = [kept["value"][~there], directly, handed, image.code_words["value"]]
    alone = kept["value"][there & ~among(kept["value"], np.concatenate(elsewhere))]
    rows = function_at(image, alone)
    result[rows[rows >= 0]] = True
    return result


def _place(rows: Table) -> Addresses:
    return rows["slot"].astype(np.uint64) << np.uint64(32) | rows["where"].astype(np.uint64)


def _in_tables(image: Image, asking: Asking) -> Bools:
    """The same of functions that stand in static data beside texts, which compilers compare without calls as well."""
    result, words = np.zeros(len(asking.functions), bool), image.code_words
    if image.origins or not len(words):
        return result
    allowed, counted = _who_may(image, asking)
    if not counted.any():
        return result
    named_ones = np.array(sorted(image.table_names), np.uint64)
    possible = among(words["value"], named_ones) & ~_is_written(image, words["slot"])
    words = words[possible]
    if not len(words):
        return result
    sites, args = image.sites, image.args
    address = args["kind"] == ArgKind.ADDRESS
    named = np.concatenate([sites["target"], args["value"][address].astype(np.uint64)])
    by = np.concatenate([sites["function"], args["function"][address]]).astype(np.int64)
    onward = np.append(allowed, np.False_)[functions_given(image)[address]]
    fine = np.append(allowed, np.False_)[by] & np.append(np.ones(len(sites), bool), onward)
    begins = distinct(np.concatenate([named, image.pointed]))
    wrong = distinct(np.concatenate([_objects(image, named[~fine], begins), _objects(image, image.pointed, begins)]))
    right = _objects(image, named[fine & np.append(counted, np.False_)[by]], begins)
    there = _objects(image, words["slot"], begins)
    good = among(there, right) & ~among(there, wrong)
    taken = sites["target"][sites["kind"] == AccessKind.ADDRESS]
    others = image.code_words["value"][~possible]
    elsewhere = [words["value"][~good], others, taken, args["value"].astype(np.uint64), image.calls["callee"]]
    elsewhere.append(image.kept["value"])
    rows = function_at(image, words["value"][good & ~among(words["value"], np.concatenate(elsewhere))])
    result[rows[rows >= 0]] = True
    return result


def _is_written(image: Image, places: Addresses) -> Bools:
    """Slots of the loader's, and of a table that code may change."""
    found = np.ones(len(places), bool)
    for section in image.sections:
        if section.kind in (SectionKind.RELRO, SectionKind.CONSTANT, SectionKind.WRITABLE):
            found &= ~((places >= section.address) & (places < section.end))
    return found


def _who_may(image: Image, asking: Asking) -> tuple[Bools, Bools]:
    """Functions that name such a table, and those of them that count: a function of which parts ask calls through
    pointers there alone."""
    calls = image.calls
    through = calls["callee"] == 0
    own: dict[int, Bools] = defaultdict(lambda: np.zeros(len(calls), bool))
    counts = set[int]()
    for function, rows, count in asking.parts:
        own[function] |= rows
        counts |= {function} if count else set()
    allowed, counted = asking.functions.copy(), asking.functions.copy()
    for function, rows in own.items():
        if not (through & (calls["function"] == function) & ~rows).any():
            allowed[function] = True
            counted[function] |= function in counts
    return allowed, counted


def _objects(image: Image, places: Addresses, begins: Addresses) -> Addresses:
    """What is at each place, by its first byte: a variable, or else all from one place that something names to the
    next."""
    rows = image.variables_at(places)
    before = begins[np.maximum(np.searchsorted(begins, places, "right") - 1, 0)] if len(begins) else places
    known = np.append(image.variables["address"], np.uint64(0))[rows]
    result: Addresses = np.where(rows >= 0, known, before)
    return result
