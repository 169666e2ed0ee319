"""Calls through members of records in source, as calls of the functions that are kept there.

Owns these calls with what they hand over, and what threads are to do whose entry calls a member once.  Source knows by
type which member a call takes its target from, and what it is given everywhere (``sharing.source.calledslots``): so a
callback that is registered with one function and called by another has its caller, and its parameters their objects.
"""

from __future__ import annotations

import dataclasses
from itertools import product

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.columns import having, those_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, picked, stacked
from sharing.model.given import Given
from sharing.model.image import ArgKind, FunctionFlag, Image, SlotKind, Table
from sharing.static import numbers
from sharing.static.callees import function_at
from sharing.static.edges import edges_of
from sharing.static.executions import each_time, in_loop
from sharing.static.handovers import Handover, handovers
from sharing.static.pointercalls import KeptFunctions
from sharing.static.slotnumbers import kind_of

Bools = npt.NDArray[np.bool_]


class _Known(msgspec.Struct, frozen=True):
    """Calls through members, and the rows of the functions that are kept there; none where those are too many."""

    calls: Table
    targets: tuple[tuple[int, ...], ...]
    outside: Bools  # made outside of loops by the first function of a thread
    virtual: Bools  # of a virtual function, which any object of a class that is derived may have


def with_slot_calls(image: Image, knowledge: Knowledge) -> Image:
    """The image with calls of all that is kept at a member beside the call through it, if that is little.

    The call through the pointer stays: it says of a function that only tables keep where it is called.  What a thread's
    entry calls so, once, is what that thread does, and begins others; so is a virtual function that it calls so, of
    each class of threads.  A function that comes back to its caller adds none: how often that goes round nothing says.
    """
    if not image.origins or not len(image.kept):
        return image
    starts = [one for one in handovers(image, knowledge, image.args) if one.starts]
    known = _known(image, starts)
    made = _made(image, known, ~known.outside & ~known.virtual)
    made = made[~_comes_back(image, made)]
    image = dataclasses.replace(
        image, calls=joined_calls(image.calls, made), args=joined_calls(image.args, as_called(image, made))
    )
    return _begun(image, starts, known)


def _known(image: Image, starts: list[Handover]) -> _Known:
    kept = KeptFunctions(image)
    calls, slots = kept.calls()
    through = kind_of(slots) == SlotKind.RECORD
    calls, slots = calls[through], slots[through].tolist()
    found = kept.at(slots)
    virtual = image.functions["flags"] & FunctionFlag.VIRTUAL != 0
    few = {slot: tuple(sorted(rows)) for slot, rows in found.items() if len(rows) <= numbers.FEW_TARGETS}
    entries = function_at(image, np.array([one.entry for one in starts], np.uint64))
    outside = among(calls["function"].astype(np.int64), entries) & ~in_loop(calls["loop_depth"])
    targets = tuple(few.get(slot, ()) for slot in slots)
    return _Known(calls, targets, outside, np.array([bool(virtual[list(rows)].any()) for rows in targets], bool))


def _made(image: Image, known: _Known, chosen: Bools) -> Table:
    """Calls of the functions that are kept where these are made through a pointer, each as often as another."""
    of_call = np.array([len(one) for one in known.targets], np.int64) * chosen
    made = np.repeat(known.calls, of_call)
    rows = [row for at in np.flatnonzero(chosen).tolist() for row in known.targets[at]]
    made["callee"] = image.functions["address"][np.array(rows, np.int64)]
    made["slot"] = made["where"] = 0
    several = np.repeat(of_call, of_call)
    made["rarity"] += np.round(shared.RARITY_STEPS * np.log2(np.maximum(several, 1))).astype(np.uint16)
    return made


def _comes_back(image: Image, made: Table) -> Bools:
    """Which of these calls are part of a cycle, or made where another one is."""
    edges = edges_of(image, np.concatenate([image.calls, made]))
    around = edges.between_cycles()
    target = function_at(image, made["callee"])
    result = around[made["function"]] & around[target]
    for at in np.flatnonzero(result).tolist():
        result[at] = edges.reached_from(target[at : at + 1])[made["function"][at]]
    alike: Bools = among(made["ip"], made["ip"][result])
    return alike


