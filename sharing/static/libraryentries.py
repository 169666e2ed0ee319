"""Functions that a library runs on threads because a program hands them over, read from the library's own code.

Owns which arguments of a library's functions arrive at a start of a thread: as its entry, as its data, or in a record,
where whoever was handed the argument starts threads as well; and which words of a record are taken out of it there.
What is stored and called back later on the caller's thread, as callbacks of most libraries are, arrives nowhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, numbered
from sharing.basics.kept import Kept
from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import imports_threads
from sharing.model.arrays import picked
from sharing.model.image import AccessKind, Image, SlotKind
from sharing.model.vocabulary import data_of
from sharing.static.callees import Argument, function_at, names_of_callees, passed_on
from sharing.static.handedfunctions import LAST_ARGUMENT
from sharing.static.kernelstarts import HOLDERS, making_processes

Bools = npt.NDArray[np.bool_]


def has_own_vocabulary(exports: list[str], knowledge: Knowledge) -> bool:
    """Is it known of a library with these exports which of its functions start threads?"""
    return bool(knowledge.thread_starters(exports)) or imports_threads(exports) is not None


class _Starts(NamedTuple):
    """``callees`` of a library's arguments, and by row of these which one it is for; ``direct``: of those that start
    threads what these run and are handed; ``processes``: rows that make processes; ``near``: as of ``_near``."""

    callees: npt.NDArray[np.uint64]
    inverse: npt.NDArray[np.intp]
    direct: frozenset[Argument]
    processes: Bools
    near: Bools


_known: Kept[_Starts] = Kept()


def _starts(library: Image, knowledge: Knowledge) -> _Starts:
    def found() -> _Starts:
        callees, inverse = numbered(library.args, "callee")
        names = names_of_callees(library, callees)
        starters = knowledge.thread_starters(names)
        processes = making_processes(library, [int(callees[i]) for i, name in enumerate(names) if name in HOLDERS])
        direct = frozenset((i, argument) for i in starters for argument in _given_to_threads(knowledge, names[i]))
        near = _near(library, [int(callees[i]) for i in starters], processes)
        return _Starts(callees, inverse, direct, processes, near)

    return _known.of(library.args, (library.calls, library.functions, knowledge), found)


def run_on_threads(library: Image, knowledge: Knowledge) -> set[tuple[int, int]]:
    """(row of a function, argument) of all whose argument a thread is started to run, or is handed."""
    callees, inverse, direct, processes, near = _starts(library, knowledge)
    found = _wrappers(library, callees, inverse, set(direct), processes)
    index = {address: i for i, address in enumerate(callees.tolist())}
    stored: set[Argument] = set()
    for function, argument in set(_stored(library.kept)):
        if near[function]:
            found.add((function, argument))
        called = index.get(int(library.functions["address"][function]))
        if called is not None:
            stored.add((called, argument))
    found |= {one for one in _wrappers(library, callees, inverse, stored, processes) if near[one[0]]}
    more = {(index[address], argument) for row, argument in found if (address := _address(library, row)) in index}
    return found | _wrappers(library, callees, inverse, more, processes)


def read_near_starts(library: Image, knowledge: Knowledge) -> set[tuple[int, int, int]]:
    """(row of a function, argument, bytes) of words that a function which starts threads takes out of a record that it
    is handed, and does not call itself: it copies the record, or hands the thread what is in it."""
    near = _starts(library, knowledge).near
    params, width = library.params, library.arch.pointer_size
    rows = picked(params, (params["function"] >= 0) & (params["kind"] == AccessKind.LOAD) & (params["size"] >= width))
    rows = rows[near[rows["function"]]]
    calls = picked(library.calls, (library.calls["callee"] == 0) & (library.calls["slot"] == SlotKind.RECORD))
    called = set(zip(calls["function"].tolist(), calls["where"].tolist(), strict=True))
    return {
        (function, argument, at + more)
        for function, argument, at, size in rows[["function", "arg", "offset", "size"]].tolist()
        for more in range(0, size, width)
        if (function, at + more) not in called
    }


def _given_to_threads(knowledge: Knowledge, starter: str) -> tuple[int, ...]:
    """Arguments of a function that starts threads: what they run, and what that is handed."""
    row = knowledge.thread_start(starter)
    if row is None or row.entry_argument is None:
        return tuple(range(LAST_ARGUMENT + 1))
    data = data_of(row)
    return (row.entry_argument, data) if data >= 0 else (row.entry_argument,)


def _stored(kept: npt.NDArray[np.void]) -> list[tuple[int, int]]:
    """(row of a function, argument of it) that it stores in a record."""
    rows = picked(kept, (kept["value"] == 0) & (kept["slot"] == SlotKind.RECORD) & (kept["function"] >= 0))
    return list(zip(rows["function"].tolist(), rows["arg"].tolist(), strict=True))


def _address(image: Image, row: int) -> int:
    return int(image.functions["address"][row])


def _wrappers(
    image: Image,
    callees: npt.NDArray[np.uint64],
    inverse: npt.NDArray[np.intp],
    wanted: set[Argument],
    without: Bools,
) -> set[tuple[int, int]]:
    """(row of a function, argument of its own) that it passes on to one of these."""
    args = image.args
    found = set()
    for at, _, wrapper in passed_on(image, callees, inverse, set(wanted), without):
        if wrapper is not None:
            function, source = args["function"][at], args["source"][at]
            found.add((int(function), int(source)))
    return found


def _near(image: Image, starters: list[int], processes: Bools) -> Bools:
    """By row of the function table, with one more for none: functions that start threads, or call one that does."""
    calls, near = image.calls, np.zeros(len(image.functions) + 1, bool)
    starting = having(calls, "callee", starters) & ~having(calls, "ip", image.args["ip"][processes])
    near[calls["function"][starting]] = True
    callee = function_at(image, calls["callee"])
    near[-1] = False
    near[calls["function"][near[callee] & (callee >= 0)]] = True
    near[-1] = False
    return near
