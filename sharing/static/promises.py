"""Promises: what a thread does before it sets a result is over when another one has got that.

Owns which calls set a result and which wait for one, of ``std::promise`` and ``std::future`` between threads that a
program starts itself (of tasks see ``threadends``).  Which future is whose nobody sees: results that one thread alone
sets part whoever waits for any, for nothing else ends such a wait.  One that is broken ends it by an exception.

Compilers put most of it into the caller.  Left of a wait is a loop around a call that sleeps, behind a look whether the
result is there, and of what sets one a call that wakes who sleeps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import having, those_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import ArgKind, FunctionFlag, Image, Table
from sharing.static.callees import calls_of
from sharing.static.executions import in_loop
from sharing.static.starts import Root
from sharing.static.threadends import TASKS

# How linkage names of the library's own functions begin (libstdc++'s <future> and bits/atomic_futex.h).
_CLASSES = ("7promiseI", "13packaged_taskI", "13__future_base", "6futureI", "13shared_futureI", "14__basic_futureI")
_LIBRARY = (
    *(f"_ZN{const}St{name}" for const in ("", "K") for name in _CLASSES),
    "_ZNSt22__atomic_futex_unsignedI",
    "_ZNSt28__atomic_futex_unsigned_base",
)
_BREAKS = ("_M_break_promiseE", "7promiseI")  # the latter as a destructor
_DESTRUCTORS = ("D0Ev", "D1Ev", "D2Ev")
_FOR_A_TIME = ("8wait_for", "10wait_until")
_SLEEPS = "_M_futex_wait_until"
_HAS_TIMEOUT = 3  # argument of that
MAX_ROUNDS = 16  # functions of the library within each other

Bools = npt.NDArray[np.bool_]


def results(
    image: Image, knowledge: Knowledge, roots: Sequence[Root], sets: Sequence[int], names: dict[int, str]
) -> tuple[Table, Table] | None:
    """Calls that set a result, by ``sets``, and those that wait for one, in a program.

    ``names``: of all callees.
    """
    if not sets or not any(root.name == "main" for root in roots):
        return None
    waits = [at for at, name in names.items() if knowledge.waits_for_result(name)]
    tasks = [at for at, name in names.items() if name == TASKS]
    if image.origins and having(image.calls, "callee", np.array(tasks, np.uint64)).any():
        return None  # nobody sees what sets their results
    begins = np.zeros(len(image.functions) + 1, bool)
    begins[[root.function for root in roots]] = True
    arrivals = _outside_library(image, _calls(image, sets), begins)
    waiting = _outside_library(image, _surely(image, _calls(image, waits)), begins)
    return (arrivals, waiting) if len(arrivals) and len(waiting) else None


def _calls(image: Image, callees: Sequence[int]) -> Table:
    rows = those_having(image.calls, "callee", np.array(callees, np.uint64))
    found: Table = picked(rows, rows["function"] >= 0).copy()
    return found


def _name(image: Image, function: int) -> str:
    row = int(image.functions["name"][function])
    return image.names[row] if row >= 0 else ""


def _surely(image: Image, calls: Table) -> Table:
    """Waits that end with the result alone; those that sleep are outside of the loop that they are, passed once."""
    sleeping = among(calls["callee"], [at for at, name in image.callee_names.items() if _SLEEPS in name])
    args = picked(image.args, (image.args["arg"] == _HAS_TIMEOUT) & (image.args["kind"] == ArgKind.CONSTANT))
    forever = among(calls["ip"], args["ip"][args["value"] == 0])
    own = np.array([not _name(image, one).startswith(_LIBRARY) for one in calls["function"].tolist()], bool)
    calls["loop_depth"][sleeping & in_loop(calls["loop_depth"])] -= 1
    found: Table = calls[~(sleeping & own) | forever]
    return found


def _outside_library(image: Image, calls: Table, begins: Bools) -> Table:
    """Calls of the library's functions that make these, by others; without those that break a promise, or wait for a
    time."""
    for _ in range(MAX_ROUNDS):
        named = {one: _name(image, one) for one in distinct(calls["function"]).tolist()}
        dropped = [one for one, name in named.items() if _ends_otherwise(name)]
        calls = calls[~among(calls["function"], dropped)]
        library = [one for one, name in named.items() if name.startswith(_LIBRARY) and one not in dropped]
        library = [one for one in library if not begins[one] and not _is_taken(image, one)]
        if not library:
            break
        outer = [image.calls[calls_of(image, int(image.functions["address"][one]))] for one in library]
        rows = np.concatenate([calls[~among(calls["function"], library)], *outer])
        rows = picked(rows, rows["function"] >= 0)
        _, first = np.unique(rows["ip"], return_index=True)
        calls = rows[first]
    return calls


def _is_taken(image: Image, function: int) -> bool:
    return bool(image.functions["flags"][function] & FunctionFlag.ADDRESS_TAKEN)


def _ends_otherwise(name: str) -> bool:
    """Does a function of the library of this name break a promise, or stop waiting when a time is over?"""
    if any(part in name for part in _FOR_A_TIME) and name.startswith(_LIBRARY):
        return True
    return _BREAKS[0] in name or (name.startswith(f"_ZNSt{_BREAKS[1]}") and name.endswith(_DESTRUCTORS))
