"""What the samples and witnesses of one line add up to: touches, operands that cross its end, footprints.

Owns the grouping of rows of one line.  Which lines, and everything that needs more than their rows, is
``sharing.sampled.lineuse.lines``'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.attribution import Attribution, Basis, Table, TouchFlag
from sharing.model.image import AccessKind
from sharing.sampled import numbers
from sharing.sampled.lineuse.use import Provenance, Site, Split, Touch

MAX_FOLLOWED = 100_000  # samples of an instruction
MAX_KEPT = 64  # instructions of a line that are kept, the busiest
MAX_COUNTED = 1 << 20  # combinations of thread, function, bytes and kind that get a counter each
_KEPT_FLAGS = int(TouchFlag.ATOMIC | TouchFlag.LOCK_CALL | TouchFlag.WAITS | TouchFlag.SPIN_WAITS)
Costs = npt.NDArray[np.float64]


def group_touches(
    attribution: Attribution,
    rows: Table,
    cost: Costs,
    base: int,
    size: int,
    index: Mapping[int, int],
    provenance: Provenance,
) -> list[Touch]:
    """Rows of one line (with the cost of each) by thread, bytes, kind and function, costliest first."""
    keep = rows["thread"] >= 0
    if not keep.all():
        rows, cost = rows[keep], cost[keep]
    if not len(rows):
        return []
    functions = attribution.functions
    # Wraps around for an operand that starts on the line before, which is then clipped.
    offset = rows["place"].astype(np.int64) - np.int64(base)
    start = np.clip(offset, 0, size - 1)
    end = np.clip(offset + np.maximum(rows["size"].astype(np.int64), 1), start + 1, size)
    flags = rows["flags"] & _KEPT_FLAGS
    columns = (rows["thread"], rows["function"] + 1, start, end, rows["kind"], flags, rows["uses"])
    values, group = _groups(columns)
    count = np.bincount(group, minlength=len(values))
    costs = np.bincount(group, cost, len(values))
    awaited = np.bincount(group, cost * (rows["basis"] == Basis.AWAITED), len(values))
    hitm = np.bincount(group, rows["flags"] & TouchFlag.HITM != 0, len(values))
    out = [
        Touch(
            thread=index[thread],
            start=first,
            end=last,
            kind=AccessKind(kind),
            function=functions[function - 1] if function else "?",
            provenance=provenance,
            samples=int(count[i]),
            cost=float(costs[i]),
            awaited=float(awaited[i]),
            hitm=int(hitm[i]),
            atomic=bool(flags & TouchFlag.ATOMIC),
            lock_call=bool(flags & TouchFlag.LOCK_CALL),
            waits=bool(flags & TouchFlag.WAITS),
            spin_waits=bool(flags & TouchFlag.SPIN_WAITS),
            uses=bool(uses),
        )
        for i, (thread, function, first, last, kind, flags, uses) in enumerate(values.tolist())
    ]
    out.sort(key=lambda t: (-t.cost, -t.samples, t.thread, t.start, t.function, t.kind))
    return out


def sites_of(attribution: Attribution, parts: Sequence[Table], base: int, size: int) -> tuple[Site, ...]:
    """The instructions of a line's rows, most rows first."""
    names = ("ip", "module", "function", "place", "size", "kind", "flags")
    rows = {name: np.concatenate([part[name] for part in parts]) for name in names}
    keep = rows["module"] >= 0
    if not keep.any():
        return ()
    rows = {name: column[keep] for name, column in rows.items()}
    offset = rows["place"].astype(np.int64) - np.int64(base)
    start = np.clip(offset, 0, size - 1)
    end = np.clip(offset + np.maximum(rows["size"].astype(np.int64), 1), start + 1, size)
    ips, code = np.unique(rows["ip"], return_inverse=True)
    lock = (rows["flags"] & TouchFlag.LOCK_CALL) != 0
    columns = (
        code.astype(np.int64),
        rows["module"],
        rows["function"] + 1,
        start,
        end,
        rows["kind"],
        lock.astype(np.int8),
    )
    values, group = _groups(columns)
    count = np.bincount(group, minlength=len(values))
    order = np.argsort(-count, kind="stable")[:MAX_KEPT]
    return tuple(
        Site(
            attribution.modules[module].path,
            int(ips[number]),
            attribution.functions[function - 1] if function else "?",
            first,
            last,
            AccessKind(kind),
            int(count[i]),
            bool(locks),
        )
        for i, (number, module, function, first, last, kind, locks) in zip(
            order.tolist(), values[order].tolist(), strict=True
        )
    )


