"""Samples at instructions that access no memory, by the loads whose values these need.

Owns the share of each load.  A processor goes on behind a slow load until something needs its value: the time falls on
what is computed from it, as on a multiplication behind ``mov limits(,%rdx,4),%edx; xor %edx,%eax``.  Which of several
loads was slow, or whether it was what the loop computed in its last round, no sample says.  So samples of one
instruction on one thread are dealt out in turns: of three candidates, each gets a third.  What is no load comes first,
so that a single sample proves nothing, and its samples stay where they are, at no access.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Reason
from sharing.model.operands import Role
from sharing.sampled.attribution.carried import carried_on
from sharing.sampled.attribution.evaluate import addresses
from sharing.sampled.attribution.placing import Parts
from sharing.sampled.attribution.sampledcode import Skid, skids

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]
Share = tuple[Column, Column, npt.NDArray[np.uint64]]  # samples, the operand of each, its address


def awaited(parts: Parts, idle: Column) -> Iterator[Share]:
    """The share of loads of the samples ``idle``, which are at no access, where it is known which bytes they read."""
    code = parts.code
    loads = np.flatnonzero(code.operands["role"] == Role.AWAITED)
    if not len(loads) or not len(idle):
        return
    count = np.bincount(code.operands["point"][loads], minlength=len(code.points))
    first = np.zeros(len(code.points), np.int64)
    first[code.operands["point"][loads[::-1]]] = loads[::-1]  # those of a point lie side by side
    rows = parts.samples.samples[idle]
    key, bias = parts.keys.of_samples(rows)
    point = code.rows(key)
    waits = (point >= 0) & (count[point] > 0) & (skids(parts.samples.events, rows) == Skid.TIMER)
    idle, rows, bias, point = idle[waits], rows[waits], bias[waits], point[waits]
    if not len(idle):
        return
    others = code.points["others"][point].astype(np.int64)
    turn = _turns(parts.processes.thread_rows(rows).astype(np.int64) * len(code.points) + point)
    chosen = turn % (others + count[point]) - others
    mine = np.flatnonzero(chosen >= 0)
    sample, operand = idle[mine], first[point[mine]] + chosen[mine]
    found = addresses(parts.registers, rows, mine, code.operands[operand], code.site[operand], bias[mine])
    known = (found.reason == Reason.NONE) & ~found.own
    yield sample[known], operand[known], found.address[known]
    lost = found.reason == Reason.OVERWRITTEN
    again, address = carried_on(parts, sample[lost], operand[lost])
    if len(again):
        order = np.argsort(sample)
        yield again, operand[order[np.searchsorted(sample, again, sorter=order)]], address


def _turns(groups: Column) -> npt.NDArray[np.int64]:
    """For each row, how many rows of its group came before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    out = np.empty(len(groups), np.int64)
    out[order] = np.arange(len(groups)) - np.repeat(begins, np.diff(np.append(begins, len(groups))))
    return out
