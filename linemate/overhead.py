"""What recording costs: a command with perf and without, taking turns.

Owns the figures that are compared and how they become a share.  The protocol is ``linemate.turns``'s.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from linemate.turns import BackgroundLoad, Turn, background_share, inconclusive, metric_of, rounds_in_words, take_turns
from pmu.record import Plan, record_command, run_command
from pmu.workload import Ended
from sharing.model.errors import LinemateError
from sharing.model.process.scratch import beside
from sharing.model.process.stopping import Stopped
from sharing.model.recorded import MeasuredOverhead

WALL, PROCESSOR = "wall seconds", "processor seconds"
# Below this many seconds a figure is start-up and rounding.
_LEAST_S = 0.01
_TAIL = 0.025


def measure(
    plan: Plan, command: Sequence[str], folder: Path, pairs: int, metric: str = ""
) -> tuple[MeasuredOverhead, ...]:
    """One row a figure: the metric where there is one, else wall and processor time.

    Output of the command is taken and dropped.  Raises LinemateError where a run fails.
    """
    plan = dataclasses.replace(plan, priority=True)
    names = (metric,) if metric else (WALL, PROCESSOR)

    def turn(recorded: bool) -> Turn:
        background = BackgroundLoad()
        if recorded:
            done = record_command(plan, command, part, capture=True)
            if done.interrupted:
                raise Stopped(done.interrupted)
            assert done.ended is not None
            ended = done.ended
        else:
            ended = run_command(command, capture=True, priority=True)
        background_s = background.seconds()
        if ended.status:
            raise LinemateError(f"`{command[0]}` ended with {ended.status}: its overhead is not measured")
        return Turn(_figures(ended, metric, command[0]), background_share(background_s, ended.wall_s))

    with beside(folder / "overhead") as making:
        making.mkdir()
        part = making / "data"  # perf keeps an earlier one beside it
        turn(False)  # fills the caches, for each the same
        rounds = take_turns(lambda: turn(False), lambda: turn(True), pairs)
    rows = []
    for at, figure in enumerate(names):
        without = tuple(figures[at] for figures in rounds.first)
        with_perf = tuple(figures[at] for figures in rounds.second)
        if min(without) < (_LEAST_S if not metric else 1e-12):
            if metric:
                raise LinemateError(f"`{command[0]}`: {metric} is not above 0")
            continue
        rows.append(_row(figure, bool(metric), without, with_perf, rounds.repeated, rounds.disturbed))
    return tuple(rows)


def overhead_line(row: MeasuredOverhead) -> str:
    """The row in words."""
    before, after = statistics.median(row.without), statistics.median(row.with_perf)
    how = rounds_in_words(f"{len(row.without)} alternating pairs", row.repeated, row.disturbed)
    return (
        f"overhead: {row.cost:+.1%} (95 %: {row.low:+.1%} to {row.high:+.1%}){_verdict(row)}; "
        f"{row.figure} {before:,.6g} → {after:,.6g}, medians of {how}"
    )


def _verdict(row: MeasuredOverhead) -> str:
    if inconclusive(row.cost, len(row.without), row.disturbed):
        return ", inconclusive"
    return ", within the spread" if row.low <= 0 <= row.high else ""


def _figures(ended: Ended, metric: str, command: str) -> tuple[float, ...]:
    if metric:
        return (metric_of(ended.output, metric, command),)
    return (ended.wall_s, ended.user_s + ended.system_s)


def _row(
    figure: str,
    more_is_better: bool,
    without: tuple[float, ...],
    with_perf: tuple[float, ...],
    repeated: int,
    disturbed: int,
) -> MeasuredOverhead:
    """Cost of each pair: the share of speed, or of time, that perf takes."""
    pairs = zip(without, with_perf, strict=True)
    costs = [1 - after / before if more_is_better else after / before - 1 for before, after in pairs]
    low, high = interval(costs)
    return MeasuredOverhead(
        figure, more_is_better, without, with_perf, statistics.median(costs), low, high, repeated, disturbed
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """What holds the true median with 95 %, whatever the distribution: by the ranks of the values.

    With fewer than six values no ranks do: then the least and the greatest.
    """
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    # As many values are left out at each end as a fair coin leaves 2.5 % for.
    while rank < count // 2:
        outside += math.comb(count, rank) / 2**count
        if outside > _TAIL:
            break
        rank += 1
    leave_out = max(rank - 1, 0)
    return ordered[leave_out], ordered[count - 1 - leave_out]
