"""Counts of the generic events for each thread of a command.

Owns the list of events, which of them a machine has, and adding up what the kernel says as each thread ends.  Nothing
is sampled: counters run, and are read once.

The kernel reports a thread's counts when it ends, except those of the task that was watched from the start; so the
command runs as that one's child.
"""

from __future__ import annotations

import mmap
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pmu import read_samples
from pmu.machine import Machine
from pmu.perfdata_header import Descriptions, Header, Source, open_source, read_header
from pmu.perfevent import READ_GROUP, READ_ID, READ_TIME_ENABLED, READ_TIME_RUNNING, Attr, Record, event_name
from pmu.perftool import Perf, reason
from pmu.record import PerfRun, stop_and_wait, watching_interrupts
from pmu.workload import Ended, Workload
from sharing.model.errors import LinemateError, Malformed

HARDWARE, SOFTWARE = "hardware", "software"
# perf's name, the kernel's constant, its kind.
EVENTS = (
    ("cpu-cycles", "PERF_COUNT_HW_CPU_CYCLES", HARDWARE),
    ("instructions", "PERF_COUNT_HW_INSTRUCTIONS", HARDWARE),
    ("cache-references", "PERF_COUNT_HW_CACHE_REFERENCES", HARDWARE),
    ("cache-misses", "PERF_COUNT_HW_CACHE_MISSES", HARDWARE),
    ("branch-instructions", "PERF_COUNT_HW_BRANCH_INSTRUCTIONS", HARDWARE),
    ("branch-misses", "PERF_COUNT_HW_BRANCH_MISSES", HARDWARE),
    ("bus-cycles", "PERF_COUNT_HW_BUS_CYCLES", HARDWARE),
    ("cpu-clock", "PERF_COUNT_SW_CPU_CLOCK", SOFTWARE),
    ("task-clock", "PERF_COUNT_SW_TASK_CLOCK", SOFTWARE),
    ("page-faults", "PERF_COUNT_SW_PAGE_FAULTS", SOFTWARE),
    ("context-switches", "PERF_COUNT_SW_CONTEXT_SWITCHES", SOFTWARE),
    ("cpu-migrations", "PERF_COUNT_SW_CPU_MIGRATIONS", SOFTWARE),
    ("minor-faults", "PERF_COUNT_SW_PAGE_FAULTS_MIN", SOFTWARE),
    ("major-faults", "PERF_COUNT_SW_PAGE_FAULTS_MAJ", SOFTWARE),
)
UNITS = {"cpu-clock": "ns", "task-clock": "ns"}
FLAG_EXCLUDE_KERNEL = 1 << 5
_PROBE_S = 20.0
_HEADER_BYTES = 8


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """``supported``: this machine counts it.  ``user_only``: rights did not reach to what the kernel does."""

    name: str
    constant: str
    kind: str
    unit: str
    supported: bool
    user_only: bool = False


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """One thread.  ``values`` are in the order of the events, None where unsupported.

    ``shares``: of its time each event was counted; counts of less than 1 are scaled up, since counters took turns.
    """

    pid: int
    tid: int
    name: str
    values: tuple[int | None, ...]
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    events: tuple[CountedEvent, ...]
    threads: tuple[ThreadCounts, ...]
    ended: Ended
    interrupted: bool

    def totals(self) -> tuple[int | None, ...]:
        """Of all threads; None where unsupported."""
        columns = [[thread.values[at] for thread in self.threads] for at in range(len(self.events))]
        return tuple(
            sum(value or 0 for value in column) if event.supported else None
            for event, column in zip(self.events, columns, strict=True)
        )


