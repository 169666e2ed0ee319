"""Functions that only end, copy or describe an object, which are called through pointers as what it does is.

Owns which those are, by linkage name.  Their addresses stand beside those of the work: in tables of virtual functions,
and in what holds a function object.  No loop that runs tasks is there to run them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.image import Image

_ENDS = ("D0Ev", "D1Ev", "D2Ev")  # destructors
# libstdc++'s manager of what a std::function holds, and Rust's destructors
_WITHIN = ("_Function_handler", "10_M_managerE"), ("13drop_in_place",)
# libc++ keeps what a std::function holds in an object of this class
_HOLDER = "10__function6__func"
_OF_HOLDER = ("7__cloneE", "7destroyE", "18destroy_deallocateE", "6targetE", "11target_typeE")


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
