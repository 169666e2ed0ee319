"""The sidecar of a recording as a file: written by ``record``, read back with every value checked.

Owns the file's name and its validation.  The document itself is ``sharing.model.recorded``.
"""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.inputs import open_input
from sharing.model.process.wholefile import write_whole
from sharing.model.recorded import SCHEMA, RecordedHeap, RecordedProfile, Recording

MAX_BYTES = 4 << 20
LEVELS = ("spread", "solo")
ADDRESSES = ("measured", "derived", "function")
HEAP_WAYS = ("preload", "probes")
TARGETS = ("command", "process", "machine")
MODES = ("both", "user", "kernel")
_MAX_TABLE = 100_000


def sidecar_of(profile: Path) -> Path:
    """Where the sidecar of a profile lies."""
    return profile.with_name(profile.name + ".json")


def solo_of(profile: Path) -> Path:
    """Where the profile of the run on one processor lies."""
    return profile.with_name(profile.name + ".solo")


def write_sidecar(path: Path, recording: Recording) -> None:
    """The file appears whole or not at all."""
    data = msgspec.json.format(msgspec.json.encode(recording), indent=2) + b"\n"
    write_whole(path, data)


def read_sidecar(path: Path) -> Recording:
    """Raises Unrecognized where it is not a sidecar, Malformed where it is one with values that cannot be."""
    name = str(path)
    with open_input(path, "the sidecar of a recording") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unrecognized(name, f"a sidecar has at most {MAX_BYTES} bytes")
    try:
        head = msgspec.json.decode(data, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unrecognized(name, f"not the sidecar of a recording: {error}") from error
    if head.schema != SCHEMA:
        raise Unrecognized(name, f"its schema is {head.schema[:60]!r}, not {SCHEMA!r}")
    try:
        recording = msgspec.json.decode(data, type=Recording)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(name, None, str(error)) from error
    if why := _fault(recording):
        raise Malformed(name, None, why)
    return recording


class _Head(msgspec.Struct):
    schema: str


def _fault(recording: Recording) -> str:
    """The first value that cannot be, "" where all can."""
    tables = (recording.profiles, recording.runs, recording.overhead, recording.refused)
    if any(len(table) > _MAX_TABLE for table in tables):
        return f"a table has more than {_MAX_TABLE} rows"
    if recording.target not in TARGETS:
        return f"target {recording.target!r} is none of {', '.join(TARGETS)}"
    if recording.event.addresses not in ADDRESSES:
        return f"event.addresses {recording.event.addresses!r} is none of {', '.join(ADDRESSES)}"
    if recording.event.modes not in MODES:
        return f"event.modes {recording.event.modes!r} is none of {', '.join(MODES)}"
    if recording.line_bytes < 0 or recording.line_bytes > 4096 or recording.line_bytes & (recording.line_bytes - 1):
        return f"line_bytes {recording.line_bytes} is not a line size"
    if min(recording.event.frequency_hz, recording.event.period) < 0:
        return "event: a rate below 0"
    if recording.heap is not None and (why := _fault_of_file("heap", recording.heap)):
        return why
    return _fault_of_profiles(recording) or _fault_of_runs(recording) or _fault_of_overhead(recording)


def _fault_of_profiles(recording: Recording) -> str:
    levels = [profile.level for profile in recording.profiles]
    if len(set(levels)) < len(levels):
        return "two profiles are of one level"
    for number, profile in enumerate(recording.profiles):
        where = f"profiles[{number}]"
        if profile.level not in LEVELS:
            return f"{where}: level {profile.level!r} is none of {', '.join(LEVELS)}"
        if why := _fault_of_file(where, profile):
            return why
        if min(profile.size_bytes, profile.samples, profile.lost_samples, profile.run) < 0:
            return f"{where}: a count below 0"
        if recording.runs and profile.run >= len(recording.runs):
            return f"{where}: run {profile.run} of {len(recording.runs)}"
        if recording.runs and recording.runs[profile.run].level != profile.level:
            return f"{where}: its run is of another level"
    return ""


def _fault_of_file(where: str, row: RecordedProfile | RecordedHeap) -> str:
    # A name that leads elsewhere would make its reader open any file.
    if not row.file or row.file in (".", "..") or "/" in row.file or "\0" in row.file:
        return f"{where}: {row.file!r} is not the name of a file in this folder"
    if len(row.sha256) != 64 or not set(row.sha256) <= set("0123456789abcdef"):
        return f"{where}: sha256 is not one"
    if isinstance(row, RecordedHeap) and row.by not in HEAP_WAYS:
        return f"{where}: by {row.by!r} is none of {', '.join(HEAP_WAYS)}"
    if isinstance(row, RecordedHeap) and min(row.size_bytes, row.noted, row.left_out) < 0:
        return f"{where}: a count below 0"
    return ""


def _fault_of_runs(recording: Recording) -> str:
    for number, run in enumerate(recording.runs):
        if run.level not in LEVELS:
            return f"runs[{number}]: level {run.level!r} is none of {', '.join(LEVELS)}"
        times = (run.wall_s, run.user_s, run.system_s, run.background_s)
        if not all(0 <= seconds < math.inf for seconds in times):
            return f"runs[{number}]: a time is not one"
        if not _are_durations(run.transfer_ns):
            return f"runs[{number}]: transfer_ns is no list of durations"
        if run.metric is not None and not math.isfinite(run.metric):
            return f"runs[{number}]: metric is not a number"
        if run.metric is not None and not recording.metric:
            return f"runs[{number}]: a metric without a name"
    if not _are_durations(recording.transfers_ns):
        return "transfers_ns is no list of durations"
    return "" if 0 <= recording.wall_s < math.inf else "wall_s is not a time"


def _are_durations(figures: tuple[float, ...]) -> bool:
    return len(figures) <= _MAX_TABLE and all(0 < one < math.inf for one in figures)


def _fault_of_overhead(recording: Recording) -> str:
    for number, row in enumerate(recording.overhead):
        if not row.without or len(row.without) != len(row.with_perf):
            return f"overhead[{number}]: not as many figures with perf as without"
        figures = (*row.without, *row.with_perf, row.cost, row.low, row.high)
        if not all(math.isfinite(figure) for figure in figures) or not row.low <= row.cost <= row.high:
            return f"overhead[{number}]: figures that contradict each other"
    return ""
