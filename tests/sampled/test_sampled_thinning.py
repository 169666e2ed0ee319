"""More samples than a verdict needs: a share of them stands for all, and the rest is counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.model.addressspaces import AddressSpaces
from sharing.model.samples import (
    MAPPING_DTYPE,
    SAMPLE_DTYPE,
    THREAD_DTYPE,
    Counts,
    Event,
    Recording,
    Registers,
    Samples,
    Table,
)
from sharing.model.thinning import chosen, level_of
from sharing.sampled.thinning import thinned

EVENTS = (Event("cpu-clock", regs_intr_mask=0b1011, regs_user_mask=0b1), Event("faults"))
NONE = np.zeros(0, np.uint64)


def rows_of(count: int) -> Table:
    table = np.zeros(count, SAMPLE_DTYPE)
    table["time"] = np.arange(count)
    table["regs_intr"] = table["regs_user"] = -1
    return table


def samples_of(table: Table, registers: Registers | None = None) -> Samples:
    maps = np.zeros(0, MAPPING_DTYPE)
    spaces = AddressSpaces(maps["start"], maps["end"])
    rest = (maps, (), (), np.zeros(0, THREAD_DTYPE), (), ())
    return Samples(table, EVENTS, *rest, registers or Registers(NONE, NONE), spaces, Counts(), Recording("test"))


@given(st.integers(1, 3000), st.integers(2, 500))
def test_what_is_kept_is_in_order_and_stands_for_all(count: int, limit: int) -> None:
    table = rows_of(count)
    table["period"] = 7
    kept = thinned(samples_of(table), limit).samples
    level = level_of(count, limit)
    factor = 1 << level
    assert count // factor <= len(kept) <= limit
    assert kept["time"].tolist() == chosen(0, count, level).tolist()
    assert (np.diff(kept["time"].astype(np.int64)) > 0).all()
    assert (kept["period"] == 7 * factor).all()
    # One of each run of ``factor``, so that no stretch of time is empty.
    assert (kept["time"] // factor == np.arange(len(kept))).all()


@pytest.mark.parametrize("period", [2, 3, 4, 5, 8, 10])
def test_a_program_that_repeats_keeps_its_shares(period: int) -> None:
    """One in ``period`` samples is of thread 1; taking every tenth row would take it always, or never."""
    table = rows_of(100_000)
    table["tid"] = table["time"] % period == 0
    kept = thinned(samples_of(table), 10_000).samples
    assert float(kept["tid"].mean()) == pytest.approx(1 / period, abs=0.02)


def test_few_samples_are_all_kept() -> None:
    samples = samples_of(rows_of(10))
    assert thinned(samples, 10) is samples


def test_registers_stay_with_their_samples() -> None:
    """Sample i has registers 100 i + {0, 1, 3} at the interrupt, in the file or beside it, and one of user mode."""
    count, inside = 1000, 400
    table, number = rows_of(count), np.arange(count)
    table["event"] = number % 5 == 4
    words = (100 * number[:, None] + np.array([0, 1, 3, 50])).astype(np.uint64)
    table["regs_intr"] = np.where(table["event"] == 0, 4 * number, -1)
    table["regs_user"] = np.where((table["event"] == 0) & (number % 3 == 0), 4 * number + 3, -1)
    released: list[int] = []
    registers = Registers(words[:inside].reshape(-1), words[inside:].reshape(-1), lambda: released.append(1))
    kept = thinned(samples_of(table, registers), 250)
    times = kept.samples["time"].astype(np.int64)
    rows = np.arange(len(times))
    for bit, rest in ((0, 0), (1, 1), (3, 3)):
        values, known = kept.register(rows, bit)
        assert (known == (times % 5 != 4)).all()
        assert (values[known] == 100 * times[known] + rest).all()
    values, known = kept.register(rows, 0, user=True)
    assert (known == ((times % 5 != 4) & (times % 3 == 0))).all()
    assert (values[known] == 100 * times[known] + 50).all()
    assert released
    assert not len(kept.registers.mapped)
