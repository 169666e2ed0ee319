"""Barriers at which threads spin: an atomic count, and a word that all others ask until who comes last changes it.

Owns where code asks for a word again and again that the same function changes elsewhere, behind an atomic count.
Whether that is a barrier is for ``ownbarriers``, which knows those with a condition in the place of the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.ways import block_of
from sharing.model.arrays import among, distinct
from sharing.model.image import CALL_DTYPE, AccessKind, Image, SiteFlag, Table
from sharing.static.executions import in_loop

OFFSETS = 1 << 32  # between the words of two arguments of a function, which are below zero
CHANGES = (AccessKind.STORE, AccessKind.RMW)

_KINDS = (AccessKind.LOAD, *CHANGES)
_PLACE = ["ip", "function", "order", "kind", "loop_depth", "rarity", "flags"]

Bools = npt.NDArray[np.bool_]


class Accessed(NamedTuple):
    """Accesses, and of which word each is, by number; those in static storage come first."""

    rows: Table
    word: npt.NDArray[np.int64]
    static: Bools


class Spins(NamedTuple):
    """As calls: where functions ask for a word in a loop, where they change it, and where they count atomically."""

    asks: Table
    changes: Table
    counts: Table


def accessed(image: Image, functions: npt.ArrayLike) -> Accessed:
    """The words that functions access in static storage, behind their arguments, and behind other pointers."""
    sites, params, behind = (
        rows[among(rows["function"], functions) & among(rows["kind"], _KINDS)]
        for rows in (image.sites, image.params, image.behind.sites)
    )
    rows = np.concatenate([table[_PLACE] for table in (sites, params, behind)])
    argument = -1 - params["offset"] % OFFSETS - params["arg"].astype(np.int64) * OFFSETS
    word = np.concatenate([sites["target"].astype(np.int64), argument, behind["target"].astype(np.int64)])
    return Accessed(rows, word, np.arange(len(rows)) < len(sites))


def spins(image: Image) -> Spins | None:
    """Those of an image, None where there are none: few functions count atomically and ask for another word."""
    counting = [
        rows["function"][(rows["kind"] == AccessKind.RMW) & (rows["flags"] & SiteFlag.ATOMIC != 0)]
        for rows in (image.sites, image.params, image.behind.sites)
    ]
    functions = distinct(np.concatenate(counting))
    functions = functions[functions >= 0]
    if not len(functions):
        return None
    rows, word, _ = accessed(image, functions)
    _, of = np.unique(np.stack([rows["function"].astype(np.int64), word]), axis=1, return_inverse=True)
    of = of.reshape(-1)
    stored = among(rows["kind"], CHANGES)
    asks = (rows["kind"] == AccessKind.LOAD) & in_loop(rows["loop_depth"]) & among(of, of[stored])
    changes = stored & among(of, of[asks])
    counts = (rows["kind"] == AccessKind.RMW) & (rows["flags"] & SiteFlag.ATOMIC != 0) & ~changes
    # Who changes the word sets the count back beside it, on x86-64 by an exchange, which no branch asks.
    beside = among(block_of(rows), block_of(rows[changes]))
    counts &= ~beside & among(of, of[beside & stored])
    both = np.intersect1d(rows["function"][asks], rows["function"][counts])
    chosen = among(rows["function"], both)
    if not (asks & chosen).any():
        return None
    return Spins(*(_as_calls(rows[those & chosen]) for those in (asks, changes, counts)))


def _as_calls(rows: Table) -> Table:
    """Of nothing."""
    calls = np.zeros(len(rows), CALL_DTYPE)
    for name in ("ip", "function", "loop_depth", "rarity", "order"):
        calls[name] = rows[name]
    ordered: Table = calls[np.argsort(calls["ip"], kind="stable")]
    return ordered
