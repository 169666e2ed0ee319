"""A loss by the number of threads, clients or connections at work: what it is at each, and whether it grows with them.

Owns the trend and what it says of causes.  A loss that one thread has as well is one of the code; one that grows with
the threads comes from what they do to each other.  Where the levels are not measured, or the trend is not clear,
nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from sharing.explain import numbers
from sharing.explain.causes.base import ranked
from sharing.explain.losses import is_time, is_work
from sharing.explain.statistics import Effect
from sharing.explain.tables.base import Labels
from sharing.explain.tables.figures import number
from sharing.model.comparison import Cause, CauseKind

MAX_SHOWN = 6  # conditions, one by one
# Columns that say how many work at once; other levels (``n``) may be the size of the work.
_AT_ONCE = re.compile(
    r"con(currency|nections?)|threads?|thr|clients?|users?|workers?|procs?|process(es)?", re.IGNORECASE
)


class Cell(Protocol):
    """One metric under one set of conditions, in both builds."""

    @property
    def metric(self) -> str: ...
    @property
    def labels(self) -> Labels: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def needed(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Growth:
    """A loss that grows with the numbers in the column ``level``; ``most`` is the one at which it is largest.

    ``sure``: by repetitions the loss at most threads is larger than that at the fewest.
    """

    metric: str
    level: str
    most: str
    sure: bool

    @property
    def load(self) -> str:
        """``32 threads``."""
        return f"{self.most} {self.level}" if self.level.endswith("s") else f"{self.level} {self.most}"


def loss_at(cell: Cell) -> float:
    """How much less is done, relative; below 0 where it is more."""
    change = cell.effect.change
    if is_work(cell.metric):
        return -change
    return change / (1 + change) if change > -1 else -1.0


def told_by_conditions(cells: Sequence[Cell], metric: str) -> str:
    """The change of a metric under each of its conditions, or from the worst to the best of many; "" for one."""
    mine = sorted((c for c in cells if c.metric == metric), key=_by_numbers)
    if len(mine) < 2:
        return ""
    changes = [f"{100 * c.effect.change:+.1f}%" for c in mine]
    names = {name for c in mine for name, _ in c.labels}
    varying = [name for name in names if len({dict(c.labels).get(name) for c in mine}) > 1]
    if len(mine) > MAX_SHOWN or len(varying) != 1:
        worst_first = sorted(mine, key=lambda c: -loss_at(c))
        return (
            f"{metric} {100 * worst_first[0].effect.change:+.1f}% to {100 * worst_first[-1].effect.change:+.1f}% "
            f"under {len(mine)} conditions"
        )
    (name,) = varying
    levels = [dict(c.labels).get(name, "") for c in mine]
    told = [f"{change} {_under(level)}" for change, level in zip(changes, levels, strict=True)]
    return f"{metric} by {name}: {', '.join(told)}"


def _under(level: str) -> str:
    return f"at {level}" if number(level) is not None else f"with {level}" if level else "without"


def growth_of(cells: Sequence[Cell]) -> Growth | None:
    """The first metric of speed whose loss grows clearly with a level, everything else being equal; None for none."""
    for is_kind in (is_work, is_time):
        for (metric, level, _), series in _series(c for c in cells if is_kind(c.metric)).items():
            if found := _grows(metric, level, series):
                return found
    return None


def _series(cells: Iterable[Cell]) -> dict[tuple[str, str, Labels], list[Cell]]:
    """Cells that differ in one level alone, by metric, level and what else was the same; the lowest level first."""
    out: dict[tuple[str, str, Labels], list[Cell]] = {}
    for cell in cells:
        for name, text in cell.labels:
            if _AT_ONCE.fullmatch(name.strip()) and number(text) is not None:
                rest = tuple(label for label in cell.labels if label[0] != name)
                out.setdefault((cell.metric, name, rest), []).append(cell)
    for (_, name, _), series in out.items():
        series.sort(key=lambda c: _number(c, name))
    return out


def _number(cell: Cell, name: str) -> float:
    return number(dict(cell.labels).get(name, "")) or 0.0


def _by_numbers(cell: Cell) -> tuple[tuple[float, str], ...]:
    return tuple((number(text) or 0.0, text) for _, text in cell.labels)


def _grows(metric: str, level: str, series: Sequence[Cell]) -> Growth | None:
    losses = [loss_at(cell) for cell in series]
    if len(series) < 2:
        return None
    few, many = series[0], series[-1]
    sure = _apart(few, many)
    if not sure and many.effect.p is not None and not many.needed:
        return None  # enough repetitions, and they do not say so
    if len(series) < (2 if sure else numbers.GROWS_LEVELS):
        return None
    top = losses[-1]
    if top < (numbers.GROWS_LEAST if sure else numbers.GROWS_LEAST_ONCE) or losses[0] > top * numbers.GROWS_FROM:
        return None
    slack = top * numbers.GROWS_SLACK
    if any(here < max(losses[: at + 1]) - slack for at, here in enumerate(losses)):
        return None
    return Growth(metric, level, dict(many.labels)[level], sure)


def _apart(few: Cell, many: Cell) -> bool:
    """Whether the intervals say that more is lost at many than at few."""
    bounds = [(c.effect.low, c.effect.high) for c in (few, many)]
    (low, high), (least, most) = bounds
    if low is None or high is None or least is None or most is None or not many.effect.significant:
        return False
    return most < low if is_work(many.metric) else least > high


def weighed(causes: Iterable[Cause], found: Growth) -> tuple[Cause, ...]:
    """What threads do to each other is the more likely cause, plainly slower code the less; half as much if unsure."""
    share = 1.0 if found.sure else numbers.GROWS_UNSURE
    return ranked(_weighed(cause, found, share) for cause in causes)


def _weighed(cause: Cause, found: Growth, share: float) -> Cause:
    if cause.improves:
        return cause
    if cause.kind in (CauseKind.LAYOUT, CauseKind.CONTENTION):
        if cause.strength < numbers.PLAUSIBLE:
            return cause  # a trend is no evidence of this or that pair
        strength = cause.strength + (1 - cause.strength) * numbers.GROWS_RAISES * share
        why = f"the loss grows with {found.level}, as what threads do to each other does"
    elif cause.kind is CauseKind.CODE:
        strength = cause.strength * (1 - (1 - numbers.GROWS_LOWERS) * share)
        why = f"the loss grows with {found.level}: plainly slower code costs few of them as much"
    else:
        return cause
    return msgspec.structs.replace(cause, strength=round(strength, 3), evidence=(*cause.evidence, why))


def sentence(found: Growth, causes: Iterable[Cause]) -> str:
    """What the trend says, and where no cause is of that kind, what decides."""
    named = any(
        c.kind in (CauseKind.LAYOUT, CauseKind.CONTENTION) and not c.improves and c.strength >= numbers.PLAUSIBLE
        for c in causes
    )
    decide = f"recordings of both builds at {found.load} decide"
    left = "" if named else f"; no likely cause of that kind was found: {decide}"
    return (
        f"the loss grows with {found.level}: that speaks for what threads do to each other (locks, lines that they "
        f"share) and against plainly slower code, unless few of them leave the machine waiting{left}"
    )
