"""Whether a helper is over soon after an access, or goes on for a while before its caller touches anything.

Owns what a function does behind a place in it.  Who calls it is ``sharing.static.callgraph``'s.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sharing.basics.kept import Kept
from sharing.model.image import FunctionFlag, Image
from sharing.static.callees import functions_called

Place = tuple[int, int]  # order of its block, and its address

_last: Kept[dict[int, Place]] = Kept()


class Helpers:
    """Of one image."""

    def __init__(self, image: Image) -> None:
        self._image = image

    def goes_on(self, function: int, places: Iterable[Place]) -> bool:
        """Whether a call that itself takes a while is made behind each of the places, whenever these are come to.

        Until the function is over, other threads have taken the line again.  Of what counts readers in and out, the
        last place has nothing behind it.
        """
        last = self._last.get(function)
        return last is not None and all(place < last for place in places)

    @property
    def _last(self) -> dict[int, Place]:
        """Of each function its last such call that is made in every run."""
        return _last.of(self._image.calls, (self._image.functions,), self._find_last)

    def _find_last(self) -> dict[int, Place]:
        calls = self._image.calls
        long = np.flatnonzero((calls["rarity"] == 0) & self._takes_a_while)
        function, order, ip = (calls[name][long] for name in ("function", "order", "ip"))
        by_place = np.lexsort((ip, order, function))
        function = function[by_place]
        ends = by_place[np.append(function[1:] != function[:-1], True)] if len(function) else by_place
        found = (calls[name][long[ends]].tolist() for name in ("function", "order", "ip"))
        return {function: (order, ip) for function, order, ip in zip(*found, strict=True)}

    @property
    def _takes_a_while(self) -> npt.NDArray[np.bool_]:
        """By row of calls: is it into another file, through a pointer, or of what makes calls in its turn?"""
        image = self._image
        row = functions_called(image)
        calling = np.zeros(len(image.functions) + 1, np.bool_)
        calling[image.calls["function"]] = True
        calling[:-1] |= (image.functions["flags"] & FunctionFlag.STUB) != 0
        calling[-1] = True  # of row -1: none of this file
        found: npt.NDArray[np.bool_] = calling[row]
        return found
