"""The runs of a recorded command: spread over the processors and on one, in turns, profiled once and then timed.

Owns the order of the runs and when one that takes too long on one processor is ended.  How perf is driven is
``pmu.record``'s.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from linemate.recording.options import RecordOptions, Say
from linemate.recording.probedheap import ProbedHeap
from linemate.turns import BackgroundLoad, metric_of
from pmu.profilefile import Files
from pmu.record import NOTHING, Beside, Plan, Recorded, record_command, run_watched
from pmu.transfers import transfer_ns
from pmu.workload import Processors, find_command
from sharing.model.plural import count
from sharing.model.recorded import RecordedRun

LOGS = "heap-logs"  # in the folder of a recording: what each process noted of its allocations
ALONE_S, ALONE_TIMES = 10.0, 4.0  # seconds, and times a spread run's: others may take of the one processor


@dataclass(frozen=True, slots=True)
class _Level:
    name: str
    cpus: tuple[int, ...]

    @property
    def alone(self) -> bool:
        return self.name == "solo"


@dataclass(slots=True)
class Runs:
    """The runs in order; ``profiled`` has of each level the run that was profiled and its number among them."""

    runs: list[RecordedRun] = field(default_factory=list)
    profiled: dict[str, tuple[Recorded, int]] = field(default_factory=dict)

    def drop(self, level: str) -> None:
        self.profiled.pop(level, None)
        self.runs = [run for run in self.runs if run.level != level]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs the command of ``options``; ``heap_recorder`` is the library that notes allocations, None for none."""

    options: RecordOptions
    plan: Plan
    files: Files
    heap_recorder: Path | None
    probed: ProbedHeap | None = None  # in its place

    def run_all(self, say: Say, echo: Say) -> Runs:
        """Every run, levels in turns.  The first of each level is profiled, the others only timed.

        Two loops that pull at one line fall into a step that each sample breaks: what a level takes is what it takes
        without samples.  A run on one processor that takes too long is ended, and is the last of them.
        """
        levels, done = self._levels(), Runs()
        several = self.options.runs * len(levels) > 1
        for number in range(self.options.runs):
            for level in levels if number % 2 == 0 else levels[::-1]:
                within_s = _most_alone_s(done.runs) if level.alone else math.inf
                if several:
                    say(_progress(level, number, self.options.runs, within_s))
                profile, before = level.name not in done.profiled, self._transfer(level)
                background = BackgroundLoad()
                recorded = self._run(level, within_s, profile=profile)
                background_s = background.seconds()
                if recorded.late:
                    say(_late(done.runs[0], within_s))
                    levels = [other for other in levels if other != level]
                    done.drop(level.name)
                    continue
                if profile:
                    done.profiled[level.name] = recorded, len(done.runs)
                transfers = (*before, *self._transfer(level))
                done.runs.append(self._row(level, recorded, background_s, transfers, echo))
                if recorded.interrupted:
                    return done
        return done

    def _transfer(self, level: _Level) -> tuple[float, ...]:
        """How long a line takes between processors now, where levels are compared and lines travel."""
        taken = transfer_ns(level.cpus) if self.options.solo and not level.alone else 0.0
        return (taken,) if taken > 0 else ()

    def _levels(self) -> list[_Level]:
        everywhere = tuple(sorted(os.sched_getaffinity(0)))
        # Interrupts go to the first processor rather than to the last.
        alone = [_Level("solo", everywhere[-1:])] if self.options.solo else []
        return [_Level("spread", everywhere), *alone]

    def _run(self, level: _Level, within_s: float, *, profile: bool) -> Recorded:
        options, capture = self.options, bool(self.options.metric)
        on = Processors(level.cpus, stays=level.alone and options.ignore_affinity)
        if not profile:
            return run_watched(options.command, on=on, capture=capture, priority=self.plan.priority, within_s=within_s)
        part, beside = self.files.part(level.name), NOTHING if level.alone else self._noting()
        return record_command(
            self.plan, options.command, part, on=on, capture=capture, within_s=within_s, beside=beside
        )

    def _noting(self) -> Beside:
        """What notes the allocations of a command."""
        if self.probed is not None:
            return Beside(watching=partial(self.probed.watching, program=find_command(self.options.command)))
        if self.heap_recorder is None:
            return NOTHING
        logs = self.files.part(LOGS)
        logs.mkdir()
        others = os.environ.get("LD_PRELOAD", "")
        preloaded = f"{self.heap_recorder}:{others}" if others else str(self.heap_recorder)
        return Beside({"LD_PRELOAD": preloaded, "LINEMATE_HEAP": str(logs.absolute())})

    def _row(
        self, level: _Level, recorded: Recorded, background_s: float, transfers: tuple[float, ...], echo: Say
    ) -> RecordedRun:
        ended, options = recorded.ended, self.options
        assert ended is not None
        metric = None
        if options.metric:
            echo(ended.output)
            if ended.status == 0 and not recorded.interrupted:
                metric = metric_of(ended.output, options.metric, options.command[0])
        return RecordedRun(
            level.name,
            level.cpus,
            ended.wall_s,
            ended.user_s,
            ended.system_s,
            background_s,
            ended.status,
            metric,
            transfers,
        )


def _progress(level: _Level, number: int, runs: int, within_s: float) -> str:
    """Which run begins, and how long it may take."""
    where = "on one processor" if level.alone else f"on {count(len(level.cpus), 'processor')}"
    limit = f", for {within_s:.0f} s at the most" if within_s < math.inf else ""
    return f"run {number + 1} of {runs} {where}{limit}"


def _most_alone_s(runs: Sequence[RecordedRun]) -> float:
    """What a run on one processor may take: all processor time of one that was spread, and what it waited."""
    return ALONE_S + ALONE_TIMES * max((run.wall_s + run.user_s + run.system_s for run in runs), default=0.0)


def _late(spread: RecordedRun, within_s: float) -> str:
    return (
        f"the run on one processor had not ended after {within_s:.0f} s, where the one on {len(spread.cpus)} took "
        f"{spread.wall_s:.1f} s, and was ended: threads that spin for each other hand the processor over only when "
        "their time is up; there is no run without sharing, and gains are upper bounds"
    )
