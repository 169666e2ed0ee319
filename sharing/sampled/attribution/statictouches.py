"""What the code of the judged binary touches at static addresses, by the functions of a profile.

Owns the join of access sites with sampled functions.  Says what a function contains, not that it was executed.
"""

from __future__ import annotations

import numpy as np

from sharing.model.attribution import Attribution
from sharing.model.image import AccessKind, Image, SiteFlag, Table

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

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool]]:
        """See ``sharing.sampled.lineuse.lines.CodeSites``."""
        targets = self._sites["target"]
        first = int(np.searchsorted(targets, np.uint64(max(link - MAX_SITE_BYTES, 0))))
        last = int(np.searchsorted(targets, np.uint64(link + size)))
        out: dict[tuple[int, int, int, AccessKind, bool], None] = {}
        for site in self._sites[first:last]:
            start = int(site["target"]) - link
            end = min(start + max(int(site["size"]), 1), size)
            if end <= 0:
                continue
            atomic = bool(site["flags"] & SiteFlag.ATOMIC)
            for function in self._functions.get(int(site["function"]), ()):
                out[(function, max(start, 0), end, AccessKind(int(site["kind"])), atomic)] = None
        return list(out)


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
    at = np.maximum(np.searchsorted(functions["address"], ips[numbers], "right") - 1, 0)
    inside = (ips[numbers] >= functions["address"][at]) & (
        ips[numbers] - functions["address"][at] < functions["size"][at]
    )
    for number, row, is_in in zip(numbers.tolist(), at.tolist(), inside.tolist(), strict=True):
        if is_in:
            out.setdefault(row, []).append(number)
    return {row: tuple(found) for row, found in out.items()}
