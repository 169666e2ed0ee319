"""Pointers in thread-local storage to an element of an array that is the running thread's: ``static __thread T *mine``.

Owns which words of thread-local storage lead to such elements, and what is done behind them.  Each thread sets the word
seldom, as when it begins: of a pointer to what it works on right now nothing says that no other thread works on the
same element in turn.  What a thread allocated for itself is no element.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection

import msgspec
import numpy as np

from sharing.basics.geometry import round_up
from sharing.model.arrays import among, joined_by_ip, picked
from sharing.model.image import (
    HELD,
    Image,
    SiteFlag,
    Table,
)
from sharing.model.threadwords import FIRST_WORD, THREAD_WORDS
from sharing.static import numbers
from sharing.static.callgraph import CallGraph
from sharing.static.executions import times
from sharing.static.heaprecords import holders, leads_to_one, offsets

MOST_STRIDE = 65535  # as of sites


class Element(msgspec.Struct, frozen=True):
    """What a word leads to: ``base`` is of the first element, as of ``Behind.stored``, 0 unknown."""

    base: int
    stride: int


def with_own_elements(image: Image, calls: CallGraph) -> Image:
    """The image with what threads do to elements that words of their storage lead to."""
    behind = image.behind
    if not len(behind.own_held) or not len(behind.own_sites):
        return image
    known = _elements(image, calls)
    sites = behind.own_sites
    sites = sites[among(holders(sites["target"]), np.array(sorted(known), np.uint64))].copy()
    if not len(sites):
        return image
    found = [known[holder] for holder in holders(sites["target"]).tolist()]
    sites["flags"] |= np.uint8(SiteFlag.INDEXED | SiteFlag.OWN)
    sites["stride"] = [element.stride for element in found]
    base = np.array([element.base for element in found], np.uint64)
    static = (base != 0) & (base & HELD == 0)
    led = among(holders(base), _of_one_array(image, calls, base[base & HELD != 0]))
    sites["target"][static | led] = base[static | led] + offsets(sites["target"][static | led])
    return dataclasses.replace(
        image,
        sites=joined_by_ip(image.sites, sites[static]),
        behind=msgspec.structs.replace(behind, sites=joined_by_ip(behind.sites, sites[~static])),
    )


def _of_one_array(image: Image, calls: CallGraph, bases: Table) -> Table:
    """Static pointers, as holders, that lead to one array for all threads: behind these the elements are known."""
    found = [pointer for pointer in set(holders(bases).tolist()) if leads_to_one(image, calls, pointer)]
    return np.array(sorted(found), np.uint64)


def own_names(image: Image, local: Collection[int]) -> dict[int, str]:
    """By holder of a word the thread-local variable there; ``local``: sections of these.

    They end at the thread pointer (of x86-64, where these words are told), as far as their alignment lets them.
    """
    sections = [section for section in image.sections if section.index in local]
    if not sections or not len(image.behind.own_held):
        return {}
    start, alignment = min(s.address for s in sections), max(s.alignment for s in sections)
    pointer = start + round_up(max(s.end for s in sections) - start, max(alignment, 1))
    rows = np.flatnonzero(among(image.variables["section"], np.array(sorted(local), np.int64)))
    at = (image.variables["address"][rows].astype(np.int64) - pointer) // image.arch.pointer_size + THREAD_WORDS // 2
    return {
        FIRST_WORD + word: image.variable_name(row)
        for row, word in zip(rows.tolist(), at.tolist(), strict=True)
        if 0 < word < THREAD_WORDS
    }


def _elements(image: Image, calls: CallGraph) -> dict[int, Element]:
    """By holder of a word what it leads to, where no thread sets it often, and to elements of one array alone."""
    held = image.behind.own_held
    held = picked(
        held, (held["function"] >= 0) & (offsets(held["variable"]) == 0)
    )  # the word itself, not what it leads to
    often = calls.frequency[held["function"]] * times(held["loop_depth"], held["rarity"]) >= numbers.WARM_WEIGHT
    moved = set(holders(held["variable"])[often].tolist())
    words: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for holder, what, stride in zip(
        holders(held["variable"]).tolist(), held["what"].tolist(), held["stride"].tolist(), strict=True
    ):
        if 0 < stride < MOST_STRIDE:
            words[holder].add((what, stride))
    return {holder: Element(*ways.pop()) for holder, ways in words.items() if len(ways) == 1 and holder not in moved}