def walked(
    attribution: Attribution, rows: Table, base: int, size: int, index: Mapping[int, int]
) -> frozenset[tuple[int, str, AccessKind]]:
    """(thread, function, kind) of accesses by code that goes over elements of the line.

    One of its instructions was sampled at several places here.  Witnesses would not do: they are of several
    instructions each, so that two members look like two elements.
    """
    rows = picked(rows, rows["thread"] >= 0)
    if len(rows) < 2:
        return frozenset()
    start = np.clip(rows["place"].astype(np.int64) - np.int64(base), 0, size - 1)
    code = np.unique(rows["ip"], return_inverse=True)[1].astype(np.int64)
    values, _ = _groups((rows["thread"], rows["function"] + 1, rows["kind"], code, start))
    places = Counter(tuple(one[:4]) for one in values.tolist())
    return frozenset(
        (index[thread], attribution.functions[function - 1] if function else "?", AccessKind(kind))
        for (thread, function, kind, _), count in places.items()
        if count > 1
    )


def _groups(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(distinct rows of values, which of them each row is); the values are small numbers, few of each column."""
    present = [np.flatnonzero(np.bincount(column)) for column in columns]
    code = np.zeros(len(columns[0]), np.int64)
    for column, known in zip(columns, present, strict=True):
        if len(known) > 1:
            number = np.zeros(int(known[-1]) + 1, np.int64)
            number[known] = np.arange(len(known))
            code = code * len(known) + number[column]
    # Counting is quicker than sorting as long as the combinations fit.
    combinations = int(np.prod([float(len(known)) for known in present]))
    if combinations <= MAX_COUNTED:
        groups = np.flatnonzero(np.bincount(code, minlength=combinations))
        number = np.zeros(combinations, np.int64)
        number[groups] = np.arange(len(groups))
        group = number[code]
    else:
        groups = np.unique(code)
        group = np.searchsorted(groups, code)
    values = np.empty((len(groups), len(columns)), np.int64)
    left = groups
    for at in range(len(columns) - 1, -1, -1):
        left, within = np.divmod(left, len(present[at]))
        values[:, at] = present[at][within]
    return values, group


def splits(
    attribution: Attribution, rows: Table, cost: Costs, base: int, size: int, index: Mapping[int, int]
) -> tuple[Split, ...]:
    """Operands of the line's samples that reach into the next line, costliest first."""
    end = np.uint64(base + size)
    crossing = (rows["place"] < end) & (rows["place"] + rows["size"].astype(np.uint64) > end)
    if not crossing.any():
        return ()
    rows, cost = rows[crossing], cost[crossing]
    out = []
    for place, extent in sorted(set(zip(rows["place"].tolist(), rows["size"].tolist(), strict=True))):
        own = (rows["place"] == place) & (rows["size"] == extent)
        functions = np.unique(rows["function"][own])
        out.append(
            Split(
                place=place,
                size=extent,
                atomic=bool((rows["flags"][own] & TouchFlag.ATOMIC).any()),
                samples=int(own.sum()),
                cost=float(cost[own].sum()),
                functions=tuple(attribution.functions[f] if f >= 0 else "?" for f in functions.tolist()),
                threads=tuple(sorted({index[t] for t in rows["thread"][own].tolist() if t in index})),
            )
        )
    out.sort(key=lambda s: (-s.cost, s.place, s.size))
    return tuple(out[:4])


def footprints(
    rows: Table, placed: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64], lines: Sequence[npt.NDArray[np.int64]]
) -> list[int]:
    """For each line (rows of its samples): how many lines the instructions touch that make up most of its samples.

    ``keys`` are the line keys of all rows.
    """
    sites = [_busiest_instructions(rows["ip"][own]) for own in lines]
    ips = np.unique(np.concatenate([np.zeros(0, np.uint64), *sites]))
    if not len(ips):
        return [1] * len(lines)
    at = np.minimum(np.searchsorted(ips, rows["ip"]), len(ips) - 1).astype(np.uint16)
    here = np.flatnonzero(placed & (ips[at] == rows["ip"]))
    here = here[np.argsort(at[here], kind="stable")]
    bounds = np.searchsorted(at[here], np.arange(len(ips) + 1))
    count = [len(np.unique(keys[here[a:b][:: -(-(b - a) // MAX_FOLLOWED) or 1]])) for a, b in pairwise(bounds.tolist())]
    known = dict(zip(ips.tolist(), count, strict=True))
    return [max((known[ip] for ip in own.tolist()), default=1) for own in sites]


def _busiest_instructions(ips: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The instructions that make up most of a line's samples; none where it takes many of them."""
    found, counts = np.unique(ips, return_counts=True)
    order = np.argsort(-counts, kind="stable")[: numbers.MAX_SITES]
    return found[order] if counts[order].sum() >= numbers.SITES_SHARE * len(ips) else found[:0]