def supported_events(perf: Perf) -> tuple[bool, ...]:
    """For each of ``EVENTS`` whether this machine counts it.  Raises LinemateError where perf cannot say."""
    names = ",".join(name for name, _, _ in EVENTS)
    try:
        done = subprocess.run(
            [perf.path, "stat", "-x", ";", "-e", names, "--", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LinemateError(f"perf stat: not done after {_PROBE_S:.0f} s") from None
    except OSError as error:
        raise LinemateError(f"{perf.path}: {error.strerror}") from error
    said = {}
    for line in done.stderr.splitlines():
        fields = line.split(";")
        if len(fields) > 2:
            # Without the right to count the kernel perf adds a modifier.
            said[fields[2].partition(":")[0]] = fields[0]
    if not said:
        raise LinemateError(f"perf stat: {reason(done.stderr)}")
    return tuple(said.get(name, "<").replace(".", "").isdecimal() for name, _, _ in EVENTS)


def count_command(perf: Perf, machine: Machine, command: Sequence[str]) -> Counted:
    """Run the command and count.  Raises LinemateError where perf cannot."""
    supported = supported_events(perf)
    names = [name for (name, _, _), works in zip(EVENTS, supported, strict=True) if works]
    if not names:
        raise LinemateError("this machine counts none of the generic events (linemate doctor says what to change)")
    with tempfile.TemporaryDirectory(prefix="linemate-counters-") as folder:
        out = Path(folder, "counts")
        options = ["-s", "-n", *(part for name in names for part in ("-e", name))]
        with Workload(command, nested=True) as work:
            target = ["-p", str(work.pid)]
            with PerfRun(perf, machine, options, target, out) as run, watching_interrupts() as interrupted:
                run.ready()
                work.release()
                ended = stop_and_wait(run, work, interrupted)
                run.finish()
                came = interrupted()
        return _read(out, names, supported, ended, came)


def _read(out: Path, names: Sequence[str], supported: Sequence[bool], ended: Ended, interrupted: bool) -> Counted:
    with out.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        source = open_source(str(out), data)
        header = read_header(source, Descriptions())
        # perf opens what it was asked for first, in that order; then events of its own.
        numbered = {event: number for number, (_, ids) in enumerate(header.attrs) for event in ids}
        attrs = [attr for attr, _ in header.attrs[: len(names)]]
        if len(attrs) < len(names):
            raise Malformed(str(out), None, f"perf counted {len(attrs)} events, not {len(names)}")
        rows = list(_reads(source, header, numbered, len(names)))
    table = np.array(rows, np.int64).reshape(-1, 6)
    keys, which = np.unique(table[:, :2], axis=0, return_inverse=True)
    # Value, time enabled and time running by thread and event.  There is a counter for each processor: all of them are
    # enabled while the thread runs, one of them counts.
    sums = np.zeros((len(keys), len(names), 3), np.int64)
    at_cell = (which.reshape(-1), table[:, 2])
    for column, add in enumerate((np.add, np.maximum, np.add)):
        add.at(sums[:, :, column], at_cell, table[:, 3 + column])
    comms = _comms(out)
    columns = _columns(supported)
    threads = [
        ThreadCounts(
            int(pid),
            int(tid),
            comms.get(int(tid), ""),
            tuple(None if at is None else _scaled(*sums[row, at].tolist()) for at in columns),
            tuple(None if at is None else _share(*sums[row, at].tolist()) for at in columns),
        )
        for row, (pid, tid) in enumerate(keys.tolist())
    ]
    events = tuple(
        CountedEvent(
            name,
            constant,
            kind,
            UNITS.get(name, ""),
            at is not None,
            at is not None and bool(attrs[at].flags & FLAG_EXCLUDE_KERNEL),
        )
        for (name, constant, kind), at in zip(EVENTS, columns, strict=True)
    )
    return Counted(events, tuple(sorted(threads, key=lambda t: (t.pid, t.tid))), ended, interrupted)


def _columns(supported: Sequence[bool]) -> list[int | None]:
    """For each event its place among those that were counted."""
    places = iter(range(len(supported)))
    return [next(places) if works else None for works in supported]


def _reads(
    source: Source, header: Header, numbered: dict[int, int], events: int
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """pid, tid, event, value, time enabled and time running of every PERF_RECORD_READ."""
    at = header.data_offset
    while at + _HEADER_BYTES <= header.data_end:
        kind, _, size = source.unpack("IHH", at, "a record")
        if size < _HEADER_BYTES or at + size > header.data_end:
            raise Malformed(source.path, at, f"a record of {size} bytes")
        if kind == Record.READ:
            number, value = _read_record(source, at + _HEADER_BYTES, header, numbered)
            if number < events:
                yield *source.unpack("II", at + _HEADER_BYTES, "a count"), number, *value  # type: ignore[misc]
        at += size


def _read_record(source: Source, at: int, header: Header, numbered: dict[int, int]) -> tuple[int, tuple[int, int, int]]:
    """The event's number, its value and times.  perf gives all events one read_format."""
    attr: Attr = header.attrs[0][0]
    wanted = READ_TIME_ENABLED | READ_TIME_RUNNING | READ_ID
    if attr.read_format & READ_GROUP or attr.read_format & wanted != wanted:
        raise Malformed(source.path, at, f"{event_name(attr)}: counts without times and ids")
    value, enabled, running, event = source.unpack("8xQQQQ", at, "a count")
    return numbered.get(event, len(header.attrs)), (value, enabled, running)


def _scaled(value: int, enabled: int, running: int) -> int:
    return round(value * enabled / running) if 0 < running < enabled else value


def _share(_value: int, enabled: int, running: int) -> float:
    return min(running / enabled, 1.0) if enabled else 1.0


def _comms(out: Path) -> dict[int, str]:
    """What each thread was called last."""
    samples = read_samples(out)
    return {
        tid: samples.comms[comm]
        for tid, comm in zip(samples.threads["tid"].tolist(), samples.threads["comm"].tolist(), strict=True)
    }
