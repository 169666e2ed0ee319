"""Which function's argument points to a record that was asked for: debug information joined with functions.

Owns finding the function of the image.  What its code does behind the argument is the access scanner's to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sharing.model.image import POINTER_DTYPE

if TYPE_CHECKING:
    from elfscan.debug.debuginfo import PointerArgument


def placed_pointers(
    arguments: Sequence[PointerArgument], functions: npt.NDArray[Any], names: Sequence[str]
) -> npt.NDArray[Any]:
    """The arguments by function row (POINTER_DTYPE).

    A function whose code is in several places has no address of its own in debug information: it is found by its name,
    if one function alone has that.  Copies that compilers made for some callers (``.isra.0``) take other arguments.
    """
    if not arguments:
        return np.zeros(0, POINTER_DTYPE)
    by_address = {address: row for row, address in enumerate(functions["address"].tolist())}
    named = [names[index] if index >= 0 else "" for index in functions["name"].tolist()]
    often = Counter(named)
    by_name = {name: row for row, name in enumerate(named) if often[name] == 1}
    found: set[tuple[int, int, int]] = set()
    for argument in arguments:
        row = by_address.get(argument.address) if argument.address else by_name.get(argument.symbol)
        if row is not None and (not named[row] or "." not in named[row]):
            found.add((row, argument.type, argument.argument))
    return np.array(sorted(found), POINTER_DTYPE)
