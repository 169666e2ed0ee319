"""Timing several commands against each other on a machine that others use too.

Owns the protocol: the commands take turns, at the highest priority that is allowed; the processor time that
others took meanwhile is watched, and a round that was disturbed is measured again.  Knows nothing of what is
measured.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# What others may take of one processor before a run counts as disturbed, and the resolution of the figure.
_DISTURBED_SHARE = 0.05
_RESOLUTION_S = 0.03
_HIGHEST_PRIORITY = -20


class Unavailable(Exception):
    """A benchmark cannot run here; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: wall seconds, processor seconds of the command, and of everyone else meanwhile (steal included)."""

    wall_s: float
    own_s: float
    others_s: float
    stdout: str
    stderr: str
    returncode: int

    @property
    def disturbed(self) -> bool:
        return self.others_s > max(_RESOLUTION_S, _DISTURBED_SHARE * self.wall_s)


@dataclass(slots=True)
class Series:
    """One figure of one contender, a value a round."""

    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        return min(self.values), max(self.values)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rounds of a comparison: a series for each contender, in the order asked for.

    ``repeated`` rounds were measured again, ``disturbed`` ones of those that count stayed disturbed.
    """

    series: dict[str, Series]
    repeated: int
    disturbed: int

    def ratios(self, name: str, base: str) -> Series:
        """``name`` over ``base``, round by round: what drifts over time cancels out."""
        pairs = zip(self.series[name].values, self.series[base].values, strict=True)
        return Series([value / reference for value, reference in pairs])


def _busy_s() -> float:
    """Processor seconds that all processors spent on anything since boot, steal included."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S


def raise_priority() -> None:
    """Before others from now on, where that is allowed; where it is not, more rounds are disturbed."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _HIGHEST_PRIORITY)


def run_closely(command: Sequence[str]) -> Run:
    """Run a command of a fraction of a second, its output dropped: it starts without a copy of this process."""
    own_before, busy_before, start = os.times(), _busy_s(), time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    _, status, used = os.wait4(os.posix_spawn(command[0], list(command), os.environ, file_actions=quiet), 0)
    wall_s, busy_s, own = time.perf_counter() - start, _busy_s() - busy_before, os.times()
    own_s, mine_s = used.ru_utime + used.ru_stime, own.user + own.system - own_before.user - own_before.system
    others_s = max(0.0, busy_s - own_s - mine_s)
    return Run(wall_s, own_s, others_s, "", "", os.waitstatus_to_exitcode(status))


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, keep_output: bool = False) -> Run:
    """Run a command once.  Output goes to /dev/null unless kept; the peers write hundreds of megabytes."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        own_before, busy_before, start = os.times(), _busy_s(), time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output if keep_output else subprocess.DEVNULL,
            stderr=errors,
            env=env,
            preexec_fn=raise_priority,
        )
        process.wait()
        wall_s, busy_s, own = time.perf_counter() - start, _busy_s() - busy_before, os.times()
        own_s = (own.children_user - own_before.children_user) + (own.children_system - own_before.children_system)
        mine_s = (own.user - own_before.user) + (own.system - own_before.system)
        errors.seek(0)
        output.seek(0)
        return Run(
            wall_s,
            own_s,
            max(0.0, busy_s - own_s - mine_s),
            output.read().decode(errors="replace"),
            errors.read().decode(errors="replace"),
            process.returncode,
        )


def seconds(command: Sequence[str], *, accept: frozenset[int] = frozenset({0})) -> Callable[[], tuple[float, bool]]:
    """A contender whose figure is the wall time of a command."""

    def measure() -> tuple[float, bool]:
        done = run(command)
        _ended_well(command, done, accept)
        return done.wall_s, done.disturbed

    return measure


def processor_seconds(
    command: Sequence[str], *, accept: frozenset[int] = frozenset({0}), wall_s: list[float] | None = None
) -> Callable[[], tuple[float, bool]]:
    """A contender whose figure is the processor time of a command, which others hardly change; wall times go into a
    list.
    """

    def measure() -> tuple[float, bool]:
        done = run(command)
        _ended_well(command, done, accept)
        if wall_s is not None:
            wall_s.append(done.wall_s)
        return done.own_s, False

    return measure


def _ended_well(command: Sequence[str], done: Run, accept: frozenset[int]) -> None:
    if done.returncode not in accept:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"{Path(command[0]).name} ended with {done.returncode}: {reason}")


def compare(contenders: Mapping[str, Callable[[], tuple[float, bool]]], rounds: int) -> Comparison:
    """Measure all contenders ``rounds`` times, taking turns in alternating order.

    A contender returns its figure and whether the run was disturbed.  A round with a disturbed run is measured
    again, up to twice the rounds in all; after that it counts as it is.
    """
    series = {name: Series() for name in contenders}
    order = list(contenders)
    repeats_left, repeated, disturbed_rounds = rounds, 0, 0
    for contender in contenders.values():
        contender()  # fills the page cache, for each the same
    for number in range(rounds):
        while True:
            figures = {name: contenders[name]() for name in (order if number % 2 == 0 else reversed(order))}
            disturbed = any(was for _, was in figures.values())
            if not disturbed or repeats_left == 0:
                break
            repeats_left -= 1
            repeated += 1
        disturbed_rounds += disturbed
        for name, (value, _) in figures.items():
            series[name].values.append(value)
    return Comparison(series, repeated, disturbed_rounds)


def peak_rss_bytes(command: Sequence[str]) -> int:
    """The most memory that a command and its descendants held at once, in bytes.

    Sampled every few milliseconds; pages that two of its processes share count twice.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _tree_rss_bytes(process.pid))
        time.sleep(0.005)
    return peak


def _tree_rss_bytes(pid: int) -> int:
    total, waiting = 0, [pid]
    while waiting:
        folder = f"/proc/{waiting.pop()}"
        # A process may end between two reads.
        with contextlib.suppress(OSError):
            with open(f"{folder}/statm") as file:
                total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in os.listdir(f"{folder}/task"):
                with open(f"{folder}/task/{task}/children") as file:
                    waiting += map(int, file.read().split())
    return total
