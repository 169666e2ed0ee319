"""Functions of a program that start a thread in a function of theirs, which calls what they are handed, with its data.

Owns which arguments of such a wrapper these two are: ``launch(work, data)`` puts both into a record and starts a thread
there that calls ``record->work(record->data)``.  Code that stores its arguments in the record tells; of source, which
says nothing of what is stored, the data follows the function.  What is in records that callers fill themselves is
``startrecords``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from sharing.basics.columns import those_having
from sharing.model.arrays import among, picked
from sharing.model.image import (
    ArgKind,
    Image,
    SlotKind,
    Table,
)
from sharing.static.callees import function_at
from sharing.static.startobjects import parts_of, word_behind


class Wrapper(NamedTuple):
    """A function (its address) whose argument ``at`` runs on a new thread and gets ``data`` as its ``parameter``.

    ``entry``: the address of that function where it is always this one, as where a compiler knows all callers; else 0.
    """

    address: int
    at: int
    data: int
    parameter: int
    entry: int = 0


class _Start(NamedTuple):
    """A function (a row) starts a thread in another one, which finds the data in an argument of its own."""

    starter: int
    entry: int
    parameter: int


def start_wrappers(image: Image, starting: Mapping[int, Iterable[tuple[int, int]]]) -> Iterator[Wrapper]:
    """``starting``: by address of what starts threads, which of its arguments is the entry, and as which argument that
    gets its data."""
    starts = dict.fromkeys(_starts(image, starting))
    if not starts:
        return
    kept = picked(image.kept, image.kept["slot"] == SlotKind.RECORD)
    kept = kept[among(kept["function"], np.array([one.starter for one in starts], kept["function"].dtype))]
    if not image.origins and not len(kept):
        return
    calling = those_having(image.calls, "callee", 0)
    calling = picked(calling, calling["loop_depth"] == 0)
    for one in starts:
        told = _handed_to(image, one.starter) if image.origins else _stored(image, one, calling, kept)
        address = int(image.functions["address"][one.starter])
        # Of two functions that are handed over nothing says which of them gets the data.
        if len(told) == 1 and (not image.origins or (calling["function"] == one.entry).any()):
            yield Wrapper(address, *told.pop())


def _starts(image: Image, starting: Mapping[int, Iterable[tuple[int, int]]]) -> Iterator[_Start]:
    args = image.args
    rows = those_having(args, "callee", list(starting))
    rows = picked(rows, (rows["kind"] == ArgKind.ADDRESS) & (rows["function"] >= 0) & (rows["source"] == 0))
    entries = function_at(image, rows["value"].astype(np.uint64))
    for (callee, function, arg), entry in zip(
        rows[["callee", "function", "arg"]].tolist(), entries.tolist(), strict=True
    ):
        for at, parameter in starting[callee]:
            if entry >= 0 and entry != function and arg == at:
                yield _Start(function, entry, parameter)


def _stored(image: Image, one: _Start, calling: Table, kept: Table) -> set[tuple[int, int, int, int]]:
    """(argument that is the function, that is its data, what the function gets it as, the function or 0), by the words
    of the record that the starter stores these in and the entry calls, and hands over."""
    mine: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for where, arg, value in picked(kept, kept["function"] == one.starter)[["where", "arg", "value"]].tolist():
        mine[where].add((0 if value else arg, value))
    found: set[tuple[int, int, int, int]] = set()
    for function, number, begin in parts_of(image, one.entry, one.parameter) if mine else ():
        for call in picked(calling, (calling["function"] == function) & (calling["slot"] == SlotKind.RECORD)):
            for parameter, at in handed_words(image, int(call["ip"]), function, number):
                work, data = mine.get(begin + int(call["where"]), set()), mine.get(begin + at, set())
                if len(work) == len(data) == 1 and work != data:
                    (number_of_work, entry), (number_of_data, value) = *work, *data
                    if not value:
                        found.add((number_of_work, number_of_data, parameter, entry))
    # A function is called with its data first; what is in the other registers then may be there by chance.
    return {one for one in found if one[2] == min(parameter for _, _, parameter, _ in found)}


def handed_words(image: Image, ip: int, function: int, number: int) -> Iterator[tuple[int, int]]:
    """(argument, bytes into the record) of words that a call is handed of what argument ``number`` of the calling
    function (a row) leads to."""
    passed = image.behind.word_args
    handed = picked(passed, (passed["ip"] == np.uint64(ip)) & (passed["source"] == 0))
    for value, parameter in handed[["value", "arg"]].tolist():
        if (at := word_behind(image, value, function, number)) >= 0:
            yield parameter, at


def _handed_to(image: Image, starter: int) -> set[tuple[int, int, int, int]]:
    """The same by the functions that callers hand over."""
    args = image.args
    address, callee = image.functions["address"][starter], args["callee"]
    rows = picked(args, (callee == address) & (args["kind"] == ArgKind.ADDRESS))
    code = rows["arg"][function_at(image, rows["value"].astype(np.uint64)) >= 0]
    return {(at, at + 1, 0, 0) for at in code.tolist()}
