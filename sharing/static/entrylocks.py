"""Locks that a function is entered with: those that every caller holds at every call.

Owns the fixpoint over the call graph (as in Engler and Ashcraft, RacerX, SOSP 2003; Blackshear et al., RacerD, OOPSLA
2018).  A function that may be entered from elsewhere (thread entries, stored addresses, no caller) starts with none,
and calls that no second thread can overlap say nothing: what start-up does without a lock does not need one.
"""

from __future__ import annotations

import numpy as np

from sharing.model.image import Image
from sharing.static.callees import functions_called
from sharing.static.callgraph import CallGraph
from sharing.static.phases import program_point

ROUNDS = 8
EMPTY: frozenset[int] = frozenset()


def held_on_entry(image: Image, graph: CallGraph) -> list[frozenset[int]]:
    """Per function row the addresses of the lock objects; greatest fixpoint, () for images without source."""
    n = len(image.functions)
    origins = image.origins
    if origins is None:
        return []
    entry: list[frozenset[int] | None] = [EMPTY] * n
    for row, needed in origins.required.items():
        entry[row] = needed
    callers = _callers(image, graph)
    open_rows = [f for f in callers if not graph.entered[f] and f not in origins.required]
    for row in open_rows:
        entry[row] = None
    for _ in range(ROUNDS):
        changed = False
        for row in open_rows:
            held: frozenset[int] | None = None
            for caller, at in callers[row]:
                above = entry[caller]
                if above is None:
                    continue
                held = at | above if held is None else held & (at | above)
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


def _callers(image: Image, graph: CallGraph) -> dict[int, list[tuple[int, frozenset[int]]]]:
    """By callee: (caller, locks that it holds at the call by its own doing), of calls that may run concurrently."""
    origins = image.origins
    assert origins is not None
    calls = image.calls
    callee = functions_called(image)
    keep = (callee >= 0) & (calls["function"] >= 0) & (callee != calls["function"])
    calls, callee = calls[keep], callee[keep]
    overlapping = ~graph.phases.sequential(calls["function"], program_point(image, calls))
    calls, callee = calls[overlapping], callee[overlapping]
    row = origins.rows(calls["ip"])
    number = np.where(row >= 0, origins.table["lockset"][row], -1) if len(origins.table) else row
    out: dict[int, list[tuple[int, frozenset[int]]]] = {}
    for to, caller, held in zip(callee.tolist(), calls["function"].tolist(), number.tolist(), strict=True):
        out.setdefault(to, []).append((caller, origins.locksets[held] if held >= 0 else EMPTY))
    return out
