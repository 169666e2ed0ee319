"""Rows about words of what arguments point to, told apart from those about pointers that are known.

Owns that split.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.image import (
    HELD,
    HELD_OFFSET_BITS,
    OWN_FRAME,
    WHOLE_ARGUMENT,
    WORD_HOLDER,
    WORD_NUMBER_BITS,
    Behind,
    Table,
)
from sharing.model.threadwords import FIRST_WORD

_WORD = np.uint64(WORD_HOLDER << HELD_OFFSET_BITS)
_THREAD = np.uint64(FIRST_WORD << HELD_OFFSET_BITS)
_FRAME = np.uint64((WORD_HOLDER | OWN_FRAME << WORD_NUMBER_BITS | WHOLE_ARGUMENT) << HELD_OFFSET_BITS)


def words_apart(behind: Behind) -> Behind:
    """``behind`` as the scanner told it, in tables of their own what is behind words, and what objects are given.

    What is behind a word of thread-local storage is told from what threads keep there alone."""
    own = _is_own(behind.sites["target"])
    kept = _is_own(behind.held["variable"])
    mine = msgspec.structs.replace(
        behind, own_sites=behind.sites[own], own_held=picked(behind.held, kept & ~_is_own(behind.held["what"]))
    )
    others = msgspec.structs.replace(
        mine,
        sites=picked(behind.sites, ~own),
        args=picked(behind.args, ~_is_own(behind.args["value"])),
        held=picked(behind.held, ~kept & ~_is_own(behind.held["what"])),
    )
    return _words_apart(others)


def _words_apart(behind: Behind) -> Behind:
    sites, of_word = behind.sites, _is_word(behind.sites["target"])
    nowhere = sites["target"] == HELD
    args, arg_of_word = behind.args, _is_word(behind.args["value"])
    arg_of_word &= behind.args["value"].astype(np.uint64) & _FRAME != _FRAME
    stored = behind.held["variable"] & HELD != 0
    on_frame = behind.held["variable"] & _FRAME == _FRAME
    stepped = behind.held["step"] != 0
    exact = (behind.held["stride"] == 0) & ~stepped
    return msgspec.structs.replace(
        behind,
        spread=behind.held[~exact & ~stepped],
        stepped=behind.held[stepped & stored & ~on_frame],
        sites=picked(sites, ~of_word & ~nowhere),
        args=args[~arg_of_word],
        held=picked(behind.held, exact & ~stored & ~_is_word(behind.held["what"])),
        elsewhere=picked(sites, nowhere),
        word_sites=picked(sites, of_word),
        word_args=picked(args, arg_of_word),
        stored=picked(behind.held, exact & stored & ~_is_word(behind.held["variable"])),
        passed=picked(behind.held, exact & stored & _is_word(behind.held["variable"]) & ~on_frame),
        framed=behind.held[exact & stored & on_frame],
    )


def _is_own(targets: Table) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (targets.astype(np.uint64) & _THREAD == _THREAD) & (
        targets.astype(np.uint64) & HELD != 0
    )
    return found


def _is_word(targets: Table) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (targets.astype(np.uint64) & _WORD != 0) & (targets.astype(np.uint64) & HELD != 0)
    return found
