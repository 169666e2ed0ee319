"""Counts of the generic events for each thread of a command.

Owns the list of events and whose each count is.  Nothing is sampled: counters run, and are read once.

The kernel says the counts of every thread that ends, but for the one whose set of counters was opened first, and that
one's are what is left of the total.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pmu.perfevent import TYPE_HARDWARE, TYPE_SOFTWARE
from pmu.perfopen import CounterReading, CounterRecord, Counters, CounterSpec, ThreadNamed, ThreadStarted
from pmu.record import release, watching_interrupts
from pmu.workload import Ended, Workload, end
from sharing.model.errors import LinemateError

HARDWARE, SOFTWARE = "hardware", "software"
# Name, the kernel's constant, kind and number of it (enum perf_hw_id, enum perf_sw_ids).
EVENTS = (
    ("cpu-cycles", "PERF_COUNT_HW_CPU_CYCLES", HARDWARE, 0),
    ("instructions", "PERF_COUNT_HW_INSTRUCTIONS", HARDWARE, 1),
    ("cache-references", "PERF_COUNT_HW_CACHE_REFERENCES", HARDWARE, 2),
    ("cache-misses", "PERF_COUNT_HW_CACHE_MISSES", HARDWARE, 3),
    ("branch-instructions", "PERF_COUNT_HW_BRANCH_INSTRUCTIONS", HARDWARE, 4),
    ("branch-misses", "PERF_COUNT_HW_BRANCH_MISSES", HARDWARE, 5),
    ("bus-cycles", "PERF_COUNT_HW_BUS_CYCLES", HARDWARE, 6),
    ("cpu-clock", "PERF_COUNT_SW_CPU_CLOCK", SOFTWARE, 0),
    ("task-clock", "PERF_COUNT_SW_TASK_CLOCK", SOFTWARE, 1),
    ("page-faults", "PERF_COUNT_SW_PAGE_FAULTS", SOFTWARE, 2),
    ("context-switches", "PERF_COUNT_SW_CONTEXT_SWITCHES", SOFTWARE, 3),
    ("cpu-migrations", "PERF_COUNT_SW_CPU_MIGRATIONS", SOFTWARE, 4),
    ("minor-faults", "PERF_COUNT_SW_PAGE_FAULTS_MIN", SOFTWARE, 5),
    ("major-faults", "PERF_COUNT_SW_PAGE_FAULTS_MAJ", SOFTWARE, 6),
)
UNITS = {"cpu-clock": "ns", "task-clock": "ns"}
_TYPES = {HARDWARE: TYPE_HARDWARE, SOFTWARE: TYPE_SOFTWARE}
# Software's counters are no scarce registers: pinned, so that they never take turns.
_WANTED = tuple(CounterSpec(_TYPES[kind], number, kind == SOFTWARE) for _, _, kind, number in EVENTS)
_NEARLY_ALL = 0.99
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """``supported``: this machine counts it.  ``user_only``: rights did not reach to what the kernel does."""

    name: str
    constant: str
    kind: str
    unit: str
    supported: bool
    user_only: bool


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """One thread.  ``values`` are in the order of the events, None where unsupported.

    ``shares``: of its time each event was counted; counts of less than 1 are scaled up, since counters took turns.
    ``tid`` -1: several threads that cannot be told apart, since they still run.
    """

    pid: int
    tid: int
    name: str
    values: tuple[int | None, ...]
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """``lost``: what the kernel had no room to say; counts of those threads are with the first one's."""

    events: tuple[CountedEvent, ...]
    threads: tuple[ThreadCounts, ...]
    ended: Ended
    interrupted: bool
    lost: int

    def totals(self) -> tuple[int | None, ...]:
        """Of all threads; None where unsupported."""
        columns = [[thread.values[at] or 0 for thread in self.threads] for at in range(len(self.events))]
        return tuple(
            sum(column) if event.supported else None for event, column in zip(self.events, columns, strict=True)
        )


@dataclass(slots=True)
class _Sum:
    """Counts of one thread and event over the processors, each of which has a counter of its own.

    All of them are enabled while the thread runs, one of them counts.
    """

    value: int = 0
    enabled: int = 0
    running: int = 0

    def add(self, read: CounterReading) -> None:
        self.value += read.value
        self.enabled = max(self.enabled, read.enabled)
        self.running += read.running

    @property
    def share(self) -> float:
        """Moving to another processor costs a little of either time: what is nearly all is all."""
        share = self.running / self.enabled if self.enabled else 1.0
        return share if share < _NEARLY_ALL else 1.0

    @property
    def scaled(self) -> int:
        return round(self.value / self.share) if self.share else self.value


