"""Calls that are handed a lock at a place that no scan of one function tells.

Owns which calls and arguments these are: debug information may say of what record the lock is a part.
"""

from __future__ import annotations

import numpy as np

from sharing.basics.columns import distinct_in, having
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked
from sharing.model.image import ARG_DTYPE, ArgKind, Image, Table
from sharing.static import numbers
from sharing.static.callees import names_of_callees
from sharing.static.callgraph import CallGraph


def handed_locks(image: Image, calls: CallGraph, knowledge: Knowledge) -> Table:
    """ARG_DTYPE by ip, each an address that is zero: of calls in code that runs, that take or release such a lock."""
    takers = _takers(image, knowledge)
    callees = np.array(sorted({callee for callee, _ in takers}), np.uint64)
    inside = having(image.calls, "callee", callees) & (image.calls["function"] >= 0)
    made = image.calls[inside]
    caller = made["function"]
    made = made[(calls.mask[caller] != 0) & ~calls.cold[caller]]
    tables = (image.args, image.behind.args, image.behind.word_args)
    known: set[tuple[int, int]] = set()
    for table in tables:
        known.update(table[among(table["ip"], made["ip"])][["ip", "arg"]].tolist())
    by_callee: dict[int, list[int]] = {}
    for callee, arg in sorted(takers):
        by_callee.setdefault(callee, []).append(arg)
    found = [
        (ip, callee, 0, function, arg, ArgKind.ADDRESS, 0, depth)
        for ip, callee, function, depth in made[["ip", "callee", "function", "loop_depth"]].tolist()
        for arg in by_callee[callee]
        if (ip, arg) not in known
    ]
    return np.array(found, ARG_DTYPE) if found else np.zeros(0, ARG_DTYPE)


def _takers(image: Image, knowledge: Knowledge) -> set[tuple[int, int]]:
    """Functions that take or release the lock that an argument leads to, by name or because they pass it on to one."""
    callees = distinct_in(image.calls, "callee")
    callees = callees[callees != 0]
    names = names_of_callees(image, callees)
    takers = {
        (int(callees[at]), arg)
        for at in knowledge.lock_callees(names)
        for arg, _, effect in knowledge.lock_calls(names[at])
        if effect != "init"
    }
    passed = picked(image.args, (image.args["kind"] == ArgKind.PARAM) & (image.args["function"] >= 0))
    for _ in range(numbers.LOCK_WRAPPERS):
        rows = passed[among(passed["callee"], np.array(sorted({callee for callee, _ in takers}), np.uint64))]
        more = {
            (int(image.functions["address"][function]), source)
            for callee, arg, function, source in rows[["callee", "arg", "function", "source"]].tolist()
            if (callee, arg) in takers
        }
        if more <= takers:
            break
        takers |= more
    return takers
