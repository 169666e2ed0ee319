"""Calls that happen within a library: functions that it was handed, called by the threads that run it.

Owns the calls as rows of the call table.  An event loop calls whatever was registered for any loop: which loop a
registration is for is data that nobody follows.
"""

from __future__ import annotations

import numpy as np

from sharing.basics import numbers as shared
from sharing.basics.columns import distinct_in, numbered, those_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked
from sharing.model.image import CALL_DTYPE, ArgKind, Image, Table
from sharing.model.vocabulary import CallbackRow, CallbackThread
from sharing.static.callees import Argument, function_at, names_of_callees, passed_on

MAX_RARITY = 255
_MINUS_ONE = 0xFFFFFFFF  # as an int of C


def callback_calls(image: Image, knowledge: Knowledge) -> Table:
    """The calls (CALL_DTYPE) that libraries make on behalf of this image."""
    handed = handed_over(image, knowledge)
    if not handed:
        return np.empty(0, CALL_DTYPE)
    loops: dict[tuple[str, ...], Table] = {}
    parts = []
    for at, row, function in handed:
        if row.thread is CallbackThread.LOOP:
            if row.loop not in loops:
                loops[row.loop] = _calls_of(image, row.loop)
            calls = loops[row.loop].copy()
            calls["loop_depth"] += 1
            seldom = row.timer or _is_timer(image, at, row)
        else:
            ip = image.args["ip"][at]
            calls = picked(image.calls, image.calls["ip"] == ip).copy()
            seldom = row.thread is CallbackThread.ONCE
        if seldom:
            calls["rarity"] = np.minimum(calls["rarity"].astype(np.int64) + shared.SELDOM, MAX_RARITY)
        calls["callee"] = image.functions[function]["address"]
        parts.append(calls)
    return distinct(np.concatenate(parts))


def _is_timer(image: Image, at: int, row: CallbackRow) -> bool:
    """Is the file descriptor of the same call -1?"""
    ips, args = image.args["ip"], image.args["arg"]
    same = image.args[(ips == ips[at]) & (args == row.descriptor_argument)]
    return any(a["kind"] == ArgKind.CONSTANT and int(a["value"]) & _MINUS_ONE == _MINUS_ONE for a in same)


def handed_over(image: Image, knowledge: Knowledge) -> list[tuple[int, CallbackRow, int]]:
    """(row of the arguments, what is said of the call, row of the function that the library will call)."""
    callees, inverse = numbered(image.args, "callee")
    rows: dict[Argument, CallbackRow] = {}
    names = names_of_callees(image, callees)
    for i in knowledge.callers_back(names):
        for row in knowledge.callbacks(names[i]):
            if row.thread is not CallbackThread.ANY:
                rows[(i, row.entry_argument)] = row
    found = []
    for at, key, wrapper in passed_on(image, callees, inverse, set(rows)):
        if wrapper is not None:
            rows.setdefault(wrapper, rows[key])
            continue
        function = int(function_at(image, image.args["value"][at : at + 1].astype(np.uint64))[0])
        if function >= 0:
            found.append((at, rows[key], function))
    return found


def _calls_of(image: Image, names: tuple[str, ...]) -> Table:
    callees = distinct_in(image.calls, "callee")
    wanted = [a for a, n in zip(callees.tolist(), names_of_callees(image, callees), strict=True) if n in names]
    return those_having(image.calls, "callee", np.array(wanted, np.uint64))