@dataclass(slots=True)
class _Family:
    """What the counters reported of the command's threads."""

    process: dict[int, int]  # tid → pid
    names: dict[int, str] = field(default_factory=dict)
    reads: dict[int, list[CounterReading]] = field(default_factory=dict)

    def take(self, records: Iterable[CounterRecord]) -> None:
        for what in records:
            self.process[what.tid] = what.pid
            if isinstance(what, ThreadNamed):
                self.names[what.tid] = what.name
            elif isinstance(what, ThreadStarted):
                # Until it takes another, a thread has the name of its process.
                self.names.setdefault(what.tid, self.names.get(what.pid, ""))
            else:
                self.reads.setdefault(what.tid, []).append(what)


def count_command(command: Sequence[str], cpus: Sequence[int]) -> Counted:
    """Run the command and count; ``cpus`` are all processors that it may come to.

    Raises LinemateError where the kernel does not allow it.
    """
    with Workload(command) as work, Counters(_WANTED, work.pid, cpus) as counters:
        if not any(counters.supported):
            raise LinemateError("this machine counts none of the generic events (linemate doctor says what to change)")
        family = _Family({work.pid: work.pid})
        with watching_interrupts() as interrupted:
            release(work, interrupted)
            ended = None
            while ended is None and not interrupted():
                ended = work.wait(time.monotonic() + _LOOK_S)
                family.take(counters.drain())
            ended = ended or end(work)
            came = bool(interrupted())
        family.take(counters.drain())
        threads = _threads(family, list(counters.totals()), counters.supported)
        events = tuple(
            CountedEvent(name, constant, kind, UNITS.get(name, ""), supported, user_only)
            for (name, constant, kind, _), supported, user_only in zip(
                EVENTS, counters.supported, counters.user_only, strict=True
            )
        )
        return Counted(events, threads, ended, came, counters.lost)


def _threads(family: _Family, totals: Sequence[CounterReading], supported: Sequence[bool]) -> tuple[ThreadCounts, ...]:
    rows = [
        _row(family.process[tid], tid, family.names.get(tid, ""), reads, supported)
        for tid, reads in family.reads.items()
    ]
    silent = [tid for tid in family.process if tid not in family.reads]
    if silent:
        tid = silent[0] if len(silent) == 1 else -1
        name = family.names.get(tid, "") if len(silent) == 1 else f"{len(silent)} threads"
        rest = _rest(totals, [read for reads in family.reads.values() for read in reads])
        rows.append(_row(family.process.get(tid, -1), tid, name, rest, supported))
    return tuple(sorted(rows, key=lambda row: (row.pid, row.tid)))


def _rest(totals: Sequence[CounterReading], reads: Sequence[CounterReading]) -> list[CounterReading]:
    """What of the family's counts no ended thread has.  Times of all processors come as one."""
    rest: list[CounterReading] = []
    for event in {total.event for total in totals}:
        all_of = [total for total in totals if total.event == event]
        told = [read for read in reads if read.event == event]
        value, enabled, running = (
            sum(getattr(total, name) for total in all_of) - sum(getattr(read, name) for read in told)
            for name in ("value", "enabled", "running")
        )
        # Enabled time counts once for each processor's counter.
        rest.append(CounterReading(-1, -1, event, max(value, 0), max(enabled, 0) // len(all_of), max(running, 0)))
    return rest


def _row(pid: int, tid: int, name: str, reads: Iterable[CounterReading], supported: Sequence[bool]) -> ThreadCounts:
    sums = [_Sum() for _ in supported]
    for read in reads:
        sums[read.event].add(read)
    return ThreadCounts(
        pid,
        tid,
        name,
        tuple(
            None if not works else one.value if wanted.pinned else one.scaled
            for one, works, wanted in zip(sums, supported, _WANTED, strict=True)
        ),
        tuple(
            None if not works else 1.0 if wanted.pinned else one.share
            for one, works, wanted in zip(sums, supported, _WANTED, strict=True)
        ),
    )
