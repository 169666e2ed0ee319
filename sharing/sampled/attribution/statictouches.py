"""What the code of the judged binary touches at static addresses, by the functions of a profile.

Owns the join of access sites with sampled functions.  Says what a function contains, not that it was executed; but a
thread that was only sampled in another loop of it, to which no way leads from there, is told apart.
"""

from __future__ import annotations

import numpy as np

from sharing.basics.ways import Mirrors
from sharing.model.arrays import picked
from sharing.model.attribution import Attribution
from sharing.model.image import AccessKind, Image, SiteFlag, Table
from sharing.model.ways import Point
from sharing.sampled import numbers

_KINDS = (AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW)
MAX_SITE_BYTES = 64


class ImageCode:
    """Access sites of an image for ``sharing.sampled.lineuse.lines``.

    A site outside of loops in a function that loops runs once a call: the samples of that function say nothing of it.
    ``sites`` (SITE_DTYPE, by target) default to the image's own; those that follow calls say more.
    """

    def __init__(self, image: Image, attribution: Attribution, sites: Table | None = None) -> None:
        table = image.sites if sites is None else sites
        deepest = np.zeros(len(image.functions) + 1, np.uint8)
        for events in (image.sites, image.calls, image.params):
            np.maximum.at(deepest, events["function"], events["loop_depth"])
        keep = np.isin(table["kind"], _KINDS) & (table["function"] >= 0) & (table["size"] <= MAX_SITE_BYTES)
        keep &= (table["loop_depth"] > 0) | (deepest[table["function"]] == 0)
        keep &= table["flags"] & SiteFlag.INDEXED == 0  # which element is not known
        table = table[keep]
        self._sites: Table = table[np.argsort(table["target"], kind="stable")]
        self._functions = _functions_of(image, attribution)
        self._loops = _SampledLoops(image, attribution)

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool, frozenset[int]]]:
        """See ``sharing.sampled.lineuse.lines.CodeSites``."""
        targets = self._sites["target"]
        first = int(np.searchsorted(targets, np.uint64(max(link - MAX_SITE_BYTES, 0))))
        last = int(np.searchsorted(targets, np.uint64(link + size)))
        out: dict[tuple[int, int, int, AccessKind, bool], frozenset[int]] = {}
        for site in self._sites[first:last]:
            start = int(site["target"]) - link
            end = min(start + max(int(site["size"]), 1), size)
            if end <= 0:
                continue
            atomic = bool(site["flags"] & SiteFlag.ATOMIC)
            apart = self._loops.threads_elsewhere(site)
            for function in self._functions.get(int(site["function"]), ()):
                touch = (function, max(start, 0), end, AccessKind(int(site["kind"])), atomic)
                out[touch] = out.get(touch, apart) & apart
        return [(*touch, apart) for touch, apart in out.items()]


class _SampledLoops:
    """In which loops of a function each thread was sampled, at accesses and calls: their places are known."""

    def __init__(self, image: Image, attribution: Attribution) -> None:
        self._mirrors = Mirrors(image)
        tables = [
            picked(t, (t["function"] >= 0) & (t["loop_depth"] > 0)) for t in (image.sites, image.params, image.calls)
        ]
        function, order, ip = (np.concatenate([t[name] for t in tables]) for name in ("function", "order", "ip"))
        by_ip = np.argsort(ip, kind="stable")
        function, order, ip = function[by_ip], order[by_ip], ip[by_ip]
        rows = attribution.rows
        target = np.array([m.target for m in attribution.modules] + [False], np.bool_)
        module, thread = rows["module"], rows["thread"]
        rows = rows[target[module] & (thread >= 0)]
        sampled = rows["ip"]
        at = np.searchsorted(ip, sampled)
        known = np.append(ip, 0)[at] == sampled
        at, thread = at[known], rows["thread"][known]
        mirror, loop = self._mirrors.of(function[at], order[at]), self._mirrors.loop(function[at], order[at])
        keys, counts = np.unique(
            np.stack([function[at], thread, order[at], mirror, loop]).astype(np.int64), axis=1, return_counts=True
        )
        self._elsewhere: dict[tuple[int, int], frozenset[int]] = {}  # by function and block, those that were asked for
        self._seen: dict[int, dict[int, list[tuple[Point, int, int]]]] = {}
        for (f, t, o, m, where), count in zip(keys.T.tolist(), counts.tolist(), strict=True):
            self._seen.setdefault(f, {}).setdefault(t, []).append((Point(o, m, 0), where, count))

    def threads_elsewhere(self, site: Table) -> frozenset[int]:
        """Threads that were sampled in the site's function, and only in loops to which no way leads from this one.

        One loop may take the arms of a branch by turns; of two loops on different arms a run comes to one.
        """
        block = int(site["function"]), int(site["order"])
        if len(self._seen.get(block[0], ())) < 2 or not site["loop_depth"]:
            return frozenset()
        found = self._elsewhere.get(block)
        if found is None:
            found = self._elsewhere[block] = self._threads_elsewhere(*block)
        return found

    def _threads_elsewhere(self, function: int, order: int) -> frozenset[int]:
        of, block = np.array([function]), np.array([order])
        here = Point(order, int(self._mirrors.of(of, block)[0]), 0)
        loop = int(self._mirrors.loop(of, block)[0])
        return frozenset(
            thread
            for thread, places in self._seen[function].items()
            if sum(count for _, _, count in places) >= numbers.WOULD_SHOW
            and not any(where == loop or place.shares_way(here) for place, where, _ in places)
        )


def _functions_of(image: Image, attribution: Attribution) -> dict[int, tuple[int, ...]]:
    """Rows of Attribution.functions by row of the image's functions, through any sampled instruction of theirs."""
    rows = attribution.rows
    target = np.array([m.target for m in attribution.modules] + [False], np.bool_)
    here = np.flatnonzero(target[rows["module"]] & (rows["function"] >= 0))
    ips = np.zeros(len(attribution.functions), np.uint64)
    known = np.zeros(len(attribution.functions), np.bool_)
    ips[rows["function"][here]] = rows["ip"][here]
    known[rows["function"][here]] = True
    numbers = np.flatnonzero(known)
    out: dict[int, list[int]] = {}
    functions = image.functions
    if not len(functions):
        return {}
    start, size, asked = functions["address"], functions["size"], ips[numbers]
    at = np.maximum(np.searchsorted(start, asked, "right") - 1, 0)
    inside = (asked >= start[at]) & (asked - start[at] < size[at])
    for number, row, is_in in zip(numbers.tolist(), at.tolist(), inside.tolist(), strict=True):
        if is_in:
            out.setdefault(row, []).append(number)
    return {row: tuple(found) for row, found in out.items()}
