"""The sidecar of a made-up recording, whose profiles are empty files."""

from __future__ import annotations

import hashlib

from sharing.model.recorded import SCHEMA, RecordedEvent, RecordedProfile, RecordedRun, Recording

EMPTY = hashlib.sha256(b"").hexdigest()


def recording(*, cpus: tuple[int, ...] = (1,), status: int = 0, solo: bool = True) -> Recording:
    profiles, runs = [], []
    for number, (name, seen) in enumerate((("spread", (0, 1)), ("solo", cpus))[: 1 + solo]):
        file = "p.data" if name == "spread" else "p.data.solo"
        profiles.append(RecordedProfile(name, file, 0, EMPTY, 1, 0, seen, number))
        wall_s, user_s = (0.5, 1.0) if name == "spread" else (0.6, 0.6)
        runs.append(RecordedRun(name, seen, wall_s, user_s, 0.0, 0.0, status, None))
    event = RecordedEvent("cpu-clock", ("cpu-clock",), "derived", "", "", 1000, 0, "both")
    return Recording(
        schema=SCHEMA,
        linemate="1",
        perf="6.1",
        kernel="6.1",
        architecture="x86_64",
        line_bytes=64,
        target="command",
        command=("./p",),
        pid=None,
        wall_s=0.5,
        interrupted=False,
        event=event,
        refused=(),
        profiles=tuple(profiles),
        metric="",
        runs=tuple(runs),
        overhead=(),
    )
