"""A benchmark of two builds in alternation: the ratio with its spread.

Owns what is measured, a command of the user's at the highest priority that is allowed, and how it is worded.  The
protocol is ``linemate.turns``'s.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from linemate.fixing.child import Ended, run
from linemate.turns import Turn, background_share, inconclusive, metric_of, rounds_in_words, take_turns
from sharing.model.errors import LinemateError


@dataclass(frozen=True, slots=True)
class Benchmark:
    """``command`` is run in each build's folder.

    ``metric`` is a word of its output that a number follows (more is better), "" for seconds (less is better).
    """

    command: str
    metric: str = ""
    rounds: int = 5
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Measured:
    """``ratios`` are after over before of each round, turned so that more is better.

    ``repeated`` rounds were left out because of background load, ``disturbed`` ones count all the same.
    """

    before: tuple[float, ...]
    after: tuple[float, ...]
    unit: str
    repeated: int
    disturbed: int

    @property
    def ratios(self) -> tuple[float, ...]:
        pairs = zip(self.before, self.after, strict=True)
        return tuple((a / b if self.unit != "s" else b / a) for b, a in pairs)

    @property
    def middle(self) -> int:
        """The round whose ratio is the median; of an even number the lower of the two."""
        ratios = self.ratios
        return ratios.index(statistics.median_low(ratios))

    @property
    def median(self) -> float:
        """The one estimate: as rounds are pairs, the ratio of the two sides' medians may lie outside of their range."""
        return self.ratios[self.middle]

    @property
    def verdict(self) -> str:
        """``faster``, ``slower``, ``no clear difference`` or ``inconclusive``."""
        if inconclusive(self.median - 1, len(self.ratios), self.disturbed):
            return "inconclusive"
        low, high = min(self.ratios), max(self.ratios)
        return "faster" if low > 1 else "slower" if high < 1 else "no clear difference"

    def text(self) -> str:
        low, high = min(self.ratios), max(self.ratios)
        before, after = self.before[self.middle], self.after[self.middle]
        how = rounds_in_words(f"{len(self.ratios)} alternating rounds", self.repeated, self.disturbed)
        return (
            f"benchmark: {self.median:.2f} times as fast (from {low:.2f} to {high:.2f}): {self.verdict}; "
            f"{before:,.6g} → {after:,.6g} {self.unit} in the middle one of {how}"
        )


def compare(benchmark: Benchmark, before: Path, after: Path) -> Measured:
    """Run the benchmark in both folders, taking turns."""
    for folder in (before, after):
        _turn(benchmark, folder)  # fills the caches, for each the same
    rounds = take_turns(lambda: _turn(benchmark, before), lambda: _turn(benchmark, after), benchmark.rounds)
    return Measured(
        tuple(figure for (figure,) in rounds.first),
        tuple(figure for (figure,) in rounds.second),
        benchmark.metric or "s",
        rounds.repeated,
        rounds.disturbed,
    )


def _turn(benchmark: Benchmark, folder: Path) -> Turn:
    done = run(benchmark.command, folder, benchmark.timeout_s, priority=True)
    value = figure_of(done, benchmark.command, benchmark.metric)
    return Turn((value,), background_share(done.background_s, done.wall_s))


def figure_of(done: Ended, command: str, metric: str) -> float:
    """What a run measured: the number behind ``metric``, "" its seconds.

    Raises LinemateError for a run that failed, and for what is not above 0: figures are compared by their ratio.
    """
    if done.code != 0:
        raise LinemateError(f"`{command}` ended with {done.code}: {last_line(done.output)}")
    value = metric_of(done.output, metric, command) if metric else done.wall_s
    if not 0 < value < float("inf"):
        raise LinemateError(f"`{command}`: {metric or 'its time'} is not above 0")
    return value


def last_line(output: str) -> str:
    """The last thing a command said, short."""
    return next((line.strip()[:300] for line in reversed(output.splitlines()) if line.strip()), "no message")
