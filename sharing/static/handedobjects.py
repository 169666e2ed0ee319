"""Objects on the heap that started threads are handed as their argument.

Owns which of these are one for all threads of an entry: a function that is started with another object too, or entered
in any other way, tells nothing of one.  Which objects a static pointer leads to is ``heaprecords``'s.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import msgspec
import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import among
from sharing.model.image import HELD, ArgKind, Image, Table
from sharing.static.flow import ADDRESS_MASK, handovers, through_starts


class Told(msgspec.Struct, frozen=True):
    """``image`` without the objects that go to functions which are handed several; what goes to the others.

    ``sites``: what these do to objects of the heap, as of ``Behind``.
    """

    image: Image
    handed: list[Handed]
    sites: Table


class Handed(msgspec.Struct, frozen=True):
    """A call that starts a thread, or calls a function back, and what it hands to it."""

    ip: int
    at: int  # its argument that is the function
    entry: int  # address of that function
    argument: int  # its argument that is the data
    data: int | None  # address, of an object of the heap as in ``Behind``; None unknown
    starts: bool  # a thread


def told_apart(image: Image, knowledge: Knowledge) -> Told:
    handed = _handed(image, knowledge)
    several = _of_several(image, handed)
    args = image.behind.args
    for one in handed:
        if one.entry in several:
            args = args[(args["ip"] != np.uint64(one.ip)) | (args["arg"] != one.argument)]
    sites = through_starts(dataclasses.replace(image, args=np.concatenate([image.args, args])), knowledge)
    sites = sites[sites["target"] & ~(HELD - np.uint64(1)) == HELD]
    clear = dataclasses.replace(image, behind=msgspec.structs.replace(image.behind, args=args))
    return Told(clear, [one for one in handed if one.entry not in several], sites)


def _handed(image: Image, knowledge: Knowledge) -> list[Handed]:
    """Elements of an array are not told apart: of these nothing is known."""
    found = handovers(image, knowledge, np.concatenate([image.args, image.behind.args]))
    return [Handed(one.ip, one.at, one.entry, one.argument, _address(one.data), one.starts) for one in found]


def _address(data: tuple[int, int] | None) -> int | None:
    return None if data is None or data[1] else data[0] & ADDRESS_MASK


def _of_several(image: Image, handed: list[Handed]) -> set[int]:
    """Those functions that may get another object, or be entered in a way that does not show what they get."""
    objects: dict[int, set[int | None]] = defaultdict(set)
    for one in handed:
        objects[one.entry].add(one.data)
    entries = np.array(list(objects), np.uint64)
    named = image.args[image.args["kind"] == ArgKind.ADDRESS]
    named = named[among(named["value"].astype(np.uint64), entries)]
    ways = {(one.ip, one.at) for one in handed}
    otherwise = {value for ip, _, value, _, arg, *_ in named.tolist() if (ip, arg) not in ways}
    for values in (image.kept["value"], image.calls["callee"], image.code_words["value"]):
        otherwise.update(values[among(values, entries)].tolist())
    return {entry for entry, data in objects.items() if len(data) > 1 or None in data or entry in otherwise}
