"""What the user asked ``record`` for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """``event`` "" is the best that works; ``frequency_hz`` and ``period`` 0 the choice's own."""

    output: Path
    command: tuple[str, ...] = ()
    pid: int | None = None
    duration_s: float | None = None
    event: str = ""
    frequency_hz: int = 0
    period: int = 0
    modes: str = "both"
    solo: bool = False
    ignore_affinity: bool = False  # of what COMMAND asks for, in the runs on one processor
    runs: int = 1
    metric: str = ""
    overhead_pairs: int = 0
    heap: bool = False
    stacks: bool = False
    trial: bool = False  # run COMMAND once before, to see how often it must be sampled

    @property
    def target(self) -> str:
        return "command" if self.command else "process" if self.pid is not None else "machine"
