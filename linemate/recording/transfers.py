"""The shortest and the longest time that a line took between processors, since this machine started.

Owns keeping both from one recording to the next.  They are measured by ``pmu.transfers``.

A recording of some seconds sees one state of a machine whose host moves its processors, and a gain is that of this
state.  What earlier recordings saw tells that there is another.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from linemate.cachedir import quiet_folder
from sharing.model.errors import LinemateError
from sharing.model.inputs import open_input
from sharing.model.process.wholefile import write_whole
from sharing.model.recorded import RecordedRun

BOOT = Path("/proc/sys/kernel/random/boot_id")
_MAX_BYTES = 1 << 10


def seen_transfers(runs: Sequence[RecordedRun], boot: Path = BOOT) -> tuple[float, ...]:
    """(shortest, longest) with those of these runs; nothing where none is known."""
    now = [one for run in runs for one in run.transfer_ns]
    path = _kept_at(boot)
    every = [*now, *(_read(path) if path is not None else ())]
    if not now or not every:
        return ()
    both = (min(every), max(every))
    if path is not None:
        with contextlib.suppress(OSError):
            write_whole(path, msgspec.json.encode(both))
    return both


def _kept_at(boot: Path) -> Path | None:
    """Of this start of the machine: after the next one it may be another."""
    folder = quiet_folder("transfers")
    try:
        with open_input(boot, "the number of this start") as file:
            name = file.read(_MAX_BYTES).decode("ascii", "replace").strip()
    except (OSError, LinemateError):
        return None
    return folder / name if folder is not None and name.replace("-", "").isalnum() else None


def _read(path: Path) -> tuple[float, ...]:
    """Nothing where there is none, or none that can be."""
    try:
        with open_input(path, "kept times of transfers") as file:
            figures = msgspec.json.decode(file.read(_MAX_BYTES), type=tuple[float, float])
    except (OSError, LinemateError, msgspec.DecodeError, UnicodeDecodeError):
        return ()
    return figures if all(0 < one < math.inf for one in figures) else ()
