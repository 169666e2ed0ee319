"""What ``record`` wrote beside a profile: how it was made, and what else ran meanwhile.

Owns which sidecar is believed.  What follows for gains is ``linemate.sampled.gains``'.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pmu.profilefile import digest
from pmu.sidecar import read_sidecar, sidecar_of
from sharing.model.errors import Unrecognized
from sharing.model.recorded import Recording
from sharing.sampled import numbers


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Of a profile: its recording, or a note why it is not used; neither where there is nothing."""

    profile: str
    recording: Recording | None = None
    note: str = ""

    @property
    def crowded(self) -> bool:
        """Did other programs leave the recorded run so little of the processors that its threads had to take turns?"""
        profile = self.recording.profile("spread") if self.recording is not None else None
        if self.recording is None or profile is None or not self.recording.runs:
            return False
        return self.recording.runs[profile.run].processors_left < numbers.CROWDED


def sidecar_beside(path: str) -> Sidecar:
    """That of a profile; another tool's file of that name is none, and neither is one of another profile."""
    file = sidecar_of(Path(path))
    if not file.is_file():
        return Sidecar(path)
    try:
        recording = read_sidecar(file)
    except Unrecognized:
        return Sidecar(path)
    profile = recording.profile("spread")
    if profile is None or digest(Path(path)) != profile.sha256:
        return Sidecar(path, note=f"{path}: {file.name} is of another recording: gains are upper bounds")
    return Sidecar(path, recording)
