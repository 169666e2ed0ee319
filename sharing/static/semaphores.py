"""Semaphores: what functions wait at them and post them, and how many may pass before anybody has posted.

Owns what each begins with, as far as it is known: by the call that makes it, by its constructor where that is a
function of its own, by its declaration in source, or because it is zero in the file.
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np

from sharing.basics.columns import distinct_in, having
from sharing.basics.kept import Kept
from sharing.knowledge import Knowledge
from sharing.model.arrays import picked
from sharing.model.image import ArgKind, Image
from sharing.model.vocabulary import BarrierRow
from sharing.static.callees import names_of_callees
from sharing.static.wordchanges import changes, is_zero, writes

_named: Kept[dict[int, BarrierRow]] = Kept()  # several passes ask for these
UNKNOWN = -1  # in the place of a number
# Complete or base object's constructor of std::counting_semaphore in linkage names (Itanium C++ ABI, 5.1.4.3).
_CONSTRUCTOR = re.compile(r"_ZNSt18counting_semaphoreIL[a-z]\d+EEC[12]E[a-z]")
_CONSTRUCTED_WITH = 1  # argument


def barriers_of(image: Image, knowledge: Knowledge) -> dict[int, BarrierRow]:
    """By address the functions at which threads wait for each other, or arrive, that code calls."""

    def found() -> dict[int, BarrierRow]:
        callees = distinct_in(image.calls, "callee")
        names = names_of_callees(image, callees)
        rows = {int(callees[at]): knowledge.barrier(names[at]) for at in knowledge.barriers(names)}
        return {at: row for at, row in rows.items() if row is not None}

    return _named.of(image.calls, (image.functions, image.names, image.callee_names, knowledge), found)


def semaphores_of(image: Image, knowledge: Knowledge) -> dict[int, BarrierRow]:
    """Those of them that wait at a semaphore, or post it."""
    return {at: row for at, row in barriers_of(image, knowledge).items() if row.begins_with or row.counts}


def begins_with(image: Image, rows: list[BarrierRow], addresses: list[int]) -> dict[int, list[int]]:
    """What these semaphores begin with, by each call that makes them; nothing of those of which it is not known."""
    makers = dict(row.begins_with for row in rows if row.begins_with)
    counts = any(row.counts for row in rows)
    named = {address: makers[name] for address, name in image.callee_names.items() if name in makers}
    if counts:
        callees = distinct_in(image.calls, "callee")
        constructors = [
            int(at)
            for at, name in zip(callees, names_of_callees(image, callees), strict=True)
            if _CONSTRUCTOR.fullmatch(name)
        ]
        named |= dict.fromkeys(constructors, _CONSTRUCTED_WITH)
    args = picked(
        image.args, having(image.args, "callee", np.array(list(named), np.uint64)) & (image.args["source"] == 0)
    )
    made = picked(args, (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS))
    found: dict[int, list[int]] = defaultdict(list)
    for ip, callee, semaphore in made[["ip", "callee", "value"]].tolist():
        here = picked(args, (args["ip"] == ip) & (args["arg"] == named[callee]) & (args["kind"] == ArgKind.CONSTANT))
        found[semaphore].append(int(here["value"][0]) if len(here) == 1 else UNKNOWN)
    # Of one that is made nobody sees where it may be any of them.
    if having(image.calls, "callee", np.array(list(named), np.uint64)).sum() != len(made):
        return {}
    if counts:
        written = writes(image)
        for one in addresses:
            if image.origins:
                found[one] = [number] if (number := image.origins.begun.get(one)) is not None else []
            elif not found[one] and is_zero(image, one) and not len(changes(image, written, one)[1]):
                found[one] = [0]
    return {one: found[one] for one in addresses if found[one]}
