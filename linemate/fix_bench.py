"""A benchmark of two builds in alternation: the ratio with its spread.

Owns the protocol: the two take turns at the highest priority that is allowed, the order changes every round, and a
round that others disturbed is measured again.  What is measured is a command of the user's.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from linemate.fix_child import Ended, run
from sharing.model.errors import LinemateError

# What others may take of one processor before a run counts as disturbed, and the resolution of the figure.
_DISTURBED_SHARE = 0.05
_RESOLUTION_S = 0.03
_CLEAR = 0.1  # a difference that other load does not explain, if all rounds agree on it
_MOST_ROUNDS = 3  # times the rounds asked for
_NUMBER = r"[=:\s]*([-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"


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

    ``repeated`` rounds were left out because others used the processors, ``disturbed`` ones count all the same.
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
    def median(self) -> float:
        return statistics.median(self.ratios)

    def text(self) -> str:
        low, high = min(self.ratios), max(self.ratios)
        before, after = statistics.median(self.before), statistics.median(self.after)
        how = f"{len(self.ratios)} alternating rounds"
        if self.repeated:
            how += f" ({self.repeated} more left out: other load)"
        if self.disturbed:
            how += f", {self.disturbed} of them disturbed by other load: better measured on a quiet machine"
        verdict = "faster" if low > 1 else "slower" if high < 1 else "no clear difference"
        if 2 * self.disturbed > len(self.ratios) and abs(self.median - 1) < _CLEAR:
            verdict = "inconclusive"
        return (
            f"benchmark: {self.median:.2f} times as fast (from {low:.2f} to {high:.2f}): {verdict}; "
            f"{before:,.6g} → {after:,.6g} {self.unit}, medians of {how}"
        )


def compare(benchmark: Benchmark, before: Path, after: Path) -> Measured:
    """Run the benchmark in both folders, taking turns.

    Rounds that others disturbed are measured again, up to twice the rounds more; of all, the least disturbed count.
    """
    contenders = (before, after)
    for folder in contenders:
        _figure(benchmark, folder)  # fills the caches, for each the same
    rows: list[tuple[float, int, float, float]] = []  # worst disturbance of the two runs, number, figures
    quiet = 0
    while quiet < benchmark.rounds and len(rows) < _MOST_ROUNDS * benchmark.rounds:
        order = contenders if len(rows) % 2 == 0 else contenders[::-1]
        runs = {folder: _figure(benchmark, folder) for folder in order}
        worst = max(share for _, share in runs.values())
        quiet += worst <= _DISTURBED_SHARE
        rows.append((worst, len(rows), runs[before][0], runs[after][0]))
    kept = sorted(sorted(rows)[: benchmark.rounds], key=lambda row: row[1])
    return Measured(
        tuple(row[2] for row in kept),
        tuple(row[3] for row in kept),
        benchmark.metric or "s",
        len(rows) - len(kept),
        sum(row[0] > _DISTURBED_SHARE for row in kept),
    )


def _figure(benchmark: Benchmark, folder: Path) -> tuple[float, float]:
    """The figure of one run, and the share of one processor that others took meanwhile."""
    done = run(benchmark.command, folder, benchmark.timeout_s, priority=True)
    if done.code != 0:
        raise LinemateError(f"`{benchmark.command}` ended with {done.code}: {last_line(done.output)}")
    value = _read(benchmark, done)
    if value <= 0:
        raise LinemateError(f"`{benchmark.command}`: {benchmark.metric or 'its time'} is not above 0")
    return value, 0.0 if done.others_s <= _RESOLUTION_S else done.others_s / max(done.wall_s, _RESOLUTION_S)


def _read(benchmark: Benchmark, done: Ended) -> float:
    if not benchmark.metric:
        return done.wall_s
    found = re.findall(rf"(?<!\w){re.escape(benchmark.metric)}{_NUMBER}", done.output)
    if not found:
        raise LinemateError(f"`{benchmark.command}` prints no number behind '{benchmark.metric}'")
    return float(found[-1].replace(",", "").replace("_", ""))


def last_line(output: str) -> str:
    """The last thing a command said, short."""
    return next((line.strip()[:300] for line in reversed(output.splitlines()) if line.strip()), "no message")
