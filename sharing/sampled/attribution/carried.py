"""Addresses whose register was overwritten since, by the word that the pointer came from.

Owns finding that word: in the sample's own copy of its stack, or carried from other samples.  Code without optimization
keeps variables in its frame and loads a pointer anew for each access, often over itself:
``mov -8(%rbp),%rax; mov 8(%rax),%rax``.  A copy of the stack still has it, if it is not below the stack pointer.
Else other samples of the same thread in the same frame fell where the register still held it: one instruction sets the
word, and all samples that tell agree.  A function that is called again and again with other arguments has samples that
do not.  Where a loop sets the word it takes more of them, since the word may be another one each time around.  So it
does of a static or a thread-local pointer, which other code may set: samples of the same function tell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Reason
from sharing.model.operands import NO_REGISTER, Holds, OperandFlag, WordSet
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
    kept: npt.NDArray[np.uint8]  # WordSet
    held: npt.NDArray[np.bool_]  # until the access is done


@dataclass(frozen=True, slots=True)
class _Profile:
    """All samples, the point and the bias of each, and what the operands of the points came from."""

    parts: Parts
    rows: Table
    point: Column
    bias: Column
    words: _Words


Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]  # samples, and the address of the access of each
_NONE: Found = (np.zeros(0, np.int64), np.zeros(0, np.uint64))


def carried(parts: Parts, reason: Column) -> Found:
    """The samples of which a word of the frame tells the address."""
    lost = np.flatnonzero(reason == Reason.OVERWRITTEN)
    if not len(lost):
        return _NONE
    profile, charged, wanted = _profile(parts, lost)
    own = _on_own_stack(profile, lost, charged)
    rest = (profile.words.kept[charged] > WordSet.UNKNOWN) & ~np.isin(lost, own[0])
    others = _by_others(profile, wanted, lost[rest], charged[rest])
    return np.concatenate([own[0], others[0]]), np.concatenate([own[1], others[1]])


def carried_on(parts: Parts, lost: Column, charged: Column) -> Found:
    """The same of samples that stand for an access some time before, ``charged``: the sample's own stack may have
    another word by then.
    """
    if not len(lost):
        return _NONE
    profile, _, wanted = _profile(parts, lost)
    known = profile.words.kept[charged] > WordSet.UNKNOWN
    return _by_others(profile, wanted, lost[known], charged[known])


def _profile(parts: Parts, lost: Column) -> tuple[_Profile, Column, npt.NDArray[np.bool_]]:
    """What is asked for ``lost``, the operand that each is charged with, and the points of their functions."""
    rows, code = parts.samples.samples[:], parts.code
    key, bias = parts.keys.of_samples(rows)
    point = code.rows(key)
    charged = code.charged[skids(parts.samples.events, rows[lost]), point[lost]]
    wanted = np.isin(code.points["function"], np.unique(code.points["function"][point[lost]]))
    return _Profile(parts, rows, point, bias, _words(parts, wanted)), charged, wanted


def _on_own_stack(profile: _Profile, lost: Column, charged: Column) -> Found:
    """Those whose copy of the stack has the word."""
    registers, words = profile.parts.registers, profile.words
    held = words.held[charged]
    lost, charged = lost[held], charged[held]
    frame, known = registers.read(profile.rows, words.base[charged], at=lost)
    with np.errstate(over="ignore"):
        pointer, there = registers.read_stack(profile.rows, frame + words.place[charged].astype(np.uint64), lost)
        known &= there
        return lost[known], (pointer + words.delta[charged].astype(np.uint64))[known]


def _by_others(profile: _Profile, wanted: npt.NDArray[np.bool_], lost: Column, charged: Column) -> Found:
    """Those of which other samples in the same frame of the same thread tell the word; ``wanted`` points."""
    if not len(lost):
        return _NONE
    parts, rows, point, bias, words = profile.parts, profile.rows, profile.point, profile.bias, profile.words
    code = parts.code
    # Where several ways lead to the sampled instruction, the access before it may not have been made.
    one_way = code.points["reason"] != Reason.AMBIGUOUS
    near = np.flatnonzero((point >= 0) & (wanted & one_way)[point])
    sample, operand = _operands(near, point[near], code.points)
    tells = (words.kept[operand] > WordSet.UNKNOWN) & (code.operands["holds"][operand] == Holds.YES)
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
    needed = np.full(len(count), numbers.MIN_CARRIED)
    needed[theirs[words.kept[charged] == WordSet.REPEATED]] = numbers.MIN_REPEATED
    sure = (count >= needed) & (least == most)
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
    out = _Words(
        np.full(count + 1, NO_REGISTER, np.int8),
        np.zeros(count + 1, np.int64),
        np.zeros(count + 1, np.int64),
        np.zeros(count + 1, np.uint8),
        np.zeros(count + 1, np.bool_),
    )
    mine = wanted[code.operands["point"]] & (code.operands["index"] == NO_REGISTER)
    mine &= code.operands["flags"] & OperandFlag.IMPLICIT == 0
    file = code.file[code.operands["point"]]
    for number in np.unique(file[mine]).tolist():
        operands = np.flatnonzero(mine & (file == number))
        ips = np.unique(code.operands["ip"][operands])
        rows = parts.files.files[number].read_origins(ips)
        is_word = rows["kept"] != WordSet.RETURNED
        elsewhere = (rows["base"] == NO_REGISTER) & (rows["parent"] >= 0) & is_word
        # A word of the frame is surer than where it was copied from.
        for at in np.argsort(~elsewhere, kind="stable").tolist():
            if not is_word[at] or not (elsewhere[at] or rows["kept"][at] > WordSet.UNKNOWN or rows["held"][at]):
                continue
            parent = rows[rows["parent"][at]]
            if parent["parent"] >= 0 or parent["indexed"] or rows["indexed"][at]:
                continue
            own = operands[code.operands["ip"][operands] == ips[rows["asked"][at]]]
            out.base[own], out.place[own] = rows["base"][at], rows["displacement"][at]
            out.delta[own] = parent["displacement"]
            out.kept[own] = WordSet.REPEATED if elsewhere[at] else rows["kept"][at]
            out.held[own] = rows["held"][at]
    return out
