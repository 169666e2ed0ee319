"""Functions of a program that it hands to other files: themselves, or in a record whose address is handed over.

Owns which functions stand in a record that an argument leads to: one in static storage, as the file has it or as code
fills it, one that was allocated, or one in the frame of who calls.  What the other file does with them is
``libraryentries``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec
import numpy as np

from sharing.basics.columns import numbered
from sharing.model.arrays import picked
from sharing.model.image import (
    HELD,
    WHOLE_ARGUMENT,
    ArgKind,
    FunctionFlag,
    Image,
)
from sharing.static.callees import function_at, function_name, of_call, passed_on
from sharing.static.startobjects import holder_of, number_of
from sharing.static.startrecords import MAX_RECORD_BYTES, StoredWords

LAST_ARGUMENT = 5  # that is handed over in a register
_Key = tuple[int, int]  # index of a called function, number of its argument


class Handed(msgspec.Struct, frozen=True):
    """What an argument is: ``itself`` a function, "" none, and functions in the record that it leads to, by the bytes
    into it.  ``sure``: not only by way of a function of the program, whose own argument may be what a register happens
    to hold where the import takes none."""

    itself: str = ""
    record: dict[int, str] = {}
    sure: bool = True


def handed_to_imports(image: Image) -> dict[str, dict[int, Handed]]:
    """By import of the program, and argument of it, which functions of the program's own it is handed."""
    args = image.args
    callees, inverse = numbered(args, "callee")
    named = [(i, image.callee_names.get(address, "")) for i, address in enumerate(callees.tolist())]
    imports = {i: name for i, name in named if name in image.imports}
    wanted = {(i, argument) for i in imports for argument in range(LAST_ARGUMENT + 1)}
    of_key: dict[_Key, set[tuple[str, int]]] = {key: {(imports[key[0]], key[1])} for key in wanted}
    functions = _Functions(image)
    itself: dict[tuple[str, int], str] = {}
    records: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
    direct: set[tuple[str, int]] = set()
    for at, key, wrapper in passed_on(image, callees, inverse, wanted):
        if wrapper is not None:
            of_key.setdefault(wrapper, set()).update(of_key[key])
            continue
        value = int(args["value"][at])
        for one in of_key[key]:
            if name := functions.name(value):
                itself.setdefault(one, name)
            elif found := functions.in_record(value):
                records[one] = found | records[one]
                direct |= {one} if key[0] in imports else set()
    index = {address: i for i, address in enumerate(callees.tolist())}
    for callee, argument, found in functions.behind_pointers():
        name = image.callee_names.get(callee, "")
        here = {(name, argument)} if name in image.imports else of_key.get((index.get(callee, -1), argument), set())
        for one in here:
            records[one] = found | records[one]
            direct |= {one} if name in image.imports else set()
    handed: dict[str, dict[int, Handed]] = {}
    for one in sorted({*itself, *records}):
        sure = one in itself or one in direct
        handed.setdefault(one[0], {})[one[1]] = Handed(itself.get(one, ""), records.get(one, {}), sure)
    return handed


class _Functions:
    """Functions of the program's own, by their addresses and by the records that they stand in."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._stored = StoredWords(image)
        own = image.args["kind"] == ArgKind.ADDRESS
        places = [image.args["value"][own].astype(np.uint64), image.sites["target"], image.variables["address"]]
        self._places = np.unique(np.concatenate([*places, image.pointed]))

    def name(self, address: int) -> str:
        """Of the function that begins there, "" where none does."""
        row = (
            -1
            if address & int(HELD)
            else int(function_at(self._image, np.array([address], np.int64).view(np.uint64))[0])
        )
        if row < 0 or self._image.functions["flags"][row] & FunctionFlag.STUB:
            return ""
        return function_name(self._image, row)

    def in_record(self, place: int) -> dict[int, str]:
        """By bytes into the record at a place, as of ``Given.data``, the function that stands there."""
        found: dict[int, str] = {}
        for at, every in sorted(self._stored.words(place, self._bytes(place)).items()):
            names = [name for what in sorted(every) if (name := self.name(what))]
            found.update({at: names[0]} if names else {})
        return found

    def behind_pointers(self) -> Iterator[tuple[int, int, dict[int, str]]]:
        """(callee, argument, functions in the record) of calls that are handed what is on the heap or in the frame."""
        args, passed, calls = self._image.behind.args, self._image.behind.passed, self._image.calls
        args = picked(args, args["kind"] == ArgKind.ADDRESS)
        for callee, argument, place in args[["callee", "arg", "value"]].tolist():
            if found := self.in_record(place):
                yield callee, argument, found
        callees = of_call(self._image, passed["ip"], "callee") if len(calls) else passed["ip"]
        for callee, word, what in zip(
            callees.tolist(), passed["variable"].tolist(), passed["what"].tolist(), strict=True
        ):
            if name := self.name(what):
                holder = holder_of(word)
                at = (holder & WHOLE_ARGUMENT) * self._image.arch.pointer_size
                yield callee, number_of(holder), {at: name}

    def _bytes(self, place: int) -> int:
        """How much of what begins at a place is looked at: a variable to its end, and no further than something else
        is known to begin."""
        if place & int(HELD):
            return MAX_RECORD_BYTES
        row = self._image.variable_at(place)
        if row >= 0 and (size := int(self._image.variables["size"][row])):
            return int(self._image.variables["address"][row]) + size - place
        after = int(np.searchsorted(self._places, np.uint64(place), "right"))
        return (
            min(MAX_RECORD_BYTES, int(self._places[after]) - place) if after < len(self._places) else MAX_RECORD_BYTES
        )
