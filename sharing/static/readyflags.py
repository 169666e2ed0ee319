"""Words that one thread sets and others wait for in a loop: what it did before is over behind such a loop.

Owns which words these are.  A word is zero at first, and one thread alone makes it anything else: who has once found
it so runs at no time with what that thread did before.  Who sets it back to zero changes nothing of that, nor does a
condition that waits meanwhile, be the loop around that the library's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, SiteFlag, Table, ZeroRange
from sharing.static.callees import calls_of
from sharing.static.starts import Root
from sharing.static.wordchanges import by_one, changes, is_zero, outer, writes

# As source shows waits of conditions that end when they are woken, and not after a time.
_CONDITIONS = frozenset(("std::condition_variable.wait",))

MAX_CHANGES = 16  # a word that is set in more places is a state

Masks = npt.NDArray[np.uint64]


class ReadyFlag(NamedTuple):
    """What sets the word, the code behind loops that wait for it, and calls of functions that return only then."""

    arrivals: Table
    behind: Table
    waits: Table

    @property
    def functions(self) -> npt.NDArray[np.int32]:
        """Rows of those that do so."""
        return np.concatenate([rows["function"] for rows in self])


def ready_flags(image: Image, roots: Sequence[Root], mask: Masks) -> Iterator[ReadyFlag]:
    """Those of an image; ``mask``: by function the roots that reach it."""
    what, words = image.zero_ranges["what"], image.zero_ranges["variable"]
    passed = image.zero_ranges[what == ZeroRange.PASSED]
    asked = distinct(words[among(what, (ZeroRange.PASSED, ZeroRange.PASSES, ZeroRange.TELLS))])
    if not len(asked):
        return
    written = writes(image, by_calls=True)
    for word in asked.tolist():
        changed, made = (picked(rows, rows["flags"] & SiteFlag.CLEARS == 0) for rows in changes(image, written, word))
        if (
            not 0 < len(changed) <= MAX_CHANGES
            or len(made)
            or not is_zero(image, word)
            or not by_one(roots, mask, changed)
        ):
            continue
        behind = picked(passed, passed["variable"] == word)
        yield ReadyFlag(outer(image, roots, changed), behind, _calls(image, word))


def _calls(image: Image, word: int) -> Table:
    """Calls of functions that return only behind a loop that waits for the word."""
    ranges = picked(image.zero_ranges, image.zero_ranges["variable"] == np.uint64(word))
    passes, tells = (
        distinct(ranges["function"][ranges["what"] == what]) for what in (ZeroRange.PASSES, ZeroRange.TELLS)
    )
    rows = [calls_of(image, int(start)) for start in image.functions["address"][passes]]
    rows += [_conditions(image, calls_of(image, int(start))) for start in image.functions["address"][tells]]
    calls = image.calls[np.concatenate([np.zeros(0, np.int64), *rows])]
    found: Table = picked(calls, calls["function"] >= 0)
    return found


def _conditions(image: Image, asked: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Calls of a condition's wait that is handed what these calls ask; source has the two one behind the other."""
    behind = asked[asked + 1 < len(image.calls)] + 1
    waits = [at for at, name in image.callee_names.items() if name in _CONDITIONS]
    chosen = among(image.calls["callee"][behind], waits)
    for column in ("function", "order"):
        chosen &= image.calls[column][behind] == image.calls[column][behind - 1]
    found: npt.NDArray[np.int64] = behind[chosen]
    return found
