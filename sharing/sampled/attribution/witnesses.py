"""Other accesses of the run of code around a sample, as its registers show them.

Owns their evaluation for the lines that someone asks about.  Of millions of samples only those matter whose run touches
one of these lines, so addresses are computed first and everything else only for what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arrays import picked
from sharing.model.attribution import PLACED_DTYPE, WITNESS_DTYPE, Basis, Reason, SpaceKind, line_keys
from sharing.model.operands import Role
from sharing.sampled.attribution.evaluate import addresses
from sharing.sampled.attribution.placing import Addressed, Parts, describe, locate
from sharing.sampled.attribution.sampledcode import instruction_keys, skids

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

PIECE = 1 << 15  # samples at a time: each may have a dozen witnesses


class Witnesses:
    """Answers ``Attribution.witnesses``."""

    def __init__(self, parts: Parts, placed: Table) -> None:
        self._parts = parts
        self._placed = placed
        self._last: tuple[int, Table, Table] | None = None  # line size, lines asked for, answer

    def find(self, wanted: Table, line_size: int) -> Table:
        """WITNESS_DTYPE rows that touch one of the lines ``wanted``: sorted ``line_keys`` for that size of a line."""
        if not len(wanted) or not len(self._parts.code.operands):
            return np.zeros(0, WITNESS_DTYPE)
        if self._last is not None and self._last[0] == line_size and _among(self._last[1], wanted).all():
            found = self._last[2]
            return found[_touching(found, wanted, line_size)]
        kinds = [space.kind for space in self._parts.memory.spaces]
        space = (wanted >> np.uint64(48)).astype(np.int64)
        # In private memory a place is an address, so lines are told apart before anything is looked up.
        plain = all(kinds[s] is SpaceKind.PRIVATE for s in np.unique(space).tolist() if s < len(kinds))
        low = np.unique(wanted & np.uint64((1 << 48) - 1)) if plain else None
        total, useful = len(self._placed), self._useful()
        parts = [self._piece(start, wanted, low, line_size, useful) for start in range(0, total, PIECE)]
        out = np.concatenate([np.zeros(0, WITNESS_DTYPE), *parts])
        self._last = line_size, wanted, out
        return out

    def near(self, modules: Table, ips: Table) -> tuple[Table, Table]:
        """Answers ``Attribution.near``."""
        parts, code = self._parts, self._parts.code
        wanted = instruction_keys(modules, ips)
        order = np.argsort(wanted, kind="stable")
        if not len(order) or not len(code.operands):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        operands = instruction_keys(code.file[code.operands["point"]], code.operands["ip"])
        held = np.flatnonzero(_among(wanted[order], operands) & (code.operands["role"] != Role.AWAITED))
        which = order[np.searchsorted(wanted[order], operands[held])]
        # An instruction may be before a point and in its run as well.
        pairs = np.unique(code.operands["point"][held].astype(np.int64) * len(order) + which)
        point, which = pairs // len(order), pairs % len(order)
        key, _ = parts.keys.of_samples(parts.samples.samples[:])
        own = code.rows(key)
        first = np.searchsorted(point, own)
        count = np.where(own >= 0, np.searchsorted(point, own, "right") - first, 0)
        sample = np.repeat(np.arange(len(own)), count)
        at = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(sample))
        return sample, which[at]

    def _useful(self) -> Column:
        """By instruction, the last for none: whether its run has an access whose place may be known at all."""
        code, points = self._parts.code, self._parts.code.points
        able = code.can_witness.copy()
        if not self._parts.registers.any:
            fixed = (code.operands["base"] < 0) & (code.operands["index"] < 0)
            able &= fixed | (code.site != 0)
        before = np.append(0, np.cumsum(able))
        count = points["count"].astype(np.int64)
        first = np.where(count > 0, points["first"], 0)
        return np.append(before[first + count] > before[first], False)

    def _piece(self, start: int, wanted: Table, low: Table | None, line_size: int, useful: Column) -> Table:
        parts, code = self._parts, self._parts.code
        rows = parts.samples.samples[start : start + PIECE]
        key, bias = parts.keys.of_samples(rows)
        point = code.rows(key)
        kept = np.flatnonzero(useful[point])
        if not len(kept):
            return np.zeros(0, WITNESS_DTYPE)
        rows, bias, point = rows[kept], bias[kept], point[kept]
        charged = np.where(point >= 0, code.charged[skids(parts.samples.events, rows), point], -1)
        count = np.where(point >= 0, code.points["count"][point], 0)
        sample = np.repeat(np.arange(len(rows)), count)
        first = np.repeat(code.points["first"][point] - np.cumsum(count) + count, count)
        operand = first + np.arange(len(sample))
        about = code.operands
        good = code.can_witness[operand] & (operand != charged[sample])
        sample, operand = sample[good], operand[good]
        found = addresses(parts.registers, rows, sample, about[operand], code.site[operand], bias[sample])
        keep = found.reason == Reason.NONE
        if low is not None:
            shift = np.uint64(line_size.bit_length() - 1)
            line = (found.address & np.uint64((1 << 48) - 1)) >> shift
            last = (found.address + np.maximum(about["size"][operand], 1) - np.uint64(1)) >> shift
            keep &= _among(low, line) | _among(low, last)
        at = np.flatnonzero(keep)
        sample, operand, address = sample[at], operand[at], found.address[at]
        some = rows[sample]
        out = np.zeros(len(at), PLACED_DTYPE)
        out["thread"] = parts.processes.thread_rows(some)
        process = parts.processes.process_rows(some, out["thread"])
        out["function"], out["module"] = code.points["function"][point[sample]], code.file[point[sample]]
        everything, none = np.arange(len(at)), np.zeros(len(at), np.bool_)
        locate(parts, some, Addressed(out["thread"], process, address, everything, none), out)
        describe(out, code, operand)
        out["basis"] = Basis.DERIVED
        touches = _touching(out, wanted, line_size)
        placed = self._placed[kept[sample] + start]
        touches &= (placed["basis"] != Basis.AWAITED) | (placed["ip"] != out["ip"])  # the sample stands for it
        out, sample = picked(out, touches & (out["space"] >= 0)), sample[touches & (out["space"] >= 0)]
        result = np.zeros(len(out), WITNESS_DTYPE)
        result["sample"] = kept[sample] + start
        for name in PLACED_DTYPE.names or ():
            result[name] = out[name]
        return result


def _touching(rows: Table, wanted: Table, line_size: int) -> npt.NDArray[np.bool_]:
    """Which placed rows have their first or their last byte on one of the lines."""
    end = rows["place"] + np.maximum(rows["size"], 1).astype(np.uint64) - np.uint64(1)
    touches = _among(wanted, line_keys(rows["space"], rows["place"], line_size))
    return touches | _among(wanted, line_keys(rows["space"], end, line_size))


def _among(ordered: Table, values: Column) -> npt.NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.asarray(ordered[at] == values)
