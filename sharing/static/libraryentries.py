"""Functions that a library runs on threads because a program hands them over, read from the library's own code.

Owns which imports of a program are handed functions, and which arguments of a library's functions arrive at a start of
a thread: as its entry, as its data, or in a record, where whoever was handed the argument starts threads as well.  What
is stored and called back later on the caller's thread, as callbacks of most libraries are, arrives nowhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import imports_threads
from sharing.model.arrays import among
from sharing.model.image import FunctionFlag, Image, SlotKind
from sharing.static.callees import Argument, function_at, function_name, names_of_callees, passed_on
from sharing.static.kernelstarts import HOLDERS, making_processes

LAST_ARGUMENT = 5  # that is handed over in a register

Bools = npt.NDArray[np.bool_]


def handed_to_imports(image: Image) -> dict[str, dict[int, str]]:
    """By import of the program, and argument of it, a function of the program's own that it is handed."""
    args = image.args
    callees, inverse = np.unique(args["callee"], return_inverse=True)
    named = [(i, image.callee_names.get(address, "")) for i, address in enumerate(callees.tolist())]
    imports = {i: name for i, name in named if name in image.imports}
    wanted = {(i, argument) for i in imports for argument in range(LAST_ARGUMENT + 1)}
    of_key = {key: {(imports[key[0]], key[1])} for key in wanted}
    found: dict[str, dict[int, str]] = {}
    for at, key, wrapper in passed_on(image, callees, inverse, wanted):
        if wrapper is not None:
            of_key.setdefault(wrapper, set()).update(of_key[key])
            continue
        row = int(function_at(image, args["value"][at : at + 1].astype(np.uint64))[0])
        if row >= 0 and not image.functions["flags"][row] & FunctionFlag.STUB:
            for name, argument in of_key[key]:
                found.setdefault(name, {}).setdefault(argument, function_name(image, row))
    return found


def has_own_vocabulary(exports: list[str], knowledge: Knowledge) -> bool:
    """Is it known of a library with these exports which of its functions start threads?"""
    return bool(knowledge.thread_starters(exports)) or imports_threads(exports) is not None


def run_on_threads(library: Image, knowledge: Knowledge) -> set[tuple[int, int]]:
    """(row of a function, argument) of all whose argument a thread is started to run, or is handed."""
    args, kept = library.args, library.kept
    callees, inverse = np.unique(args["callee"], return_inverse=True)
    names = names_of_callees(library, callees)
    starters = set(knowledge.thread_starters(names))
    processes = making_processes(library, [int(callees[i]) for i, name in enumerate(names) if name in HOLDERS])
    direct = {(i, argument) for i in starters for argument in _given_to_threads(knowledge, names[i])}
    found = _wrappers(library, callees, inverse, direct, processes)
    near = _near(library, [int(callees[i]) for i in starters], processes)
    index = {address: i for i, address in enumerate(callees.tolist())}
    stored: set[Argument] = set()
    for function, argument in set(_stored(kept)):
        if near[function]:
            found.add((function, argument))
        called = index.get(int(library.functions["address"][function]))
        if called is not None:
            stored.add((called, argument))
    found |= {one for one in _wrappers(library, callees, inverse, stored, processes) if near[one[0]]}
    more = {(index[address], argument) for row, argument in found if (address := _address(library, row)) in index}
    return found | _wrappers(library, callees, inverse, more, processes)


def _given_to_threads(knowledge: Knowledge, starter: str) -> tuple[int, ...]:
    """Arguments of a function that starts threads: what they run, and what that is handed."""
    row = knowledge.thread_start(starter)
    if row is None or row.entry_argument is None:
        return tuple(range(LAST_ARGUMENT + 1))
    data = row.entry_argument + 1 if row.data_argument is None else row.data_argument
    return (row.entry_argument, data) if data >= 0 else (row.entry_argument,)


def _stored(kept: npt.NDArray[np.void]) -> list[tuple[int, int]]:
    """(row of a function, argument of it) that it stores in a record."""
    rows = kept[(kept["value"] == 0) & (kept["slot"] == SlotKind.RECORD) & (kept["function"] >= 0)]
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
            found.add((int(args["function"][at]), int(args["source"][at])))
    return found


def _near(image: Image, starters: list[int], processes: Bools) -> Bools:
    """By row of the function table, with one more for none: functions that start threads, or call one that does."""
    calls, near = image.calls, np.zeros(len(image.functions) + 1, bool)
    starting = among(calls["callee"], starters) & ~among(calls["ip"], image.args["ip"][processes])
    near[calls["function"][starting]] = True
    callee = function_at(image, calls["callee"])
    near[-1] = False
    near[calls["function"][near[callee] & (callee >= 0)]] = True
    near[-1] = False
    return near
