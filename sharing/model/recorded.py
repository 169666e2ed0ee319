"""What ``record`` says about a recording: the sidecar that lies beside a profile.

Owns the types of that document.  Reading and writing it is ``pmu.sidecar``; what a gain is, is judged elsewhere.
Times are seconds, of the command alone: perf's own are not among them.
"""

from __future__ import annotations

import msgspec

SCHEMA = "linemate-recording-2"
RESOLUTION_S = 0.03  # of the system's account of processor time: ticks on some processors


class RecordedEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was sampled.  ``name`` is that of ``pmu.events``' choice; ``addresses``: measured, derived or function."""

    name: str
    events: tuple[str, ...]
    addresses: str
    shows: str
    cannot_show: str
    frequency_hz: int  # 0 where a period was asked for
    period: int
    modes: str  # user, kernel, both


class RefusedEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A better event that this machine does not have, with the reason."""

    name: str
    why: str


class RecordedProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of samples beside the sidecar.  ``level``: spread over the processors, or solo on one."""

    level: str
    file: str  # its name, in the sidecar's folder
    size_bytes: int
    sha256: str
    samples: int
    lost_samples: int
    cpus_seen: tuple[int, ...]  # processors that samples were taken on
    run: int  # the row of ``runs`` that it was recorded in


class RecordedHeap(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Notes of the allocations of the first run, a file beside the sidecar."""

    file: str  # its name, in the sidecar's folder
    size_bytes: int
    sha256: str
    noted: int  # beginnings and ends of allocations
    left_out: int  # for which there was no room
    by: str = "preload"  # or probes: what was allocated before the recording is not among them


class RecordedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run of the command, under perf where a profile names it.  ``metric`` is None where none was asked for."""

    level: str
    cpus: tuple[int, ...]  # that it was allowed to use
    wall_s: float
    user_s: float
    system_s: float
    background_s: float  # processor time that everything else took meanwhile
    status: int  # exit code, or minus the signal that ended it
    metric: float | None
    transfer_ns: tuple[float, ...] = ()  # that a line took from one processor to another, before and after the run

    @property
    def processors_left(self) -> float:
        """What everything else left to the command of those that it was allowed to use."""
        known = self.background_s > RESOLUTION_S and self.wall_s > 0
        return len(self.cpus) - self.background_s / self.wall_s if known else len(self.cpus)


class MeasuredOverhead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One figure without and with perf, in pairs.  ``cost`` is the median share that recording costs: 0.01 is 1 %.

    ``low`` to ``high`` holds the true median with 95 % (six pairs and more; the extremes where there are fewer).
    """

    figure: str  # wall seconds, processor seconds, or the metric
    more_is_better: bool
    without: tuple[float, ...]
    with_perf: tuple[float, ...]
    cost: float
    low: float
    high: float
    repeated: int  # pairs left out because of background load
    disturbed: int  # disturbed pairs that count all the same


class Recording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The document.  ``runs`` are in the order in which they ran; there are none of a process that already did."""

    schema: str
    linemate: str
    perf: str
    kernel: str
    architecture: str
    line_bytes: int  # the largest of the caches for data, 0 unknown
    target: str  # command, process, machine
    command: tuple[str, ...]
    pid: int | None
    wall_s: float  # of the recording that was kept
    interrupted: bool
    event: RecordedEvent
    refused: tuple[RefusedEvent, ...]
    profiles: tuple[RecordedProfile, ...]
    metric: str  # its name, "" none
    runs: tuple[RecordedRun, ...]
    overhead: tuple[MeasuredOverhead, ...]
    heap: RecordedHeap | None = None
    affinity_ignored: bool = False  # in the runs on one processor: what the command bound its threads to
    transfers_ns: tuple[float, ...] = ()  # the shortest and the longest that recordings saw since the machine started

    def profile(self, level: str) -> RecordedProfile | None:
        return next((profile for profile in self.profiles if profile.level == level), None)
