"""Threads that are one run of one object: whether the program makes and starts it only once.

Owns the way back from a virtual function that a library runs on a thread to the code that makes an object of its class:
whoever takes the address of the class's table of virtual functions makes one, as ``std::thread`` does of each callable
that it is handed.  In source calls of constructors say so.  Which functions are such entries is ``starts``'s.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, those_having
from sharing.knowledge.threadclasses import thread_classes
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import AccessKind, FunctionFlag, Image, Table
from sharing.static.callees import calls_of, function_at, function_name, functions_called, names_of_callees
from sharing.static.executions import in_loop

Rows = npt.NDArray[np.int64]
_NESTED = re.compile(r"_ZNK?(?=\d)")  # a name within others (Itanium C++ ABI, 5.1.4.1), each behind its length
_LENGTH = re.compile(r"\d+")


def made_once(image: Image, row: int, often: npt.NDArray[np.bool_], starting: npt.NDArray[np.bool_]) -> bool:
    """Whether one thread alone runs this virtual function.

    One function makes its object; it or a caller starts that outside of loops, and no more threads than it makes kinds
    of objects: two threads of one kind may have its table from one instruction.  Of ``often``, as of
    ``starts.created``, is none of them.  ``starting``: calls that start a thread with an object.
    """
    here = _takers(image, tables_of(image, row, _run_by_threads()), besides=row)
    calls, called = image.calls, functions_called(image)
    is_started, seen = False, set[int]()
    while len(here) == 1 and int(here[0]) not in seen:
        maker = int(here[0])
        is_first = bool(image.functions["flags"][maker] & FunctionFlag.INIT)
        if often[maker] and not is_first:
            return False
        starts = starting & (calls["function"] == maker)
        if starts.any() and not is_started:
            most = max(1, _kinds_made(image, maker))
            if np.count_nonzero(starts) > most or in_loop(calls["loop_depth"][starts]).any():
                return False
            is_started = True
        seen.add(maker)
        here = distinct(calls["function"][called == maker].astype(np.int64))
        if is_first or not len(here):  # main or a constructor of the program: nobody calls them here
            return is_started
    return False


def one_of_its_class(image: Image, row: int, starter: int, often: npt.NDArray[np.bool_]) -> bool:
    """Is this a virtual function that one object's thread runs, though threads of its kind are started often?

    A function of the base class starts those of all that derive from it.  Of a class whose objects nobody is seen to
    make there is one where no loop starts them.
    """
    if not image.functions["flags"][row] & FunctionFlag.VIRTUAL:
        return False
    one = _made_by_one_call(image, row, often)
    calls = image.calls[calls_of(image, int(image.functions["address"][starter]))]
    return not in_loop(calls["loop_depth"]).any() if one is None else one


def _made_by_one_call(image: Image, row: int, often: npt.NDArray[np.bool_]) -> bool | None:
    """Whether source makes one object alone of the class of this method: by one call, in code that runs once.

    None of a class whose objects nobody is seen to make, as ``std::make_unique`` does.
    """
    names = _names_of_class(function_name(image, row))
    callees = distinct_in(image.calls, "callee")
    constructor = f"_ZN{''.join(names)}C1E"
    making = callees[[bool(names) and name.startswith(constructor) for name in names_of_callees(image, callees)]]
    calls = those_having(image.calls, "callee", making)
    if not len(calls):
        return None
    return len(calls) == 1 and not in_loop(calls["loop_depth"])[0] and not often[calls["function"][0]]


def _names_of_class(method: str) -> list[str]:
    """The names that the symbol of a method has for its class and the scopes around; none where these are templates."""
    found: list[str] = []
    start = _NESTED.match(method)
    at = start.end() if start else len(method)
    while length := _LENGTH.match(method, at):
        at = length.end() + int(length[0])
        found.append(method[length.start() : at])
    return found[:-1] if method[at : at + 1] == "E" else []


def _run_by_threads() -> set[tuple[str, int]]:
    """Base classes, and the place in their tables of the function that a thread runs."""
    return {(one.typeinfo, one.slot) for one in thread_classes() if one.is_thread}


def tables_of(image: Image, row: int, classes: set[tuple[str, int]]) -> npt.NDArray[np.uint64]:
    """Addresses of the tables of virtual functions in which this one stands where a library looks for it: ``classes``
    are its base classes, each with the place there."""
    begin = image.functions["address"][row]
    slots = {one.slot for one in image.overrides if one.function == begin and (one.base, one.slot) in classes}
    words = image.code_words["slot"][image.code_words["value"] == begin]
    found = [words - np.uint64(slot * image.arch.pointer_size) for slot in sorted(slots)]
    return np.concatenate(found) if found else np.zeros(0, np.uint64)


def takings(image: Image, tables: npt.NDArray[np.uint64], *, besides: int) -> Table:
    """Where functions take the address of one of these, but for those of the class: a destructor sets its own table."""
    sites = picked(image.sites, (image.sites["kind"] == AccessKind.ADDRESS) & among(image.sites["target"], tables))
    own = function_at(image, np.array([one.function for one in image.overrides], np.uint64))
    mine = image.functions["flags"][sites["function"]] & FunctionFlag.ADDRESS_TAKEN != 0
    result: Table = picked(sites, ~(mine & among(sites["function"], own)) & (sites["function"] != besides))
    return result


def _takers(image: Image, tables: npt.NDArray[np.uint64], *, besides: int) -> Rows:
    result: Rows = distinct(takings(image, tables, besides=besides)["function"].astype(np.int64))
    return result


def _kinds_made(image: Image, function: int) -> int:
    """How many kinds of objects that threads run this function takes the tables of."""
    runs = _run_by_threads()
    methods = [one.function for one in image.overrides if (one.base, one.slot) in runs]
    rows = distinct(function_at(image, np.array(methods, np.uint64)))
    makers = (_takers(image, tables_of(image, row, runs), besides=row) for row in rows[rows >= 0].tolist())
    return sum(function in found.tolist() for found in makers)
