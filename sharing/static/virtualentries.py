"""Threads of classes: an entry that calls a virtual function of its object runs that of each class that derives.

Owns which functions these are in code: ``start()`` of a class of threads starts each in a function that calls ``run()``
once.  Which class that is says the name of the function, of which the class is a part, or that one class alone of the
program has others that derive from it and such a function.  Source knows by type (``slotcalls``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from sharing.basics.kept import Kept
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, FunctionFlag, Image, SlotKind, Table
from sharing.static.callees import calls_of, function_at, function_name
from sharing.static.executions import in_loop

_NESTED = re.compile("N(.*)E")
MADE_AND_DESTROYED = 2  # stores of one object's table
MAX_WAY = 8  # calls one in the other: the library's templates around what a thread runs, or around a constructor
MAX_CALLED = 8  # functions at one depth of them

Row = np.void


def virtual_entries(image: Image, entry: int) -> Iterator[tuple[int, bool]]:
    """(row of a function, do several threads run it) of what an entry (a row) calls once of its object."""
    if image.origins or not image.class_roots:
        return
    call = _call(image, entry)
    if call is None or call["slot"] != SlotKind.RECORD:
        return
    tables = _tables(image, function_name(image, int(call["function"])), int(call["where"]))
    for table, row in tables.items():
        if row not in (entry, int(call["function"])):
            yield row, _of_several(image, table, set(tables.values()))


def _call(image: Image, entry: int) -> Row | None:
    """The one call through a pointer that an entry makes outside of loops, or a function that it calls so."""
    (calls, functions), rows = _calls.of(image.calls, (), lambda: _by_function(image)), [entry]
    for _ in range(MAX_WAY):
        first, last = (np.searchsorted(functions, rows, side) for side in ("left", "right"))
        made = np.concatenate([calls[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)])
        through = picked(made, made["callee"] == 0)
        if len(through):
            return through[0] if len(through) == 1 else None
        called = function_at(image, distinct(made["callee"]))
        rows = called[called >= 0].tolist()
        if not 0 < len(rows) <= MAX_CALLED:
            return None
    return None


def _by_function(image: Image) -> tuple[Table, Table]:
    """Calls outside of loops, sorted by function, and these functions: a field of a table is copied to be looked in."""
    calls = picked(image.calls, ~in_loop(image.calls["loop_depth"]))
    calls = picked(calls, np.argsort(calls["function"], kind="stable"))
    return calls, np.ascontiguousarray(calls["function"])


_calls: Kept[tuple[Table, Table]] = Kept()


def _tables(image: Image, name: str, behind: int) -> dict[int, int]:
    """By table of one class and those that derive from it the function (a row) so far behind its begin."""
    begins = np.array(sorted(image.class_roots), np.uint64)
    words = image.code_words
    at = np.minimum(np.searchsorted(words["slot"], begins + np.uint64(behind)), max(len(words) - 1, 0))
    there = words[at]["slot"] == begins + np.uint64(behind) if len(words) else np.zeros(len(begins), bool)
    rows = np.where(there, function_at(image, words[at]["value"]), -1) if len(words) else np.full(len(begins), -1)
    families: dict[str, dict[int, int]] = defaultdict(dict)
    for table, row in zip(begins.tolist(), rows.tolist(), strict=True):
        families[image.class_roots[table]][table] = row
    known = {root: {t: row for t, row in of.items() if row >= 0} for root, of in families.items() if len(of) > 1}
    named = [of for root, of in known.items() if _is_part(root, name)]
    found = named or [of for of in known.values() if of]
    return found[0] if len(found) == 1 else {}


def _is_part(root: str, name: str) -> bool:
    """Is a class a scope of what has this linkage name?"""
    nested = _NESTED.fullmatch(root)
    scope = nested[1] if nested else root
    at = name.find(scope)
    while at >= 0 and name[at - 1 : at].isdigit():  # the end of a longer number: of another scope
        at = name.find(scope, at + 1)
    return at >= 0


def _of_several(image: Image, table: int, own: set[int]) -> bool:
    """Whether several objects of a class may be made: by several functions, or in a loop.

    Who makes an object stores its table there, and stores it once more where it destroys it (Itanium C++ ABI, 2.6).
    """
    stored = picked(image.behind.stored, image.behind.stored["what"] == np.uint64(table))
    if len(stored):
        makers = stored[["function", "loop_depth"]]
    else:
        sites = picked(
            image.sites, (image.sites["kind"] == AccessKind.ADDRESS) & (image.sites["target"] == np.uint64(table))
        )
        first = function_at(image, image.code_words["value"][image.code_words["slot"] == np.uint64(table)])
        cold = image.functions["flags"][sites["function"]] & FunctionFlag.COLD != 0
        sites = picked(sites, ~cold & ~among(sites["function"], np.array([*own, *first.tolist()], np.int32)))
        makers = sites[["function", "loop_depth"]]
    if len(distinct(makers["function"])) != 1 or len(makers) > MADE_AND_DESTROYED:
        return True
    for _ in range(MAX_WAY):
        if in_loop(makers["loop_depth"]).any():
            return True
        makers = image.calls[calls_of(image, int(image.functions["address"][int(makers["function"][0])]))]
        if len(makers) != 1 or makers["function"][0] < 0:
            break
    return len(makers) > 1
