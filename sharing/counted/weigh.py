"""Executions in the place of estimates: the passes of the judgement with counted weights and threads.

Owns the step from counted instructions to what the rules look at: weights are executions per million instructions of
the thread, the roots of the call graph are the counted threads, and each access has the threads that made it.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.costs import PER_MILLION, busy_rate
from sharing.counted import numbers
from sharing.judge.passes import Passes
from sharing.model.executions import FIRST, CountedThread, Table
from sharing.model.image import ALLOCATED, AccessKind, SiteFlag
from sharing.model.plural import count
from sharing.model.profile import Range
from sharing.static.callgraph import CallGraph
from sharing.static.correlate import Accesses, Thresholds, possible_lines
from sharing.static.phases import program_point
from sharing.static.reach import MAX_ROOTS
from sharing.static.starts import Root

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Counted:
    """Executions of one image's instructions, as placed: ``table`` is EXECUTION_DTYPE of this image, by address.

    ``together``: of all threads, as one; which of them made an access is then what the code says.  ``unknown`` are
    addresses of instructions that were not counted.  ``estimated``: only how often functions were entered was counted.
    """

    table: Table
    threads: tuple[CountedThread, ...]
    entries: tuple[
        tuple[str, ...], ...
    ] = ()  # by thread, the functions that threads are known to start in and it was in
    reused: frozenset[int] = frozenset()  # threads that are several one after the other, under one number
    together: bool = False
    estimated: bool = False
    unknown: Table = field(default_factory=lambda: np.empty(0, np.uint64))

    def label(self, thread: int) -> str:
        """What a report calls a thread: its number, and where it started if that is known."""
        if self.together:
            return "all threads together"
        names = self.entries[thread] if self.entries else ()
        return f"{self.threads[thread].label} ({', '.join(names)})" if names else self.threads[thread].label

    def at(self, ips: npt.NDArray[Any]) -> Floats:
        """Executions of the instructions at these addresses, one column a thread."""
        wanted, inverse = np.unique(ips, return_inverse=True)
        out = np.zeros((len(wanted), len(self.threads)))
        if len(wanted):
            address, thread, executions = (self.table[name] for name in ("address", "thread", "executions"))
            row = np.minimum(np.searchsorted(wanted, address), len(wanted) - 1)
            hit = wanted[row] == address
            out[row[hit], thread[hit]] = executions[hit]
        result: Floats = out[inverse]
        return result

    @property
    def instructions(self) -> Floats:
        """All instructions of each thread, in any file."""
        return np.array([t.instructions for t in self.threads], np.float64)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Passes whose weights are counted; ``executions`` are those of each row of ``passes.accesses`` by thread."""

    passes: Passes
    counted: Counted
    executions: Floats

    def uses(self, span: Range) -> tuple[Floats, Floats]:
        """How often each thread wrote, and used at all, the bytes of a range by instructions that name them."""
        sites = self.passes.accesses.sites
        first, last = np.searchsorted(sites["target"], np.array(span, np.uint64))
        kind = sites["kind"][first:last]
        rows = self.executions[first:last]
        writes = (kind == AccessKind.STORE) | (kind == AccessKind.RMW)
        return rows[writes].sum(axis=0), rows.sum(axis=0)

    def ran(self, span: Range) -> bool:
        return bool(self.uses(span)[1].any())

    def behind_pointers(self, span: Range) -> bool:
        """Is this a model of what pointers lead to?  Such objects are laid out outside of the file's sections."""
        sections = self.passes.image.sections
        return not any(s.address <= span[0] < s.end and s.name != ALLOCATED for s in sections)

    def holds(self, span: Range) -> bool:
        """Are these bytes of a variable, or of an object of the image that was counted?"""
        return not self.behind_pointers(span) or self.passes.image.variable_at(span[0]) >= 0

    def uncounted(self, span: Range) -> bool:
        """Was there no count for some instruction that names these bytes?"""
        sites = self.passes.accesses.sites
        first, last = np.searchsorted(sites["target"], np.array(span, np.uint64))
        return bool(np.isin(sites["ip"][first:last], self.counted.unknown).any())


