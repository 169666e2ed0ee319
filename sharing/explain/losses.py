"""What measurements say of a loss: there is one, there is none that matters, or nobody can say.

Owns which way a metric is better and the three answers.  That nothing changed by more than chance is none of them:
where a large loss is within the interval too, the measurements are inconclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sharing.explain.statistics import Effect

# Of times and failures less is better; of all others, and of whatever is counted for each second, more is.
_TIME = re.compile(
    r"latency|seconds?|\bs\b|\bms\b|\bus\b|\bns\b|duration|elapsed|response|\btime\b|wall", re.IGNORECASE
)
_RATE = re.compile(r"(?:per|/)[\W_]?s(?:ec(?:onds?)?)?(?![a-z])", re.IGNORECASE)
_FAILURES = re.compile(r"misses|deadlocks|errors", re.IGNORECASE)
# Figures of work done, of which more is better.
_MORE = re.compile(
    r"tps|qps|rps|iops|ops|transactions|quer(y|ies)|requests|throughput|rate\b|score|bandwidth|commits|inserts|"
    r"per.?sec|/ ?s(ec)?\b|[kmg]i?b/s|jobs|events|operations|iterations|mflops|gflops|speed",
    re.IGNORECASE,
)


class Answer(StrEnum):
    LOSS = "a loss"
    NONE = "no loss that matters"
    INCONCLUSIVE = "inconclusive"
    UNKNOWN = "unknown"  # nothing was tested


@dataclass(frozen=True, slots=True)
class Loss:
    """``name`` and ``effect`` are what says most: the largest loss, or the interval that reaches furthest.

    ``worst`` is the largest loss that the intervals leave open, relative: 0.05 is 5 %.
    """

    answer: Answer
    name: str = ""
    effect: Effect | None = None
    worst: float = 0.0


def is_less_better(metric: str) -> bool:
    """Whether less is better of a metric, by its name."""
    return is_time(metric) or _FAILURES.search(metric) is not None


def is_time(metric: str) -> bool:
    """Whether a metric says how long something took."""
    return _TIME.search(metric) is not None and _RATE.search(metric) is None


def is_work(metric: str) -> bool:
    """Whether a metric says how much was done: more is better."""
    more = _MORE.search(metric) is not None or _RATE.search(metric) is not None
    return more and not is_less_better(metric)


def loss_of(changes: Iterable[tuple[str, str, Effect]], matters: float) -> Loss:
    """(metric, what to call it, its change) of all that was tested → what they say of a loss.

    ``matters``: the smallest loss that is worth a search.  Where the direction of no metric is known, a change of any
    is a possible loss, and none of them is a sure one.
    """
    tested = [(metric, name, e) for metric, name, e in changes if e.low is not None and e.high is not None]
    known = [item for item in tested if is_less_better(item[0]) or is_work(item[0])]
    sure = [(_bounds(metric, e), name, e) for metric, name, e in known if e.significant]
    lost = [(bounds, name, e) for bounds, name, e in sure if bounds[0] > 0]
    if lost:
        bounds, name, effect = max(lost, key=lambda item: item[0][0])
        return Loss(Answer.LOSS, name, effect, bounds[1])
    if not tested:
        return Loss(Answer.UNKNOWN)
    open_ = [
        (_bounds(metric, e)[1] if known else max(abs(e.low or 0.0), abs(e.high or 0.0)), name, e)
        for metric, name, e in known or tested
    ]
    worst, name, effect = max(open_, key=lambda item: item[0])
    return Loss(Answer.NONE if worst < matters else Answer.INCONCLUSIVE, name, effect, worst)


def _bounds(metric: str, effect: Effect) -> tuple[float, float]:
    """The least and the largest loss within the interval."""
    low, high = effect.low or 0.0, effect.high or 0.0
    return (low, high) if is_less_better(metric) else (-high, -low)
