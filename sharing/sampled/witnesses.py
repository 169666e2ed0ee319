"""Other accesses of the run of code around a sample, as its registers show them.

Owns their evaluation for the lines that someone asks about.  Of millions of samples only those matter whose run touches
one of these lines, so addresses are computed first and everything else only for what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import PLACED_DTYPE, WITNESS_DTYPE, Basis, Reason, SpaceKind, line_keys
from sharing.sampled.evaluate import addresses
from sharing.sampled.sampledcode import skids

if TYPE_CHECKING:
    from sharing.sampled.attribute import Parts

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

PIECE = 1 << 15  # samples at a time: each may have a dozen witnesses


class Witnesses:
    """Answers ``Attribution.witnesses``."""

    def __init__(self, parts: Parts, placed: Table) -> None:
        self._parts = parts
        self._placed = placed

    def find(self, wanted: Table, line_size: int) -> Table:
        """WITNESS_DTYPE rows that touch one of the lines ``wanted``: sorted ``line_keys`` for that size of a line."""
        if not len(wanted) or not len(self._parts.code.operands):
            return np.zeros(0, WITNESS_DTYPE)
        kinds = [space.kind for space in self._parts.memory.spaces]
        space = (wanted >> np.uint64(48)).astype(np.int64)
        # In private memory a place is an address, so lines are told apart before anything is looked up.
        plain = all(kinds[s] is SpaceKind.PRIVATE for s in np.unique(space).tolist() if s < len(kinds))
        low = np.unique(wanted & np.uint64((1 << 48) - 1)) if plain else None
        total = len(self._placed)
        parts = [self._piece(start, wanted, low, line_size) for start in range(0, total, PIECE)]
        return np.concatenate([np.zeros(0, WITNESS_DTYPE), *parts])

    def _piece(self, start: int, wanted: Table, low: Table | None, line_size: int) -> Table:
        from sharing.sampled.attribute import describe, locate

        parts, code = self._parts, self._parts.code
        rows = parts.samples.samples[start : start + PIECE]
        key, bias = parts.keys.of_samples(rows)
        point = code.rows(key)
        charged = np.where(point >= 0, code.charged[skids(parts.samples.events, rows), point], -1)
        count = np.where(point >= 0, code.points["count"][point], 0)
        sample = np.repeat(np.arange(len(rows)), count)
        first = np.repeat(code.points["first"][point] - np.cumsum(count) + count, count)
        operand = first + np.arange(len(sample))
        about = code.operands
        good = code.testifies[operand] & (operand != charged[sample])
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
        everything = np.arange(len(at))
        locate(parts, some, out["thread"], process, address, everything, np.zeros(len(at), np.bool_), out)
        describe(out, code, operand)
        out["basis"] = Basis.DERIVED
        end = out["place"] + np.maximum(out["size"], 1).astype(np.uint64) - np.uint64(1)
        touches = _among(wanted, line_keys(out["space"], out["place"], line_size))
        touches |= _among(wanted, line_keys(out["space"], end, line_size))
        out, sample = out[touches & (out["space"] >= 0)], sample[touches & (out["space"] >= 0)]
        result = np.zeros(len(out), WITNESS_DTYPE)
        result["sample"] = sample + start
        for name in PLACED_DTYPE.names or ():
            result[name] = out[name]
        return result


def _among(ordered: Table, values: Column) -> npt.NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.asarray(ordered[at] == values)
