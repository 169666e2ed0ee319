"""The numbers of a series: when one moves, another step or outlier is found in a small one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from sharing.basics.numbers import described
from sharing.history import numbers
from sharing.history.dependence import lasting
from sharing.history.judge import judge
from sharing.history.series import Series
from sharing.history.steps import segment, smallest_chance

Floats = npt.NDArray[np.float64]


def stepped(revisions: int = 20, cells: int = 1, at: int = 10, only: int | None = None, size: float = 0.03) -> Floats:
    """Logarithms with 1 % of noise and one step, of all cells or of one."""
    logs = np.log(1000) + 0.01 * np.random.default_rng(9).normal(size=(revisions, cells))
    logs[at:, slice(None) if only is None else only] -= size
    return logs


def far_off() -> object:
    """A step, and one result that is nearly three times the others."""
    logs = stepped()
    logs[3] += 1.0
    return segment(logs)


def blurred() -> object:
    """One of eight cells steps, the others are noise."""
    logs = np.log(1000) + 0.012 * np.random.default_rng(3).normal(size=(12, 8))
    logs[7:, 3] -= 0.05
    return segment(logs).splits


def series(*values: float) -> Series:
    return Series("tps", tuple(f"r{i}" for i in range(len(values))), ((),), tuple(((v,),) for v in values))


def judged(*values: float) -> object:
    found = judge(series(*values))
    return found.basis, found.outliers


def clearest(*values: float) -> object:
    """The clearest place of a step where none is certain."""
    return judge(series(*values)).best


def correlated() -> Floats:
    """Noise that lasts, and no step."""
    rng = np.random.default_rng(3)
    level = np.zeros(40)
    for at in range(1, 40):
        level[at] = 0.8 * level[at - 1] + 0.01 * rng.normal()
    return level[:, None]


def coming_back() -> Floats:
    """A loss of few revisions that is mended."""
    logs = np.log(1000) + 0.01 * np.random.default_rng(5).normal(size=(40, 1))
    logs[17:24] -= 0.025
    return logs


def alternating() -> Floats:
    """Four levels, of which none stands apart from all others."""
    return np.repeat([0.0, -0.05, 0.0, -0.05], 8)[:, None] + 0.01 * np.random.default_rng(5).normal(size=(32, 1))


def wild_pair() -> Floats:
    """A step, and in front of it two results in a row that are far off."""
    logs = np.log(1000) + 0.01 * np.random.default_rng(5).normal(size=(30, 1))
    logs[15:] -= 0.025
    logs[6:8] += 0.2
    return logs


def sliding() -> Floats:
    """A level that slides all the way."""
    return 0.01 * np.random.default_rng(5).normal(size=(40, 1)) - np.linspace(0, 0.2, 40)[:, None]


LEVEL = (1000.0, 1001.0, 999.0, 1000.5, 999.5)

Row = tuple[str, float, Callable[[], object]]
ROWS: list[Row] = [
    ("FAR", 1000.0, lambda: judged(*LEVEL, 1100.0, *LEVEL)),
    ("FAR_LEAST", 0.5, lambda: judged(*LEVEL, 1100.0, *LEVEL)),
    ("SIGMA", 1000.0, lambda: judged(*LEVEL, 1100.0, *LEVEL)),
    ("FEWEST_RESULTS", 100, lambda: judged(*LEVEL, 1100.0)),
    ("FEWEST_AROUND", 100, lambda: judged(*LEVEL, 1100.0, *LEVEL)),
    ("SLOPE_REVISIONS", 100, lambda: segment(sliding()).slopes),
    ("MIN_REVISIONS", 1, lambda: smallest_chance(np.arange(4))),
    ("CLIP", 0.1, far_off),
    ("AROUND", 1, lambda: segment(wild_pair()).splits),
    ("ALONE", 1.1, lambda: segment(stepped(cells=6, only=3, size=0.06)).splits),
    ("BLUR", 1e6, blurred),
    ("LONG_SERIES", 100, lambda: segment(correlated()).splits),
    ("FITTED_AWAY", 30.0, lambda: lasting(correlated()[:, 0])),
    ("MOST_CORRELATION", 0.3, lambda: lasting(correlated()[:, 0])),
    ("STEP_PRICE", 0.0, lambda: lasting(correlated()[:, 0])),
    ("MOST_STEPS", 1, lambda: segment(alternating()).splits),
    ("BEST_GUESS", 0.0, lambda: clearest(*LEVEL, 998.0)),
    ("ALL_STRETCHES", 8, lambda: segment(coming_back()).splits),
]


@pytest.mark.parametrize(("name", "other", "outcome"), ROWS, ids=[row[0] for row in ROWS])
def test_a_number_of_series_decides_what_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, outcome: Callable[[], object]
) -> None:
    before = outcome()
    monkeypatch.setattr(numbers, name, other)
    assert outcome() != before


def test_every_number_of_series_is_shown_to_decide_something() -> None:
    assert set(described(numbers)) == {row[0] for row in ROWS}
