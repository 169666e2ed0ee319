"""Barriers at which threads spin: an atomic count, and a word that all others ask until who comes last changes it.

Owns where code asks for a word again and again that the same function changes elsewhere, behind an atomic count.
Whether that is a barrier is for ``ownbarriers``, which knows those with a condition in the place of the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.basics.ways import block_of
from sharing.model.arrays import among, distinct
from sharing.model.image import CALL_DTYPE, AccessKind, Image, SiteFlag, Table
from sharing.static.executions import in_loop

OFFSETS = 1 << 32  # between the words of two arguments of a function, which are below zero
CHANGES = (AccessKind.STORE, AccessKind.RMW)

_KINDS = (AccessKind.LOAD, *CHANGES)
_PLACE = ["ip", "function", "order", "kind", "loop_depth", "rarity", "flags", "size"]

LEAST_WORD = 4  # bytes of what is counted or asked for: a wider store may be of two
MOST_COVERED = 7  # further words by one instruction: those of a line are cleared, not counted

Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.int64]


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
    """The words that functions access in static storage, behind their arguments, and behind other pointers.

    One instruction may store to several of them, which are then as many accesses.
    """
    sites, params, behind = (
        rows[among(rows["kind"], _KINDS)]
        for table in (image.sites, image.params, image.behind.sites)
        for rows in [those_having(table, "function", functions)]
    )
    rows = np.concatenate([table[_PLACE] for table in (sites, params, behind)])
    argument = -1 - params["offset"] % OFFSETS - params["arg"].astype(np.int64) * OFFSETS
    word = np.concatenate([sites["target"].astype(np.int64), argument, behind["target"].astype(np.int64)])
    static = np.arange(len(rows)) < len(sites)
    wide, within = _covered(rows, word)
    return Accessed(
        np.concatenate([rows, rows[wide]]), np.concatenate([word, within]), np.concatenate([static, static[wide]])
    )


def _covered(rows: Table, word: Words) -> tuple[Words, Words]:
    """(rows that store to a further word that the same function accesses as well, that word)"""
    place = np.where(word < 0, -1 - word, word)  # numbers of words behind an argument fall
    keys = np.stack([rows["function"].astype(np.int64), word < 0, place], axis=1)
    words, of = np.unique(keys, axis=0, return_inverse=True)
    of = of.reshape(-1)
    wide = np.flatnonzero((rows["kind"] == AccessKind.STORE) & (rows["size"] > LEAST_WORD))
    found, within = [wide[:0]], [word[:0]]
    for further in range(1, MOST_COVERED + 1):
        wide = wide[of[wide] + further < len(words)]
        other = words[of[wide] + further]
        inside = (other[:, :2] == words[of[wide], :2]).all(axis=1)
        inside &= other[:, 2] - place[wide] < rows["size"][wide].astype(np.int64)
        wide = wide[inside]
        found.append(wide)
        within.append(np.where(other[inside, 1] != 0, -1 - other[inside, 2], other[inside, 2]))
    return np.concatenate(found), np.concatenate(within)


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
