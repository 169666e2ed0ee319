"""Counts that name functions or lines of source, placed on the instructions of an image.

Owns the step from a name to addresses: functions by their symbols, lines by the file's line table, branches by the
flow between them.  What no count covers is unknown and stays apart from what was never executed.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elfscan.debug.linetable import LineTable, read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.basics import numbers
from sharing.judge.passes import Passes
from sharing.model.errors import LinemateError
from sharing.model.executions import EXECUTION_DTYPE, NamedCounts, Table
from sharing.model.image import Image
from sharing.static.callees import function_name
from sharing.static.executions import times

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Placed:
    """``table`` (EXECUTION_DTYPE) has what was executed, ``unknown`` the addresses that no count covers, by address.

    ``instructions`` is how many were executed in all, as far as it can be told; ``how`` says what the counts named.
    ``estimated``: what happens within a function is not counted.
    """

    table: Table
    unknown: Table
    instructions: float
    how: str
    estimated: bool = False


def placed(named: NamedCounts, passes: Passes) -> Placed:
    """Executions of the accesses of an image, and of its functions.  Raises LinemateError where nothing fits."""
    image, sites = passes.image, passes.accesses.sites
    functions = image.functions
    row_of = {function_name(image, at): at for at in range(len(functions) - 1, -1, -1)}
    ips = np.concatenate([sites["ip"], functions["address"]]).astype(np.uint64)
    function = np.concatenate([sites["function"], np.arange(len(functions))]).astype(np.int64)
    often = np.concatenate([times(sites["loop_depth"], sites["rarity"]), np.ones(len(functions))])
    found = np.full(len(ips), -1.0)
    instructions, how, estimated = 0.0, "", False
    if named.runs:
        runs = _of_functions(named.runs, row_of, len(functions))
        found = np.where(runs[function] >= 0, runs[function] * often, found)
        size = functions["size"]
        instructions = float((np.maximum(runs, 0.0) * size).sum() / numbers.INSTRUCTION_BYTES)
        how, estimated = "functions, with estimates of what happens within one", True
    if named.lines or named.relative:
        lines = read_lines(ElfFile(image.path, map_file(image.path)))
        by_line = _by_line(named, image, lines, row_of)
        counts = _of_lines(by_line, lines, everything=bool(named.relative))
        if (counts >= 0).any():
            row = lines.at(ips)
            here = np.where(row >= 0, counts[np.maximum(row, 0)], -1.0)
            found = np.where(here >= 0, here, found)
            start, end = lines.rows["address"], lines.rows["end"]
            size = (end - start).astype(np.float64)
            instructions = float((np.maximum(counts, 0.0) * size).sum() / numbers.INSTRUCTION_BYTES)
            how, estimated = "lines of source", False
        elif not named.runs:
            why = "has no line table" if not len(lines.rows) else "has none of the counted files in its line table"
            raise LinemateError(f"{image.path}: {why}: build it with -g, and let the counts be of the same source")
    if named.jumps or named.hits:
        flow = _Flow(named, image, row_of)
        found, instructions = flow.at(ips, function), flow.instructions
        how, estimated = ("branches", False) if named.jumps else ("samples of functions", True)
    if not (found > 0).any():
        raise LinemateError(f"{image.path}: the counts contain no executed code of it")
    order = np.argsort(ips, kind="stable")
    ips, found = ips[order], found[order]
    first = np.r_[True, ips[1:] != ips[:-1]]
    ips, found = ips[first], found[first]
    table = np.zeros(int((found > 0).sum()), EXECUTION_DTYPE)
    # What happens in one run in four is executed less than once in one run.
    counted = np.round(found[found > 0])
    table["address"], table["executions"] = ips[found > 0], np.maximum(counted, 1)
    unknown = ips[(found < 0) & np.isin(ips, sites["ip"])]
    return Placed(table, unknown, max(instructions, 1.0), how, estimated)


def _of_functions(counts: Mapping[str, int], row_of: Mapping[str, int], n: int) -> Floats:
    """Runs of each function, -1 where they are not known."""
    out = np.full(n, -1.0)
    for name, count in counts.items():
        row = row_of.get(name, -1)
        if row >= 0:
            out[row] = count
    return out


def _by_line(
    named: NamedCounts, image: Image, lines: LineTable, row_of: Mapping[str, int]
) -> dict[tuple[str, int], int]:
    """Counts by file and line; lines that are counted from the beginning of a function are added to where it begins."""
    out: dict[tuple[str, int], int] = defaultdict(int, named.lines)
    begins = lines.at(image.functions["address"].astype(np.uint64)).tolist()
    files, first_line = lines.rows["file"], lines.rows["line"]
    for (name, line), count in named.relative.items():
        row = row_of.get(name, -1)
        begin = begins[row] if row >= 0 else -1
        file = int(files[begin]) if begin >= 0 else -1
        if file >= 0:
            out[lines.files[file], int(first_line[begin]) + line] += count
    return out


def _of_lines(counts: Mapping[tuple[str, int], int], lines: LineTable, *, everything: bool) -> Floats:
    """Executions by row of the line table, -1 of files that were not counted.

    ``everything``: the counts are of all that ran, so that what they do not name did not.
    """
    by_file: dict[str, dict[int, int]] = defaultdict(dict)
    for (file, line), count in counts.items():
        by_file[os.path.normpath(file)][line] = count
    tails: dict[str, list[str]] = defaultdict(list)
    for file in by_file:
        tails[os.path.basename(file)].append(file)
    found = np.full(len(lines.rows), 0.0 if everything else -1.0)
    order = np.argsort(lines.rows["file"], kind="stable")
    file_of = lines.rows["file"][order]
    for number, name in enumerate(lines.files):
        match = _same_file(os.path.normpath(name), tails.get(os.path.basename(name), []))
        if not match:
            continue
        first, last = np.searchsorted(file_of, [number, number + 1])
        rows, of = order[first:last], by_file[match]
        found[rows] = [of.get(line, 0) for line in lines.rows["line"][rows].tolist()]
    return found


def _same_file(name: str, candidates: list[str]) -> str:
    """The path that agrees with this one in most folders from the end; "" where two do so equally."""
    if name in candidates:
        return name
    parts = name.split("/")[::-1]
    scored = []
    for candidate in candidates:
        same = 0
        for a, b in zip(parts, candidate.split("/")[::-1], strict=False):
            if a != b:
                break
            same += 1
        scored.append((same, candidate))
    scored.sort(reverse=True)
    tie = len(scored) > 1 and scored[0][0] == scored[1][0]
    return scored[0][1] if scored and not tie else ""


class _Flow:
    """Executions between branches: what jumps to a place goes on from there to the next branch that is taken.

    A branch into the beginning of another function is taken for a call, which comes back; so code behind a tail call
    counts too often.
    """

    def __init__(self, named: NamedCounts, image: Image, row_of: Mapping[str, int]) -> None:
        self.functions = image.functions
        self.change: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self.density = np.zeros(len(self.functions))
        self.instructions = 0.0
        for (source, left, target, reached), count in named.jumps.items():
            here, there = row_of.get(source, -1), row_of.get(target, -1)
            if there >= 0 and (not reached or here == there):
                self.change[there][reached] += count
            if here >= 0 and (reached or not target) and left + 1 < int(self.functions["size"][here]):
                self.change[here][left + 1] -= count
        sizes = np.maximum(self.functions["size"] / numbers.INSTRUCTION_BYTES, 1.0)
        for (name, _), count in named.hits.items():
            if name in row_of:
                self.density[row_of[name]] += count / sizes[row_of[name]]
        self.instructions = float((self.density * sizes).sum())
        self.steps: dict[int, tuple[npt.NDArray[np.int64], Floats]] = {}
        for row, change in self.change.items():
            offsets = np.array(sorted(change), np.int64)
            running, values = 0, []
            for offset in offsets.tolist():
                running = max(running + change[offset], 0)
                values.append(float(running))
            self.steps[row] = offsets, np.array(values)
            ends = np.r_[offsets[1:], max(int(self.functions["size"][row]), int(offsets[-1]))]
            self.instructions += float((self.steps[row][1] * (ends - offsets)).sum()) / numbers.INSTRUCTION_BYTES

    def at(self, ips: Table, function: npt.NDArray[np.int64]) -> Floats:
        """Executions at each address; of functions without a branch none."""
        found = self.density[np.maximum(function, 0)] if len(self.density) else np.zeros(len(ips))
        offset = ips.astype(np.int64) - self.functions["address"][np.maximum(function, 0)].astype(np.int64)
        for row, (offsets, values) in self.steps.items():
            mine = np.flatnonzero(function == row)
            step = np.searchsorted(offsets, offset[mine], "right") - 1
            found[mine] = np.where(step >= 0, values[np.maximum(step, 0)], 0.0)
        result: Floats = np.where(function >= 0, found, -1.0)
        return result
