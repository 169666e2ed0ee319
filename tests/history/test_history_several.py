"""Series with several steps, and noise that lasts from one revision to the next: which of the two it is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from sharing.history.dependence import innovations, lasting, rebuilt, steps_in, steps_overlap
from sharing.history.fitted import is_line
from sharing.history.steps import segment

Floats = npt.NDArray[np.float64]


def of_levels(*levels: float, seed: int, each: int = 8, deviation: float = 0.01, kept: float = 0.0) -> Floats:
    """Logarithms of ``each`` revisions of each level; ``kept`` is the share of its noise that a revision passes on."""
    rng = np.random.default_rng(seed)
    new = rng.normal(0, deviation * np.sqrt(1 - kept**2), len(levels) * each)
    noise = np.zeros(len(new))
    for at, own in enumerate(new):
        noise[at] = kept * noise[at - 1] + own if at else own
    out: Floats = np.log(np.repeat(levels, each)) + noise
    return out[:, None]


@pytest.mark.parametrize(
    ("levels", "places"),
    [
        ((3, 2, 2, 3), [8, 24]),  # a loss that is mended
        ((1, 1.05, 1.10, 1.15), [8, 16, 24]),  # a stair
        ((3, 2.7, 3, 2.7), [8, 16, 24]),  # no stretch stands apart from all others
        ((3, 3.3, 2.9, 3.2), [8, 16, 24]),
    ],
)
def test_each_of_several_steps_is_found_at_its_place(levels: tuple[float, ...], places: list[int]) -> None:
    found = [[s.at for s in segment(of_levels(*levels, seed=seed)).splits] for seed in range(4)]
    assert found.count(places) >= 3


def test_one_clean_step_is_one() -> None:
    """The near miss: to look for several makes none of one, and none of none."""
    found = [[s.at for s in segment(of_levels(1, 1, 0.9, 0.9, seed=seed)).splits] for seed in range(8)]
    assert found.count([16]) >= 7
    assert sum(bool(segment(of_levels(1, 1, 1, 1, seed=seed)).splits) for seed in range(8)) <= 2


def test_several_steps_are_no_noise_that_lasts_and_such_noise_is_no_steps() -> None:
    assert max(lasting(of_levels(1, 0.95, 1, 0.95, seed=seed)[:, 0]) for seed in range(6)) < 0.4
    assert np.median([lasting(of_levels(1, 1, 1, 1, seed=seed, kept=0.8)[:, 0]) for seed in range(6)]) > 0.5


def test_a_step_of_one_condition_is_no_noise_that_lasts() -> None:
    logs = 0.01 * np.random.default_rng(9).normal(size=(20, 6))
    logs[10:, 3] -= 0.06
    assert [(s.at, s.cell) for s in segment(logs).splits] == [(10, 3)]


def test_a_line_is_no_steps_and_a_stair_is_no_line() -> None:
    rng = np.random.default_rng(4)
    slide = (0.01 * rng.normal(size=40) - np.linspace(0, 0.06, 40))[:, None]
    assert is_line(slide, [20], 0.0)
    assert not is_line(of_levels(1, 1.05, 1.10, 1.15, seed=4), [8, 16, 24], 0.0)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_what_is_new_in_each_revision_shows_steps_as_the_likelihood_does(correlation: float) -> None:
    """Against generalised least squares with the inverse of the whole matrix of correlations."""
    n, places = 12, np.arange(2, 11)
    values = np.random.default_rng(1).normal(size=(n, 2))
    values /= np.sqrt(((values - values.mean(axis=0)) ** 2).mean(axis=0))
    values -= values.mean(axis=0)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    inverse = np.linalg.inv(np.where(apart == 0, 1.0, correlation**apart)) * (1 - correlation**2)
    mean = inverse.sum(axis=0) @ values / inverse.sum()
    steps = (np.arange(n)[:, None] >= places).astype(float)
    steps = steps - inverse.sum(axis=0) @ steps / inverse.sum()
    new = innovations(values, correlation)
    made = rebuilt(new, correlation)
    scale = (values - mean)[0] / made[0]
    np.testing.assert_allclose(made * scale, values - mean)
    np.testing.assert_allclose(steps_in(new, places, correlation) * scale, steps.T @ inverse @ (values - mean))
    np.testing.assert_allclose(steps_overlap(n, places, correlation), steps.T @ inverse @ steps)
