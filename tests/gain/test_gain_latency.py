"""Latencies of accesses against those of the same kind to lines that nobody shares."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.model.attribution import PLACED_DTYPE, Attribution, Basis, TouchFlag
from sharing.model.image import AccessKind
from sharing.model.samples import SAMPLE_DTYPE
from sharing.sampled.speedup.latency import floors
from sharing.sampled.speedup.solo import Level
from tests.builders.levels import LINE, Spent, level

Accesses = list[tuple[int, AccessKind, bool]]


def floor_of(shared: Accesses, unshared: Accesses, *, addresses: bool = True) -> float:
    """The share that remains of the latency of ``shared``: (cycles, kind, atomic) of each access."""
    every = [*shared, *unshared]
    made: Level = level([Spent(1, "f", 0x1000, len(every) * 250e-6, LINE)])
    samples, rows = np.zeros(len(every), SAMPLE_DTYPE), np.zeros(len(every), PLACED_DTYPE)
    for i, (cycles, kind, atomic) in enumerate(every):
        samples[i]["weight"], rows[i]["kind"] = cycles, kind
        rows[i]["flags"] = TouchFlag.ATOMIC if atomic else 0
        rows[i]["basis"] = Basis.ADDRESS if addresses else Basis.DERIVED
    old = made.attribution.samples
    for name in samples.dtype.names or ():
        old.samples[name] = samples[name]
    one = Attribution(old, rows, (), made.attribution.threads, ("f",), ())
    here = np.arange(len(shared))
    return float(floors(one, here, np.zeros(len(shared), np.int64), 1)[0])


LOADS: Accesses = [(5, AccessKind.LOAD, False)] * 40


def test_a_line_costs_what_its_accesses_take_beyond_unshared_ones() -> None:
    assert floor_of([(100, AccessKind.LOAD, False)] * 10, LOADS) == pytest.approx(0.05)


def test_accesses_are_compared_with_their_own_kind() -> None:
    unshared: Accesses = [*LOADS, *[(25, AccessKind.RMW, True)] * 40]
    assert floor_of([(100, AccessKind.RMW, True)] * 10, unshared) == pytest.approx(0.25)


def test_misses_of_other_reasons_do_not_raise_the_level() -> None:
    unshared: Accesses = [*LOADS, *[(400, AccessKind.LOAD, False)] * 15]
    assert floor_of([(100, AccessKind.LOAD, False)] * 10, unshared) == pytest.approx(0.05)


def test_a_profile_without_unshared_accesses_is_compared_with_usual_ones() -> None:
    assert floor_of([(100, AccessKind.LOAD, False)] * 10, []) == pytest.approx(0.05)
    assert floor_of([(100, AccessKind.RMW, True)] * 10, []) == pytest.approx(0.2)


def test_accesses_that_are_quicker_than_usual_cost_nothing_more() -> None:
    assert floor_of([(4, AccessKind.LOAD, False)] * 10, LOADS) == pytest.approx(1.0)


def test_weights_of_samples_without_an_address_say_nothing() -> None:
    assert floor_of([(100, AccessKind.LOAD, False)] * 10, LOADS, addresses=False) == 0.0
