"""Functions that only end, copy or describe an object, which are called through pointers as what it does is.

Owns which those are, by linkage name, and which calls are of those of a ``std::function``, by what they hand over.
Their addresses stand beside those of the work: in tables of virtual functions, and in what holds a function object.  No
loop that runs tasks is there to run them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.image import ArgKind, Image

_ENDS = ("D0Ev", "D1Ev", "D2Ev")  # destructors
# libstdc++'s manager of what a std::function holds, and Rust's destructors
_WITHIN = ("_Function_handler", "10_M_managerE"), ("13drop_in_place",)
# libc++ keeps what a std::function holds in an object of this class
_HOLDER = "10__function6__func"
_OF_HOLDER = ("7__cloneE", "7destroyE", "18destroy_deallocateE", "6targetE", "11target_typeE")


# libstdc++ hands a manager as its third argument what to do: to copy, or to end what is held (std_function.h).
_OPERATION = 2
_COPIES, _ENDS_HELD = 2, 3
# What calls a std::function asks whether it holds anything, and throws this where it does not.
_EMPTY = "_ZSt25__throw_bad_function_callv"


def calls_of_managers(image: Image) -> npt.NDArray[np.uint64]:
    """Calls through pointers that hand over what only managers are told, where any ``std::function`` is called."""
    args = image.args
    if _EMPTY not in image.callee_names.values():
        return np.zeros(0, np.uint64)
    told = (args["callee"] == 0) & (args["arg"] == _OPERATION) & (args["kind"] == ArgKind.CONSTANT)
    found: npt.NDArray[np.uint64] = args["ip"][told & ((args["value"] == _COPIES) | (args["value"] == _ENDS_HELD))]
    return found


def of_objects_alone(image: Image, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Does the function of each of these rows do nothing but end, copy or describe an object?"""
    names = image.functions["name"][rows].tolist()
    return np.array([name >= 0 and _is_of_object(image.names[name]) for name in names], bool)


def _is_of_object(name: str) -> bool:
    if name.endswith(_ENDS):
        return True
    for first, *others in _WITHIN:  # asked of all functions whose address is kept: most have none of these words
        if first in name and all(word in name for word in others):
            return True
    return _HOLDER in name and any(word in name for word in _OF_HOLDER)
