"""Objects on the heap that started threads are handed as their argument.

Owns which of these are one for all threads of an entry: a function that is started with another object too, or entered
in any other way, tells nothing of one.  Which objects a static pointer leads to is ``heaprecords``'s.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection

import msgspec
import numpy as np

from sharing.basics.columns import rows_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, copied, joined_by_ip, picked, stacked
from sharing.model.image import HELD, ArgKind, Image, SiteFlag, Table
from sharing.static import numbers
from sharing.static.callees import calls_of, function_at, functions_called
from sharing.static.flow import through_starts
from sharing.static.handedwords import Word, behind_words
from sharing.static.handovers import ADDRESS_MASK, as_elements, entered_otherwise, handovers


class Told(msgspec.Struct, frozen=True):
    """``image`` without the objects that go to functions which are handed several; what goes to the others.

    ``sites``: what these do to objects of the heap, as of ``Behind``.  ``every``: what all functions are handed.
    """

    image: Image
    handed: list[Handed]
    every: list[Handed]
    sites: Table
    words: dict[int, Word]  # that lead to one object, by what stands for their holders


class Handed(msgspec.Struct, frozen=True):
    """A call that starts a thread, or calls a function back, and what it hands to it."""

    ip: int
    at: int  # its argument that is the function
    entry: int  # address of that function
    argument: int  # its argument that is the data
    data: int | None  # address, of an object of the heap or of a frame as in ``Behind``; None unknown
    starts: bool  # a thread
    parameter: int = 0  # the data's number among the arguments of the function
    stride: int = 0  # bytes between elements of an array, of which each call hands another; 0 one object
    given: tuple[int, int] | None = None  # (call, its argument) that is given the data, where that is another one


def told_apart(image: Image, knowledge: Knowledge, entries: Collection[int] = ()) -> Told:
    """``entries``: rows of the functions that threads begin with, whose arguments are each thread's own."""
    lives = with_lives(image, entries)
    image = _own_elements(image, lives)
    given = handed(image, knowledge)
    several = _of_several(image, given)
    args = image.behind.args
    for one in given:
        if (one.entry, one.parameter) in several:
            ip, number = one.given or (one.ip, one.argument)
            args = picked(args, (args["ip"] != np.uint64(ip)) | (args["arg"] != number))
    alone = [one for one in given if (one.entry, one.parameter) not in several]
    words = behind_words(image, sorted({*_one_object(image, alone), *_called_with_one(image, lives)}))
    args = joined_by_ip(args, words.args)
    sites = through_starts(dataclasses.replace(image, args=stacked([image.args, args])), knowledge)
    sites = picked(sites, sites["target"] & ~(HELD - np.uint64(1)) == HELD)
    behind = msgspec.structs.replace(image.behind, sites=joined_by_ip(image.behind.sites, words.sites), args=args)
    clear = dataclasses.replace(image, behind=behind)
    return Told(clear, alone, given, sites, words.found)


def with_lives(image: Image, entries: Collection[int]) -> set[int]:
    """The entries, and what they alone call, outside of loops: what such a function is given, its thread is given."""
    calls = image.calls
    callees = functions_called(image)
    every = set(entries)
    made = np.bincount(callees[callees >= 0])
    for _ in range(numbers.PARAM_ROUNDS):
        mine = rows_having(calls, "function", list(every))
        mine = mine[(calls["loop_depth"][mine] == 0) & (callees[mine] >= 0)]
        by_these = np.bincount(callees[mine], minlength=len(made))
        fresh = set(np.flatnonzero((by_these > 0) & (by_these == made)).tolist()) - every
        if not fresh:
            break
        every |= fresh
    return every


def _called_with_one(image: Image, lives: Collection[int]) -> set[tuple[int, int, int]]:
    """The same of functions that threads call themselves, where all calls give them one object."""
    args = image.behind.args
    addresses = image.functions["address"][np.array(sorted(lives), np.int64)]
    args = picked(args, among(args["callee"], addresses) & (args["kind"] == ArgKind.ADDRESS))
    objects: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for callee, arg, value, source in args[["callee", "arg", "value", "source"]].tolist():
        objects[callee, arg].append((value, source))
    found = set()
    for (callee, arg), given in objects.items():
        if len(set(given)) == 1 and not given[0][1] and len(given) == len(calls_of(image, callee)):
            row = int(function_at(image, np.array([callee], np.uint64))[0])
            found.add((row, arg, given[0][0]))
    return found


def _one_object(image: Image, handed: list[Handed]) -> list[tuple[int, int, int]]:
    """(row of a function, its argument, the object) of functions that are handed one object alone."""
    given = [(one.entry, one.parameter, one.data) for one in image.given if one.data and not one.stride]
    given += [(one.entry, one.parameter, one.data) for one in handed if one.data is not None and not one.stride]
    rows = function_at(image, np.array([entry for entry, _, _ in given], np.uint64)).tolist()
    found = {(row, number, data) for row, (_, number, data) in zip(rows, given, strict=True) if row >= 0}
    return sorted(found)


def _own_elements(image: Image, entries: Collection[int]) -> Image:
    """The image, elements behind pointers at an index that a thread was given marked as that thread's own."""
    marked = []
    for rows in (image.behind.sites, image.behind.word_sites):
        sites = copied(rows)
        flags = sites["flags"]
        given = (flags & SiteFlag.GIVEN != 0) & among(sites["function"], np.array(sorted(entries), np.int64))
        flags[given] |= np.uint8(SiteFlag.OWN)
        flags &= np.uint8(255 - SiteFlag.GIVEN)
        marked.append(sites)
    behind = msgspec.structs.replace(image.behind, sites=marked[0], word_sites=marked[1])
    return dataclasses.replace(image, behind=behind)


def handed(image: Image, knowledge: Knowledge) -> list[Handed]:
    """What functions are handed by calls that start threads with them, or call them back."""
    found = handovers(image, knowledge, stacked([image.args, image.behind.args]))
    return [
        Handed(
            one.ip,
            one.at,
            one.entry,
            one.argument,
            _address(one.data),
            one.starts,
            one.parameter,
            _stride(one.data),
            one.given,
        )
        for one in as_elements(image, found)
    ]


def _address(data: tuple[int, int] | None) -> int | None:
    return None if data is None else data[0] & ADDRESS_MASK


def _stride(data: tuple[int, int] | None) -> int:
    return 0 if data is None else data[1]


def _of_several(image: Image, handed: list[Handed]) -> set[tuple[int, int]]:
    """Those functions that may get another object as this argument, or be entered in a way that does not show what
    they get."""
    objects: dict[tuple[int, int], set[tuple[int, int] | None]] = defaultdict(set)
    for one in handed:
        objects[one.entry, one.parameter].add(None if one.data is None else (one.data, one.stride))
    otherwise = entered_otherwise(image, handed)
    return {key for key, data in objects.items() if len(data) > 1 or None in data or key[0] in otherwise}
