"""Starters that run the entry of their threads themselves: each is one more of these threads.

Owns which calls these are.  ``for (i = 1; i < n; i++) pthread_create(…, worker, i); worker(0);`` makes no second kind
of thread: what the call does, one of the workers does.
"""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import those_having
from sharing.basics.ways import Mirrors
from sharing.model.arrays import among
from sharing.model.image import Image, Table
from sharing.model.ways import Point
from sharing.static.edges import Edges
from sharing.static.roots import ThreadStructure


def with_own_runs(
    image: Image, edges: Edges, threads: ThreadStructure, by_main: npt.NDArray[np.bool_]
) -> tuple[Edges, ThreadStructure]:
    """The calls that others may overlap without such runs, and the roots, several of what main runs as well.

    ``by_main``: functions that main runs, once.  Behind a start in the same function, and not in a loop: where main
    that has no threads calls the entry instead, on another way, or calls it again and again, it is none of them.
    """
    found = np.zeros(len(edges.caller), bool)
    made = list(threads.roots)
    mirrors: Mirrors | None = None
    for at, root in enumerate(threads.roots):
        if root.function < 0 or not root.started:
            continue
        rows = np.flatnonzero((edges.callee == root.function) & (edges.depth == 0) & (edges.caller != root.function))
        starts = those_having(image.calls, "ip", np.array(sorted(root.started), np.uint64))
        rows = rows[by_main[edges.caller[rows]] & among(edges.caller[rows], starts["function"])]
        if not len(rows):
            continue
        mirrors = mirrors or Mirrors(image)
        calls = edges.made(image, rows)
        begins = list(zip(starts["function"].tolist(), _points(mirrors, starts), strict=True))
        behind = [
            any(function == int(call["function"]) and begin.leads_to(here) for function, begin in begins)
            for call, here in zip(calls, _points(mirrors, calls), strict=True)
        ]
        found[rows[behind]] = True
        if any(behind):
            made[at] = dataclasses.replace(root, many=True)
    if mirrors is None:
        return edges, threads
    return edges.keep(~found), msgspec.structs.replace(threads, roots=made)


def _points(mirrors: Mirrors, calls: Table) -> list[Point]:
    mirror = mirrors.of(calls["function"].astype(np.int64), calls["order"]).tolist()
    return list(map(Point, calls["order"].tolist(), mirror, calls["ip"].tolist()))
