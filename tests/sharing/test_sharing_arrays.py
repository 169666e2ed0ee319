"""Looking for values in tables: the quick ways say what the plain ones do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sharing.model.arrays import among
from sharing.static import callees
from sharing.static.callees import functions_called
from tests.builders.image import Builder


@pytest.mark.parametrize("dtype", ["u8", "i8", "i4", "u1", "f8"])
@pytest.mark.parametrize("many", [0, 3, 100, 5_000, 40_000])
@pytest.mark.parametrize("wanted", [0, 1, 4, 5, 300, 6_000, 40_000])
def test_among_is_membership(dtype: str, many: int, wanted: int) -> None:
    draw = np.random.default_rng(many * 100_003 + wanted)
    low = 0 if dtype.startswith("u") else -60
    top = 60 if dtype.endswith("1") else 60_000
    values, others = (draw.integers(low, top, n).astype(dtype) for n in (many, wanted))
    if many and wanted:
        others[0] = values[-1]
    members = set(others.tolist())
    assert among(values, others).tolist() == [value in members for value in values.tolist()]


def test_among_keeps_apart_what_is_alike_in_the_upper_or_the_lower_half() -> None:
    values = np.arange(10_000, dtype=np.uint64) << np.uint64(32)
    wanted = np.array([5 << 32, 7, (8 << 32) + 1, 9_999 << 32, 1 << 63, 2**64 - 1], np.uint64)
    assert np.flatnonzero(among(values, wanted)).tolist() == [5, 9_999]


def test_what_calls_lead_to_is_that_of_the_table_and_the_functions_at_hand() -> None:
    b = Builder()
    b.function("main").call("second").call("write").call("first")
    b.function("first")
    b.function("second")
    image = b.image()
    rows = functions_called(image)
    assert rows.tolist() == [2, -1, 1]
    assert functions_called(image) is rows
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 1
    # The same calls, but one function fewer; and another table with the same functions.
    assert functions_called(dataclasses.replace(image, functions=image.functions[:2])).tolist() == [-1, -1, 1]
    turned = dataclasses.replace(image, calls=image.calls[::-1].copy())
    assert functions_called(turned).tolist() == [1, -1, 2]


def test_nothing_is_kept_of_a_table_that_is_gone() -> None:
    b = Builder()
    b.function("main").call("main")
    image = b.image()
    before = len(callees._called)
    functions_called(image)
    assert len(callees._called) == before + 1
    del image
    assert len(callees._called) == before
