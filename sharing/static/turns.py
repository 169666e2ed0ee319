"""Turns that threads take by a word: each waits for its number, and sets the other one's when it is done.

Owns which words these are, and the code in which a thread has its turn.  Nobody changes the word but who has found it
to be his number, and each number is one thread's: two that have their turns never run at one time.  The line of what
they use moves once a turn, as the word's own does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, SiteFlag, Table, ZeroRange
from sharing.static.howfar import NO_ROUND
from sharing.static.starts import Root
from sharing.static.wordchanges import calls_that_store, changes, writes

NOT_ZERO, OTHER = 254, 255  # what a loop found, see ZeroRange.TURN

Bools = npt.NDArray[np.bool_]


class Turns(msgspec.Struct, frozen=True):
    """The code of one function in which a thread has its turn at a word: (begin, end, number)."""

    word: int
    ranges: tuple[tuple[int, int, int], ...]

    def passed(self, image: Image, rows: Table) -> list[tuple[int, int]]:
        """The number at each of these places of the function."""
        found = [NO_ROUND] * len(rows)
        for begin, end, number in self.ranges:
            for at in np.flatnonzero((rows["ip"] >= begin) & (rows["ip"] < end)).tolist():
                found[at] = number, 0
        return found


def turns(
    image: Image, roots: Sequence[Root], entries: dict[int, int], alone: Callable[[Table], Bools]
) -> Iterator[tuple[int, Turns]]:
    """Entries of threads (rows of functions) that take turns, where all that change a word do.

    ``entries``: roots by function; ``alone``: what runs while there is one thread.
    """
    rows = picked(image.zero_ranges, image.zero_ranges["what"] == ZeroRange.TURN)
    if not len(rows):
        return
    written = writes(image, by_calls=True)
    stores = calls_that_store(image)["ip"]
    for word in distinct(rows["variable"]).tolist():
        changed = changes(image, written, word)[0]
        changed = changed[~alone(changed)]
        made_by_calls = changed["ip"][changed["flags"] & SiteFlag.VIA_CALL != 0]
        if len(made_by_calls) and not among(made_by_calls, stores).all():
            continue  # where a turn ends nobody sees
        by_function: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        held = np.zeros(len(changed), bool)
        for _, begin, end, function, _, _, number in picked(rows, rows["variable"] == np.uint64(word)).tolist():
            inside = (changed["function"] == function) & (changed["ip"] >= begin) & (changed["ip"] <= end)
            last = min(changed["ip"][inside].tolist(), default=end)
            held |= inside & (changed["ip"] == last)
            by_function[function].append((begin, min(end, last), number))
        if held.all() and _are_own(roots, entries, by_function):
            yield from ((function, Turns(word, tuple(ranges))) for function, ranges in by_function.items())


def _are_own(
    roots: Sequence[Root], entries: dict[int, int], by_function: dict[int, list[tuple[int, int, int]]]
) -> bool:
    """Whether each number is that of one thread."""
    if not all(function in entries and not roots[entries[function]].many for function in by_function):
        return False
    owner: dict[int, int] = {}
    for function, ranges in by_function.items():
        for *_, number in ranges:
            if number == OTHER or owner.setdefault(number, entries[function]) != entries[function]:
                return False
    others = {of for number, of in owner.items() if number not in (0, NOT_ZERO)}
    return len(set(owner.values())) > 1 and others <= {owner.get(NOT_ZERO, of) for of in others}
