"""Thread entries that arrive as objects of Rust: what a thread is to do is a method in the table of a closure.

Owns that pattern.  ``std::thread`` boxes the closure with a table of its functions (a trait object: destructor, size,
alignment, methods) and starts a function that calls through the table.  The object is not followed.  Whoever calls the
starter takes the address of the table on its way; its first method is what such threads do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having
from sharing.model.arrays import distinct
from sharing.model.image import AccessKind, ArgKind, Image, SectionKind, SlotKind
from sharing.static import numbers
from sharing.static.callees import function_at, functions_called
from sharing.static.sections import within

METHOD = 3  # the word of the first method, behind two words that are numbers
_COMPILERS_NAMES = ("vtable.", "anon.", ".L")


def object_entries(image: Image, starters: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """(row of a function that such threads run, row of a call behind it that may hand the object over).

    ``starters`` are addresses of the functions that objects are handed to.
    """
    sites, calls = image.sites, image.calls
    handing = np.flatnonzero(having(calls, "callee", starters) & (calls["function"] >= 0))
    if not len(handing) or not len(image.code_words):
        return
    chosen = (sites["kind"] == AccessKind.ADDRESS) & having(sites, "function", calls["function"][handing])
    taken = np.flatnonzero(chosen)
    unwritten = [s for s in image.sections if s.kind in (SectionKind.RELRO, SectionKind.CONSTANT)]
    taken = taken[within(sites["target"][taken], unwritten)]
    taker, caller, call_ip = sites["function"], calls["function"], calls["ip"]
    args = image.args
    elsewhere = (args["kind"] == ArgKind.ADDRESS) & ~having(args, "callee", starters)
    makers = distinct(caller[handing])
    acts = _acting(image)
    away = args[elsewhere & having(args, "function", makers)]
    hander, handed = away["function"], away["value"]
    for maker in makers.tolist():
        here = taken[taker[taken] == maker]
        mine = handing[caller[handing] == maker]
        mine = mine[np.argsort(call_ip[mine])]
        # An object that is handed to another function as well is something else: an error that is told.
        others = set(handed[hander == maker].tolist())
        for ip, table in sorted(zip(sites["ip"][here].tolist(), sites["target"][here].tolist(), strict=True)):
            row = _first_method(image, table) if table not in others and _is_vtable(image, table) else -1
            if row >= 0 and acts[row]:
                behind = mine[int(np.searchsorted(call_ip[mine], ip)) :]
                yield from ((row, call) for call in (behind if len(behind) else mine).tolist())


def calls_methods(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that call the first method of some object, themselves or in what they call: what a box holds."""
    calls, method = image.calls, METHOD * image.arch.pointer_size
    own = calls["function"] >= 0
    through = own & (calls["callee"] == 0) & (calls["slot"] == SlotKind.RECORD) & (calls["where"] == method)
    found = np.zeros(len(image.functions) + 1, bool)  # the last one for -1
    found[calls["function"][through]] = True
    callee = functions_called(image)
    for _ in range(numbers.ENTRY_WRAPPERS):
        found[calls["function"][own & found[callee]]] = True
    return found[:-1]


def _acting(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that call or access something: one that only tells what type an object has is no thread's work."""
    acts = np.zeros(len(image.functions), bool)
    for rows in (image.calls, image.sites):
        function = rows["function"]
        acts[function[function >= 0]] = True
    return acts


def _is_vtable(image: Image, address: int) -> bool:
    """Perhaps one of a closure: compilers name those so, or not at all.  Other classes' are known by their names."""
    row = image.variable_at(address)
    if row < 0 or image.variables["name"][row] < 0:
        return True
    name = str(image.names[image.variables["name"][row]])
    return name.startswith(_COMPILERS_NAMES) or name.endswith("{vtable}")


def _first_method(image: Image, table: int) -> int:
    """Row of the function, -1 where this is no such table."""
    words, width = image.code_words, image.arch.pointer_size
    begin, end = np.searchsorted(words["slot"], (table + width, table + (METHOD + 1) * width))
    if end - begin != 1 or words["slot"][begin] != table + METHOD * width:
        return -1
    return int(function_at(image, words["value"][begin:end])[0])
