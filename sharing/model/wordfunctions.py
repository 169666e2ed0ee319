"""Functions that do nothing but load, or store, the word that they are handed: methods of ``std::atomic``.

Owns their names.  Without optimisation compilers make functions of them, so that a loop which asks a flag calls one.
"""

from __future__ import annotations

import re
from enum import IntFlag

# How linkage names of libstdc++'s begin (<atomic>, bits/atomic_base.h).
_CLASSES = ("6atomicI", "13__atomic_baseI")
BEGINS = tuple(f"_ZN{const}St{name}" for const in ("", "K", "V", "VK") for name in _CLASSES)
_LOADS = re.compile(r"_ZNV?KSt\d+\w+?I(\w+)E(?:4loadESt12memory_order|cv\w+Ev)")
_STORES = re.compile(r"_ZNV?St\d+\w+?I\w+E(?:5storeE\w+St12memory_order|aSE[^RO]\w*)")
_BOOL = "b"


class OfWord(IntFlag):
    """What such a function does."""

    LOADS_BYTE = 1
    LOADS = 2
    STORES = 4


def of_word(name: str) -> OfWord:
    """What a function of this linkage name does to the word that its first argument leads to."""
    if not name.startswith(BEGINS):
        return OfWord(0)
    if (loads := _LOADS.fullmatch(name)) is not None:
        return OfWord.LOADS_BYTE if loads[1] == _BOOL else OfWord.LOADS
    return OfWord.STORES if _STORES.fullmatch(name) else OfWord(0)
