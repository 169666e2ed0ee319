"""How many times as much of an event a unit of work takes in the new build, as a whole: what turns shares into costs.

Owns the join of a benchmark's pace with how fast recordings collect events.  Shares of one run cannot show that what
has nearly all samples became dearer; samples for each unit of work can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sharing.explain import numbers
from sharing.explain.student import student


@dataclass(frozen=True, slots=True)
class Pace:
    """Work done in a second, new over old, with its interval; ``metric`` is the figure that says so."""

    metric: str
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Work:
    """What a unit of work takes, new over old, with its interval; the unit is that of ``metric``."""

    metric: str
    ratio: float
    low: float
    high: float

    def part(self, old_share: float, new_share: float) -> float:
        """How much of all that was lost is what had these shares of it; 0 where nothing was lost."""
        return (new_share * self.ratio - old_share) / (self.ratio - 1) if self.ratio > 1 else 0.0


def work_of(pace: Pace | None, old_rates: Sequence[float], new_rates: Sequence[float]) -> Work | None:
    """``rates``: events a second of each recording, 0 unknown.  None where the pace or a rate is not known."""
    if pace is None or not all((*old_rates, *new_rates)):
        return None
    old, new = ([math.log(rate) for rate in rates] for rates in (old_rates, new_rates))
    busier = sum(new) / len(new) - sum(old) / len(old)
    wide = max(math.log(pace.high / pace.ratio), math.log(pace.ratio / pace.low))
    reach = math.hypot(wide, _reach(old, new))
    middle = busier - math.log(pace.ratio)
    return Work(pace.metric, math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))


def _reach(old: Sequence[float], new: Sequence[float]) -> float:
    """Half the interval of the difference of two means, as recordings of one build differ; one each tells nothing."""
    free = len(old) + len(new) - 2
    if not free:
        return 0.0
    squares = sum((value - sum(side) / len(side)) ** 2 for side in (old, new) for value in side)
    return student(numbers.LEVEL, free) * math.sqrt(squares / free * (1 / len(old) + 1 / len(new)))
