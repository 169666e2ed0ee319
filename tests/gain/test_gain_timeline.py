"""From time that threads save to time that the run saves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sharing.sampled.speedup.timeline import Timeline, Walls

PERIOD_S = 250e-6


def run(*parts: tuple[int, float, float, float], processors: int = 2, stretch: float = 1.0) -> Walls:
    """Threads that run: (thread, from second, to second, share of its time that remains)."""
    time: list[Any] = []
    thread: list[Any] = []
    group: list[Any] = []
    for number, start, end, _ in parts:
        ticks = np.arange(round(start / PERIOD_S), round(end / PERIOD_S)) + 1
        time.append(ticks * 250_000)
        thread.append(np.full(len(ticks), number))
        group.append(np.full(len(ticks), len(group)))
    cost = np.full(sum(map(len, time)), PERIOD_S * stretch)
    made = Timeline(np.concatenate(time), np.concatenate(thread), np.concatenate(group), cost, processors, stretch)
    return made.walls(np.array([rest for *_, rest in parts]))


def test_nothing_saved_is_nothing_gained() -> None:
    walls = run((1, 0, 1, 1.0), (2, 0, 1, 1.0))
    assert walls.phased == pytest.approx(1.0, rel=2e-3)
    assert walls.in_step == pytest.approx(1.0, rel=2e-3)


def test_a_run_that_samples_made_quicker_is_as_long_as_without_them() -> None:
    # Half a second in which nothing ran stays what it is.
    parts = (1, 0, 1, 0.25), (1, 1.5, 2, 0.25)
    assert run(*parts).phased == pytest.approx(0.5 + 1.5 * 0.25, rel=0.01)
    assert run(*parts, stretch=4.0).phased == pytest.approx(0.5 + 4 * 1.5 * 0.25, rel=0.01)


def test_threads_that_save_the_same_save_it_of_the_run() -> None:
    walls = run((1, 0, 1, 0.25), (2, 0, 1, 0.25))
    assert walls.phased == pytest.approx(0.25, rel=0.01)


def test_the_slowest_thread_decides() -> None:
    walls = run((1, 0, 1, 0.2), (2, 0, 1, 0.8))
    assert walls.phased == pytest.approx(0.8, rel=0.01)


def test_a_short_thread_that_becomes_quicker_saves_nothing() -> None:
    assert run((1, 0, 0.3, 0.1), (2, 0, 1, 1.0)).phased == pytest.approx(1.0, rel=0.01)


def test_a_serial_phase_stays_what_it_was() -> None:
    # One thread prepares for a second, two share for a second.
    walls = run((0, 0, 1, 1.0), (1, 1, 2, 0.5), (2, 1, 2, 0.5))
    assert walls.phased == pytest.approx(1.5, rel=0.01)


def test_a_phase_is_cut_where_other_threads_take_over() -> None:
    # Each pair waits for its slower one: 0.8 + 0.6, not the slowest of all four.
    walls = run((1, 0, 1, 0.2), (2, 0, 1, 0.8), (3, 1, 2, 0.6), (4, 1, 2, 0.1))
    assert walls.phased == pytest.approx(1.4, rel=0.02)


def test_time_in_which_nobody_runs_is_kept() -> None:
    bursts = [(1, i * 0.01, i * 0.01 + 0.001, 0.5) for i in range(100)]
    walls = run(*bursts)
    assert 0.93 < walls.phased / 0.991 < 0.99


def test_more_threads_than_processors_share_what_is_saved() -> None:
    # Four threads take turns in slices of 5 ms on two processors; two of them get four times as fast.
    parts = [
        (pair * 2 + n, i * 0.01 + pair * 0.005, i * 0.01 + pair * 0.005 + 0.005, 0.25 if pair else 1.0)
        for i in range(50)
        for pair in (0, 1)
        for n in (0, 1)
    ]
    walls = run(*parts)
    assert walls.phased == pytest.approx(0.5 * 0.625, rel=0.03)


def test_in_step_every_moment_waits_for_its_slowest_thread() -> None:
    # Each thread is held up in one half of the run: a barrier after every step would hide all that is saved.
    walls = run((1, 0, 0.5, 0.5), (1, 0.5, 1, 1.0), (2, 0, 0.5, 1.0), (2, 0.5, 1, 0.5))
    assert walls.in_step == pytest.approx(1.0, rel=0.01)
    assert walls.phased == pytest.approx(0.75, rel=0.01)


def test_no_samples_take_no_time() -> None:
    empty = np.zeros(0)
    assert Timeline(empty.astype(np.uint64), empty.astype(np.int64), empty, empty, 2).walls(empty) == Walls(0.0, 0.0)
