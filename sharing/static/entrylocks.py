"""Locks that a function is entered with: those that every caller holds at every call.

Owns the fixpoint over the call graph (as in Engler and Ashcraft, RacerX, SOSP 2003; Blackshear et al., RacerD, OOPSLA
2018).  A function that may be entered from elsewhere (thread entries, no caller, addresses that go out of sight) starts
with none, one that is called through pointers with what all such calls hold that may be of it (``pointercallers``), and
calls that no second thread can overlap say nothing: what start-up does without a lock does not need one.
"""

from __future__ import annotations

import numpy as np

from sharing.model.image import Image, Table
from sharing.static.callees import functions_called
from sharing.static.callgraph import CallGraph
from sharing.static.givenback import GivenBack
from sharing.static.phases import program_point
from sharing.static.pointercallers import PointerCallers

ROUNDS = 8
EMPTY: frozenset[int] = frozenset()

# Row of the function, what it holds where it calls by its own doing, and what it has given back of what it was called
# with.
Caller = tuple[int, frozenset[int], frozenset[int]]


def held_on_entry(image: Image, graph: CallGraph, given_back: GivenBack | None = None) -> list[frozenset[int]]:
    """Per function row the addresses of the lock objects; greatest fixpoint, () for images without source."""
    n = len(image.functions)
    origins = image.origins
    if origins is None:
        return []
    entry: list[frozenset[int] | None] = [EMPTY] * n
    for row, needed in origins.required.items():
        entry[row] = needed
    callers = _callers(image, graph, given_back)
    pointed = _add_through_pointers(image, graph, callers, given_back)
    open_rows = [f for f in callers if (not graph.entered[f] or f in pointed) and f not in origins.required]
    for row in open_rows:
        entry[row] = None
    for _ in range(ROUNDS):
        changed = False
        for row in open_rows:
            held: frozenset[int] | None = None
            for caller, at, gone in callers[row]:
                above = entry[caller]
                if above is None:
                    continue
                here = at | (above - gone)
                held = here if held is None else held & here
                if not held:
                    break
            if held is not None and held != entry[row]:
                entry[row] = held
                changed = True
        if not changed:
            break
    else:
        for row in open_rows:  # not settled: claim nothing
            entry[row] = EMPTY
    return [e if e is not None else EMPTY for e in entry]


def _callers(image: Image, graph: CallGraph, given_back: GivenBack | None) -> dict[int, list[Caller]]:
    """By callee its callers, by calls that may run concurrently."""
    origins = image.origins
    assert origins is not None
    calls = image.calls
    callee = functions_called(image)
    keep = (callee >= 0) & (calls["function"] >= 0) & (callee != calls["function"])
    calls, callee = calls[keep], callee[keep]
    overlapping = ~graph.phases.sequential(calls["function"], program_point(image, calls))
    calls, callee = calls[overlapping], callee[overlapping]
    out: dict[int, list[Caller]] = {}
    for to, caller in zip(callee.tolist(), _holding(image, calls, given_back), strict=True):
        out.setdefault(to, []).append(caller)
    return out


def _add_through_pointers(
    image: Image, graph: CallGraph, callers: dict[int, list[Caller]], given_back: GivenBack | None
) -> set[int]:
    """Adds the calls through pointers that may be of functions, and says of which all are known."""
    if graph.by_pointers is None:
        return set()
    calls = PointerCallers(image, graph)
    of_anything = _holding(image, calls.of_anything, given_back)
    if any(not held and graph.entered[caller] and not graph.by_pointers[caller] for caller, held, _ in of_anything):
        return set()  # each may be called there, under no lock
    found: set[int] = set()
    for row in np.flatnonzero(graph.by_pointers).tolist():
        if (own := calls.of(row)) is not None:
            callers.setdefault(row, []).extend(of_anything + _holding(image, own, given_back))
            found.add(row)
    return found


def _holding(image: Image, calls: Table, given_back: GivenBack | None) -> list[Caller]:
    """Who makes each of these calls, and what it holds there."""
    origins = image.origins
    assert origins is not None
    row = origins.rows(calls["ip"])
    number = np.where(row >= 0, origins.table["lockset"][row], -1) if len(origins.table) else row
    held = [origins.locksets[at] if at >= 0 else EMPTY for at in number.tolist()]
    gone = given_back.before(calls) if given_back is not None else [EMPTY] * len(calls)
    return list(zip(calls["function"].tolist(), held, gone, strict=True))
