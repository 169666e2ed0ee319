"""Distinct values of columns agree with numpy's own, wherever the values lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.sampled.distinct import first_rows, unique_inverse


@given(
    st.sampled_from([np.int32, np.int64, np.uint64]),
    st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**31 - 1)), max_size=40),
)
def test_ranks_are_those_of_numpy(dtype: type, values: list[int]) -> None:
    column = np.array(values, dtype)
    distinct, number = unique_inverse(column)
    known, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    assert distinct.dtype == column.dtype
    assert distinct.tolist() == known.tolist()
    assert number.tolist() == inverse.tolist()
    assert first_rows(number, len(distinct)).tolist() == first.tolist()


@pytest.mark.parametrize("low", [0, -(2**62), 2**62])
def test_values_far_from_nought_and_far_apart(low: int) -> None:
    for width in (3, 2**40):
        column = low + np.array([width, 0, width, 1], np.int64)
        distinct, number = unique_inverse(column)
        assert distinct[number].tolist() == column.tolist()
        assert len(distinct) == 3