def weigh(passes: Passes, counted: Counted) -> Weighed:
    """1. executions of each access by thread; 2. without what no second thread can overlap; 3. rates, threads, heat."""
    accesses, calls, image = passes.accesses, passes.calls, passes.image
    counted = counted if counted.together else _started(counted, passes)
    sites = accesses.sites
    executions = counted.at(sites["ip"])
    executions[calls.phases.sequential(sites["function"], program_point(image, sites))] = 0.0
    executions *= on_the_line(passes)[:, None]
    rates = executions * PER_MILLION / np.maximum(counted.instructions, 1.0)
    weighed = Accesses(
        sites,
        rates.sum(axis=1),
        accesses.mask if counted.together else _masks(rates, counted),
        accesses.lock,
        accesses.variable,
        np.asarray(~executions.any(axis=1)),
    )
    of_functions = counted.at(image.functions["address"]) * PER_MILLION / np.maximum(counted.instructions, 1.0)
    frequency, cold = of_functions.sum(axis=1), np.asarray(~of_functions.any(axis=1))
    graph = dataclasses.replace(calls, frequency=frequency, cold=cold)
    if not counted.together:
        graph = _graph(graph, of_functions, counted)
    busy = busy_rate()
    limits = Thresholds(*(float(np.log10(1.0 + busy)),) * 3, hot_weight=busy)
    return Weighed(dataclasses.replace(passes, accesses=weighed, calls=graph, limits=limits), counted, executions)


def _started(counted: Counted, passes: Passes) -> Counted:
    """Which of the known thread entries each thread was in; started more than once, its number was used again."""
    known = [r for r in passes.calls.roots if r.function >= 0 and not r.is_part]
    rows = passes.image.functions[[r.function for r in known]]
    address, start, size = counted.table["address"], rows["address"], rows["size"]
    first, last = np.searchsorted(address, start), np.searchsorted(address, start + size)
    within = [set(counted.table["thread"][a:b].tolist()) for a, b in zip(first, last, strict=True)]
    threads = range(len(counted.threads))
    entries = tuple(tuple(r.name for r, has in zip(known, within, strict=True) if t in has) for t in threads)
    main = tuple(r.name for r in known if r.name == "main")
    entries = tuple(e or (main if counted.threads[t].number == FIRST else ()) for t, e in enumerate(entries))
    started = counted.at(rows["address"])[[r.name != "main" for r in known]].sum(axis=0)
    return dataclasses.replace(counted, entries=entries, reused=frozenset(np.flatnonzero(started > 1).tolist()))


def on_the_line(passes: Passes) -> Floats:
    """The part of an access's executions that falls on the line it is attributed to.

    An index that code computes may name any element of a variable: each line where that may be gets an equal part.
    """
    image, accesses = passes.image, passes.accesses
    part = np.ones(len(accesses.sites))
    rows = np.flatnonzero((accesses.variable >= 0) & ((accesses.sites["flags"] & SiteFlag.INDEXED) != 0))
    variable = accesses.variable[rows]
    size = image.variables["size"][variable].astype(np.float64)
    part[rows] = 1.0 / possible_lines(image, accesses.sites[rows], variable, size)
    return part


def faint_rate() -> float:
    """Uses per million instructions below which a thread takes no part in sharing what it uses."""
    return numbers.FAINT_PART * busy_rate()


def _masks(rates: Floats, counted: Counted) -> npt.NDArray[np.uint64]:
    """Per row the threads that it is not too rare on to matter."""
    masks = np.zeros(len(rates), np.uint64)
    faint = faint_rate()
    for thread, bit in enumerate(_bits(counted.threads)):
        masks[rates[:, thread] >= faint] |= np.uint64(1 << bit)
    return masks


def _bits(threads: tuple[CountedThread, ...]) -> list[int]:
    """The bit of each thread: the busiest have one of their own, the others share the last."""
    order = sorted(range(len(threads)), key=lambda t: -threads[t].instructions)
    bits = [0] * len(threads)
    for bit, thread in enumerate(order):
        bits[thread] = min(bit, MAX_ROOTS)
    return bits


def _graph(calls: CallGraph, of_functions: Floats, counted: Counted) -> CallGraph:
    """The call graph with counted threads as its roots; those of different processes share no memory."""
    bits = _bits(counted.threads)
    roots = [Root("", -1, False)] * (max(bits, default=-1) + 1)
    groups: dict[int, int] = {}
    for at, (thread, bit) in enumerate(zip(counted.threads, bits, strict=True)):
        names = counted.entries[at]
        name = names[0] if len(names) == 1 else thread.label
        name = "main thread" if name == "main" else name
        # Not a way in that may be a thread's, as main or a library's function is: counted threads are threads.
        roots[bit] = Root(name if bits.count(bit) == 1 else "other threads", 0, bits.count(bit) > 1)
        groups[thread.process] = groups.get(thread.process, 0) | 1 << bit
    masks = _masks(of_functions, counted)
    many = sum(1 << bit for bit, root in enumerate(roots) if root.many)
    together = any(group.bit_count() > 1 or group & many for group in groups.values())
    how = f"counted: {count(len(counted.threads), 'thread')}"
    return dataclasses.replace(
        calls,
        by_thread=None,
        mask=masks,
        roots=tuple(roots),
        meets=tuple(
            functools.reduce(int.__or__, (g for g in groups.values() if g >> bit & 1), 0) & ~(1 << bit & ~many)
            for bit in range(len(roots))
        ),
        stretches=None,
        threaded=together,
        how=how,
    )
