"""Addresses whose register was overwritten since, by a pointer that stays where it is while a function runs.

Owns carrying such pointers from sample to sample.  Code without optimization keeps variables in its frame and loads a
pointer anew for each access, often over itself: ``mov -8(%rbp),%rax; mov 8(%rax),%rax``.  Other samples of the same
thread in the same frame fell where the register still held it.  The function sets the word once and in no loop, and all
samples that tell agree: a function that is called again and again with other arguments has samples that do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Reason
from sharing.model.operands import NO_REGISTER, Holds, OperandFlag
from sharing.sampled import numbers
from sharing.sampled.attribution.evaluate import addresses
from sharing.sampled.attribution.placing import Parts
from sharing.sampled.attribution.sampledcode import skids

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Words:
    """By operand: its address is the content of the word at register ``base`` plus ``place``, plus ``delta``."""

    base: npt.NDArray[np.int8]  # NO_REGISTER none
    place: npt.NDArray[np.int64]
    delta: npt.NDArray[np.int64]


def carried(parts: Parts, reason: Column) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """(samples, address of the access of each) that are known by the pointers of others."""
    lost = np.flatnonzero(reason == Reason.OVERWRITTEN)
    none = np.zeros(0, np.int64), np.zeros(0, np.uint64)
    if not len(lost):
        return none
    rows, code = parts.samples.samples[:], parts.code
    key, bias = parts.keys.of_samples(rows)
    point = code.rows(key)
    charged = code.charged[skids(parts.samples.events, rows[lost]), point[lost]]
    functions = np.unique(code.points["function"][point[lost]])
    words = _words(parts, np.isin(code.points["function"], functions))
    asked = words.base[charged] != NO_REGISTER
    lost, charged = lost[asked], charged[asked]
    if not len(lost):
        return none
    near = np.flatnonzero((point >= 0) & np.isin(code.points["function"][point], functions))
    sample, operand = _operands(near, point[near], code.points)
    tells = (words.base[operand] != NO_REGISTER) & (code.operands["holds"][operand] == Holds.YES)
    sample, operand = sample[tells], operand[tells]
    found = addresses(parts.registers, rows, sample, code.operands[operand], code.site[operand], bias[sample])
    told = found.reason == Reason.NONE
    sample, operand = sample[told], operand[told]
    with np.errstate(over="ignore"):
        pointer = found.address[told] - words.delta[operand].astype(np.uint64)
    (ours, held), (theirs, askable) = (_frame(parts, words, point, *of) for of in ((sample, operand), (lost, charged)))
    number = np.unique(np.concatenate([ours[held], theirs]), axis=0, return_inverse=True)[1].ravel()
    pointer = pointer[held]
    ours, theirs = number[: len(pointer)], number[len(pointer) :]
    count = np.bincount(ours, minlength=int(number.max()) + 1)
    least, most = np.full(len(count), np.iinfo(np.uint64).max, np.uint64), np.zeros(len(count), np.uint64)
    np.minimum.at(least, ours, pointer)
    np.maximum.at(most, ours, pointer)
    sure = (count >= numbers.MIN_CARRIED) & (least == most)
    good = askable & sure[theirs]
    with np.errstate(over="ignore"):
        return lost[good], most[theirs[good]] + words.delta[charged[good]].astype(np.uint64)


def _operands(samples: Column, point: Column, points: Table) -> tuple[Column, Column]:
    """(sample, operand) of all operands around each sample."""
    count = points["count"][point]
    first = np.repeat(points["first"][point] - np.cumsum(count) + count, count)
    return np.repeat(samples, count), first + np.arange(len(first))


def _frame(
    parts: Parts, words: _Words, point: Column, sample: Column, operand: Column
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """What a word is known by, a row for each sample, and whether its register was sampled."""
    rows = parts.samples.samples[:]
    frame, known = parts.registers.read(rows, words.base[operand], at=sample)
    columns = (
        parts.processes.thread_rows(rows)[sample],
        parts.code.points["function"][point[sample]],
        frame.astype(np.int64),
        words.base[operand],
        words.place[operand],
    )
    return np.column_stack([column.astype(np.int64) for column in columns]), known


def _words(parts: Parts, wanted: npt.NDArray[np.bool_]) -> _Words:
    """The words of the operands of the ``wanted`` points."""
    code = parts.code
    count = len(code.operands)
    out = _Words(np.full(count + 1, NO_REGISTER, np.int8), np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64))
    mine = wanted[code.operands["point"]] & (code.operands["index"] == NO_REGISTER)
    mine &= code.operands["flags"] & OperandFlag.IMPLICIT == 0
    file = code.file[code.operands["point"]]
    for number in np.unique(file[mine]).tolist():
        operands = np.flatnonzero(mine & (file == number))
        ips = np.unique(code.operands["ip"][operands])
        rows = parts.files.files[number].read_origins(ips)
        for at in np.flatnonzero(rows["kept"]).tolist():
            parent = rows[rows["parent"][at]]
            if parent["parent"] >= 0 or parent["indexed"] or rows["indexed"][at]:
                continue
            own = operands[code.operands["ip"][operands] == ips[rows["asked"][at]]]
            out.base[own], out.place[own] = rows["base"][at], rows["displacement"][at]
            out.delta[own] = parent["displacement"]
    return out
