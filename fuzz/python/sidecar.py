"""The sidecar of a recording (``pmu.sidecar``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from fuzz.python.engine.target import Target, input_file
from pmu.sidecar import read_sidecar
from sharing.model.recorded import (
    SCHEMA,
    MeasuredOverhead,
    RecordedEvent,
    RecordedProfile,
    RecordedRun,
    Recording,
    RefusedEvent,
)


def _seeds() -> Iterable[bytes]:
    event = RecordedEvent("loads", ("cpu/mem-loads/P",), "measured", "", "", 0, 1000, "user")
    profiles = tuple(
        RecordedProfile(level, f"perf.data{end}", 10, "0" * 64, 3, 0, (0, 1), run)
        for run, (level, end) in enumerate((("spread", ""), ("solo", ".solo")))
    )
    runs = tuple(RecordedRun(profile.level, (0, 1), 1.5, 1.0, 0.1, 0.0, 0, 2.5) for profile in profiles)
    overhead = MeasuredOverhead("wall", False, (1.0, 1.1), (1.0, 1.2), 0.01, 0.0, 0.02, 0, 0)
    recording = Recording(
        SCHEMA, "0", "perf 6", "6.1", "x86_64", 64, "command", ("a", "b"), 7, 1.5, False, event,
        (RefusedEvent("best", "none"),), profiles, "qps", runs, (overhead,),
    )  # fmt: skip
    yield msgspec.json.encode(recording)
    yield msgspec.json.encode(msgspec.structs.replace(recording, pid=None, profiles=(), runs=(), overhead=()))


def one(data: bytes) -> None:
    recording = read_sidecar(input_file(data))
    for level in ("spread", "solo"):
        recording.profile(level)


TARGET = Target("the sidecar beside a profile", one, _seeds, (b'"profiles":[', b"null", b"1e308", b'"\\u0000"', b'"..'))
