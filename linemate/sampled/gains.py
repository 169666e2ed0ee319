"""The gains that a report states: the profiles that lie beside a profile, and which of them say what.

Owns finding the profile of the run on one processor.  The estimate is ``sharing.sampled.speedup.gain``'s.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from linemate.sampled.sidecars import Sidecar
from pmu.profilefile import digest
from pmu.sidecar import sidecar_of, solo_of
from sharing.knowledge.clocks import may_end_by_time
from sharing.model.attribution import Attribution
from sharing.model.image import Image
from sharing.model.recorded import Recording
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import LineUse, SampledRun
from sharing.sampled.speedup.gain import Gain, Gains
from sharing.sampled.speedup.solo import Level

Attribute = Callable[[str], Attribution]


def without_solo(paths: Sequence[str]) -> list[str]:
    """The profiles to look for sharing in: a run on one processor shows none, and is found beside its own."""
    return [path for path in paths if not _is_solo(path)] or list(paths)


def _is_solo(path: str) -> bool:
    base = Path(path.removesuffix(".solo"))
    return path.endswith(".solo") and base.exists() and sidecar_of(base).exists()


class GainsOf:
    """Gains of lines by the profiles of one audit: the first that has a run on one processor beside it, else bounds."""

    def __init__(
        self,
        sidecars: Sequence[Sidecar],
        placed: Sequence[Attribution],
        runs: Sequence[SampledRun],
        attribute: Attribute,
        image: Image | None = None,
    ):
        self.notes = [sidecar.note for sidecar in sidecars if sidecar.note]
        self._gains: list[Gains] = []
        for sidecar, one, run in zip(sidecars, placed, runs, strict=True):
            spread = _level(one, sidecar.recording, "spread")
            if image is not None and _ends_with_its_work(image, sidecar.recording):
                spread = dataclasses.replace(spread, by_time=False)
            solo = self._solo(sidecar.profile, sidecar.recording, attribute)
            if solo is not None and spread.distances:
                self.notes.append(f"{sidecar.profile}: {_apart(spread)}")
            gains = Gains(spread, run.lines, solo)
            if solo is not None:
                self._gains.insert(0, gains)
            else:
                self._gains.append(gains)

    def __call__(self, lines: Sequence[tuple[LineUse, Sequence[Item]]]) -> Gain | None:
        """What fixing some lines together gains."""
        return next((gain for gains in self._gains if (gain := gains.of_all(lines)) is not None), None)

    def _solo(self, path: str, recording: Recording | None, attribute: Attribute) -> Level | None:
        if recording is None or (profile := recording.profile("solo")) is None:
            return None
        file = solo_of(Path(path))
        why = ""
        if not file.is_file() or digest(file) != profile.sha256:
            why = f"its run on one processor, {file.name}, is not there"
        elif len(profile.cpus_seen) > 1:
            why = "the run for one processor left it (record with --ignore-affinity)"
        elif any(run.status for run in recording.runs):
            why = "a run of the command failed"
        if why:
            self.notes.append(f"{path}: {why}: gains are upper bounds")
            return None
        if recording.affinity_ignored:
            self.notes.append(f"{path}: on one processor, what the command binds its threads to was ignored")
        return _level(attribute(str(file)), recording, "solo")


def _ends_with_its_work(image: Image, recording: Recording | None) -> bool:
    """Can the command only end when its work is done?  One that another program starts may be told when to end."""
    own = recording is not None and recording.command and os.path.basename(recording.command[0])
    return own == os.path.basename(image.path) and not may_end_by_time(image)


def _apart(level: Level) -> str:
    """That the machine has states which these runs did not meet."""
    least, most = min(level.transfers_ns), max(level.transfers_ns)
    return (
        f"a line took {median(level.transfers):.0f} ns from one processor to another while this was recorded, and "
        f"{least:.0f} to {most:.0f} ns at other times since the machine started: what is gained changes with that"
    )


def _level(placed: Attribution, recording: Recording | None, name: str) -> Level:
    """The runs that say how long a level takes are those without a profile, where there are any."""
    profile = recording.profile(name) if recording is not None else None
    if recording is None or profile is None or not recording.runs:
        return Level(placed)
    profiled = recording.runs[profile.run]
    runs = tuple(run for run in recording.runs if run.level == name)
    timed = tuple(run for run in runs if run is not profiled)
    return Level(placed, timed or runs, profiled, transfers_ns=recording.transfers_ns)