def _begun(image: Image, starts: list[Handover], known: _Known) -> Image:
    """What threads do whose entry calls one member, once: other threads' functions where these are handed over.

    Of several functions that one call starts threads for each is taken to be for one of them, as of a table.  Where all
    that is kept there is what starters of such threads are handed, the entry alone is known to do none of it.
    """
    handed = {one.entry for one in starts}
    address = image.functions["address"]
    once = known.outside & each_time(known.calls["rarity"])
    callee, callers = image.calls["callee"], image.calls["function"]
    callers = callers[(callee == 0) & (callers >= 0)]
    through = np.bincount(callers, minlength=len(image.functions))  # calls through pointers of each function
    given: dict[Given, None] = {}
    left = np.zeros(len(known.calls), bool)
    for at in np.flatnonzero(once).tolist():
        caller = int(known.calls["function"][at])
        entry = int(address[caller])
        others = [int(address[row]) for row in known.targets[at] if row != caller]
        if not others or through[caller] != 1:
            continue
        if handed & set(others):
            apart = _told_apart(image, starts, entry)
            if set(others) <= {one.entry for one in apart}:
                left[at] = True
                given |= dict.fromkeys(one for one in apart if one.entry in others)
            continue
        left[at] = True
        by = [one.ip for one in starts if one.entry == entry]
        for ip, other, (parameter, data, stride) in product(by, others, _data(image, int(known.calls["ip"][at]))):
            alone = len(others) > 1 and not known.virtual[at]  # of a class there may be several objects
            given[Given(ip, other, parameter, data, entry, alone=alone, stride=stride)] = None
    if not left.any():
        return image
    calls = picked(image.calls, (image.calls["callee"] != 0) | ~having(image.calls, "ip", known.calls["ip"][left]))
    passed = as_called(image, _made(image, known, left))
    args = joined_calls(image.args, picked(passed, passed["kind"] == ArgKind.PARAM))
    return dataclasses.replace(image, calls=calls, args=args, given=(*image.given, *given))


def _told_apart(image: Image, starts: list[Handover], entry: int) -> list[Given]:
    """What is handed to functions that start a thread each with this entry, if it is known of each call of these.

    What starts one where nothing is handed over may start it for any of the functions that are kept.
    """
    calls = image.calls
    made = those_having(calls, "ip", [one.ip for one in starts if one.entry == entry])
    if in_loop(made["loop_depth"]).any():
        return []
    starters = made["function"]
    begins = image.functions["address"][starters[starters >= 0]]
    wrapped = those_having(calls, "callee", begins)
    told = [(one, one.data or (0, 0)) for one in starts if one.entry != entry]
    ips = {one.ip for one, _ in told} & set(wrapped["ip"].tolist())
    if len(ips) < len(wrapped) or not among(begins, wrapped["callee"]).all():
        return []
    return [Given(one.ip, one.entry, one.parameter, to, entry, stride=by) for one, (to, by) in told if one.ip in ips]


def _data(image: Image, ip: int) -> list[tuple[int, int, int]]:
    """(parameter, address, bytes between elements) of what a call hands over; one of an unknown address for none."""
    rows = picked(image.args, (image.args["ip"] == ip) & (image.args["kind"] == ArgKind.ADDRESS))
    found: list[tuple[int, int, int]] = rows[["arg", "value", "source"]].tolist()
    return found or [(0, 0, 0)]


def as_called(image: Image, made: Table) -> Table:
    """What each of these calls hands over, as the calls through the pointers do."""
    rows = picked(image.args, having(image.args, "ip", made["ip"]) & (image.args["callee"] == 0))
    first = np.searchsorted(rows["ip"], made["ip"])
    counts = np.searchsorted(rows["ip"], made["ip"], "right") - first
    begin = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) if len(made) else first
    copies: Table = rows[begin + np.arange(len(begin))]
    callee = made["callee"]
    copies["callee"] = np.repeat(callee, counts)
    return copies


def joined_calls(table: Table, more: Table) -> Table:
    """Both, by address."""
    joined = stacked([table, more])
    ordered: Table = picked(joined, np.argsort(joined["ip"], kind="stable"))
    return ordered
