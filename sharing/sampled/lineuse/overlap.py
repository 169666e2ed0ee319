"""Do two threads use a line at the same time, or one after the other?

Owns the test on the order of samples in time.  A thread *uses* the line from one of its samples there to the next,
as long as these are not further apart than a few of its usual gaps.  Two threads are concurrent when samples of each
fall into the other's uses, phased when they do not (a barrier, one thread that prepares and another that works).

Why gaps and not windows of fixed length: sample periods run from 0.25 to 10 ms, and a line may get one sample of
fifty.  The usual gap follows both.  A thread that is descheduled has a long gap, which ends its use; while it is away
nobody is disturbed by it.  On a busy machine two threads may miss each other by chance: phases are only called so
where chance is unlikely to give them.  Phases of one or two samples cannot be told from concurrency, but for a thread
that was there before all uses of the other, or after them: whose stack it was first.  Uses of threads on one processor
never overlap in this sense, since a line that stays in one cache is not shared.  That is the scheduler's doing, not
the program's: threads that would overlap if processors did not count are time-sliced, not phased.

Many short threads may leave a sample or two each, which no pair of them can be judged by.  But a thread is first
sampled a period after it began: threads that each come when the one before is gone are sampled a period apart or more,
threads that run at the same time are mostly closer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.sampled import numbers
from sharing.sampled.interval import Share, wilson
from sharing.sampled.lineuse.use import Concurrency, Overlap

Times = npt.NDArray[np.uint64]
Cpus = npt.NDArray[Any]

MAX_SAMPLES = 20_000  # of each thread: evenly thinned beyond


def overlap(a: Times, b: Times, cpu_a: Cpus, cpu_b: Cpus) -> Overlap:
    """The samples of two threads on one line: times in nanoseconds, ascending, and processors (-1 unknown)."""
    counts = (len(a), len(b))
    if min(counts) < numbers.MIN_TESTED:
        few, many = (a, b) if len(a) < len(b) else (b, a)
        return Overlap(Concurrency.PHASED if _before_or_after(few, many) else Concurrency.UNKNOWN, counts, wilson(0, 0))
    # Both spans whole, or the ends of a run cut off threads that started earlier.
    (a, cpu_a), (b, cpu_b) = _thinned(a, cpu_a), _thinned(b, cpu_b)
    gap_a, gap_b = _usual_gap(a), _usual_gap(b)
    if gap_a <= 0 or gap_b <= 0:  # no clock: the order in the file is no time
        return Overlap(Concurrency.UNKNOWN, counts, wilson(0, 0))
    end_a, end_b = numbers.GAPS * gap_a, numbers.GAPS * gap_b
    inside = _within(a, cpu_a, b, cpu_b, end_b) + _within(b, cpu_b, a, cpu_a, end_a)
    share = wilson(inside, len(a) + len(b))
    changes, expected = _alternations(a, b)
    if share.high <= numbers.PHASED_TO and share.value <= numbers.PHASED_SHARE:
        chance = min(_chance(a, b, end_a, end_b), _chance(b, a, end_b, end_a))
        concurrency = Concurrency.PHASED if changes <= 1 or chance <= numbers.BY_CHANCE else Concurrency.UNKNOWN
        mixed = _mixed(a, b, end_a, end_b)
        if concurrency is Concurrency.PHASED and changes > 1 and mixed.low >= numbers.CONCURRENT_FROM:
            concurrency = Concurrency.TIME_SLICED
    elif share.low >= numbers.CONCURRENT_FROM and changes >= numbers.ALTERNATE * share.value * expected:
        concurrency = Concurrency.CONCURRENT
    else:
        concurrency = Concurrency.UNKNOWN
    return Overlap(concurrency, counts, share, changes, expected, round(max(end_a, end_b)))


def may_be_step(result: Overlap) -> bool:
    """Phases that are short for their samples: two threads that wait for one line in turn look like this, too.

    Samples show a thread where it waits.  Threads that fall into step wait one at a time, each for a while, though both
    use the line all along.
    """
    return result.concurrency is Concurrency.PHASED and result.alternations > numbers.CLEAR_PHASES * result.expected


def _before_or_after(few: Times, many: Times) -> bool:
    """Do a few samples all lie outside the other thread's whole use, which chance would hardly give?"""
    if not len(few) or len(many) < numbers.MIN_TESTED or _usual_gap(many) <= 0:
        return False
    first, last = many[0], many[-1]
    if ((few >= first) & (few <= last)).any():
        return False
    whole = float(max(few[-1], last) - min(few[0], first))
    return bool((1.0 - float(last - first) / whole) ** len(few) <= numbers.BY_CHANCE)


def in_turn(times: Times, threads: npt.NDArray[Any], period_ns: float) -> bool:
    """Did each of several threads come after the one before?  All samples of all of them, in order of time.

    Whatever the processors: threads that have one between them are close to each other as well.
    """
    changes = np.diff(threads) != 0
    gaps = np.diff(times)[changes].astype(np.float64)
    close = wilson(float(np.count_nonzero(gaps < numbers.CLOSE * period_ns)), len(gaps))
    return close.high <= numbers.PHASED_TO and close.value <= numbers.PHASED_SHARE


def _thinned(times: Times, cpus: Cpus) -> tuple[Times, Cpus]:
    step = -(-len(times) // MAX_SAMPLES)
    return times[::step], cpus[::step]


def _usual_gap(times: Times) -> float:
    return float(np.median(np.diff(times).astype(np.float64)))


def _within(x: Times, cpu_x: Cpus, y: Times, cpu_y: Cpus, limit: float) -> int:
    """How many of ``x`` fall between two samples of ``y`` that are one use, on another processor."""
    after = np.searchsorted(y, x, "right")
    inner = (after > 0) & (after < len(y))
    before, after = np.maximum(after - 1, 0), np.minimum(after, len(y) - 1)
    close = (y[after] - y[before]).astype(np.float64) <= limit
    apart = (cpu_x < 0) | (cpu_y[before] < 0) | (cpu_x != cpu_y[before])
    return int((inner & close & apart).sum())


def _mixed(a: Times, b: Times, limit_a: float, limit_b: float) -> Share:
    """The share of samples within the other's uses, whatever the processors."""
    nowhere = np.full(max(len(a), len(b)), -1)
    inside = _within(a, nowhere[: len(a)], b, nowhere[: len(b)], limit_b)
    inside += _within(b, nowhere[: len(b)], a, nowhere[: len(a)], limit_a)
    return wilson(inside, len(a) + len(b))


def _chance(x: Times, y: Times, limit_x: float, limit_y: float) -> float:
    """How likely uses of ``x`` all miss those of ``y`` where the two know nothing of each other."""
    uses = int((np.diff(x) > limit_x).sum()) + 1
    gaps = np.diff(y).astype(np.float64)
    span = float(max(x[-1], y[-1]) - min(x[0], y[0]))
    using = float(gaps[gaps <= limit_y].sum()) / span if span > 0 else 0.0
    return float((1.0 - min(using, 1.0)) ** uses)


def _alternations(a: Times, b: Times) -> tuple[int, float]:
    """Changes from one thread to the other in order of time, and what random order gives (Wald and Wolfowitz)."""
    who = np.concatenate([np.zeros(len(a), np.int8), np.ones(len(b), np.int8)])
    order = np.argsort(np.concatenate([a, b]), kind="stable")
    changes = int(np.count_nonzero(np.diff(who[order])))
    return changes, 2.0 * len(a) * len(b) / (len(a) + len(b))
