"""What measurements say of a loss: there is one, there is none that matters, or nobody can say.

Owns the three answers.  Which way a metric is better is ``sharing.knowledge.metrics``'s to say.  That nothing changed
by more than chance is no answer: where a large loss is within the interval too, the measurements are inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sharing.explain.statistics import Effect
from sharing.knowledge.metrics import Kind, kind_of_metric

# Kinds of figures that tell how fast a build is.
_OF_SPEED = (Kind.WORK, Kind.TIME, Kind.TAIL, Kind.CYCLES)


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


def is_time(metric: str) -> bool:
    """Whether a metric says how long work took, so that its turned-over value is work done."""
    return kind_of_metric(metric) is Kind.TIME


def is_work(metric: str) -> bool:
    """Whether a metric says how much was done: more is better."""
    return kind_of_metric(metric) is Kind.WORK


def loss_of(changes: Iterable[tuple[str, str, Effect]], matters: float) -> Loss:
    """(metric, what to call it, its change) of all that was tested → what they say of a loss.

    ``matters``: the smallest loss that is worth a search.  Each metric speaks for itself: one that lost is a loss
    whatever others say, and one whose direction nobody knows leaves a change of it open.  Figures that never vary are
    no evidence, and what work used beside time neither accuses nor clears.
    """
    tested = [
        (kind, metric, name, e)
        for metric, name, e in changes
        if e.low is not None and e.high is not None and (e.low != e.high or e.change != 0)
        for kind in (kind_of_metric(metric),)
        if kind is not Kind.RESOURCES
    ]
    known = [item for item in tested if item[0] is not Kind.UNKNOWN]
    sure = [(_bounds(metric, e), name, e) for _, metric, name, e in known if e.significant]
    lost = [(bounds, name, e) for bounds, name, e in sure if bounds[0] > 0]
    if lost:
        bounds, name, effect = max(lost, key=lambda item: item[0][0])
        return Loss(Answer.LOSS, name, effect, bounds[1])
    left = [(_bounds(metric, e)[1], name, e) for kind, metric, name, e in known if kind in _OF_SPEED]
    unknown = [(name, e) for kind, _, name, e in tested if kind is Kind.UNKNOWN]
    either = [(max(abs(e.low or 0.0), abs(e.high or 0.0)), name, e) for name, e in unknown]
    changed = [item for item in either if item[2].significant]
    # Beside figures of speed, one whose direction nobody knows counts only where it changed.
    left += changed if left else either
    if not left:
        return Loss(Answer.UNKNOWN)
    worst, name, effect = max(changed or left, key=lambda item: item[0])
    none = worst < matters and not changed
    return Loss(Answer.NONE if none else Answer.INCONCLUSIVE, name, effect, worst)


def _bounds(metric: str, effect: Effect) -> tuple[float, float]:
    """The least and the largest loss within the interval."""
    low, high = effect.low or 0.0, effect.high or 0.0
    return (-high, -low) if is_work(metric) else (low, high)
