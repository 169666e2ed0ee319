"""Looking for values in tables: the quick ways say what the plain ones do."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sharing.model.arrays import among, copied, distinct, picked, sorting, stacked
from sharing.model.image import VARIABLE_DTYPE
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


_LAST = 2**64 - 1
_ADDRESSES = st.one_of(st.integers(0, 40), st.integers(_LAST - 40, _LAST))


@given(variables=st.lists(st.tuples(_ADDRESSES, st.integers(0, 9)), max_size=6), others=st.lists(_ADDRESSES))
@example(variables=[], others=[0, 7])
@example(variables=[(8, 0), (8, 4), (20, 0)], others=[])
@example(variables=[(_LAST - 3, 4)], others=[])
def test_variables_at_addresses_are_those_at_each(variables: list[tuple[int, int]], others: list[int]) -> None:
    table = np.zeros(len(variables), VARIABLE_DTYPE)
    for row, (address, size) in enumerate(sorted(variables)):
        table["address"][row], table["size"][row] = address, size
    image = dataclasses.replace(Builder().image(), variables=table)
    edges = [at for address, size in variables for at in (address - 1, address, address + size - 1, address + size)]
    addresses = [at for at in (*edges, *others) if 0 <= at <= _LAST]
    rows = image.variables_at(np.array(addresses, np.uint64))
    assert rows.dtype == np.int64
    assert rows.tolist() == [image.variable_at(at) for at in addresses]


def test_a_variable_without_a_size_has_its_first_byte() -> None:
    table = np.zeros(1, VARIABLE_DTYPE)
    table["address"] = 8
    image = dataclasses.replace(Builder().image(), variables=table)
    assert image.variables_at(np.array([7, 8, 9], np.uint64)).tolist() == [-1, 0, -1]


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


_ROW = np.dtype([("key", "<u8"), ("small", "u1"), ("rest", "<u4")])


def _table(n: int) -> np.ndarray[Any, Any]:
    table = np.zeros(n, _ROW)
    table["key"], table["small"], table["rest"] = np.arange(n) * 3, np.arange(n) % 5, np.arange(n)[::-1]
    return table


@pytest.mark.parametrize("n", [0, 1, 50])
def test_rows_are_picked_by_places_and_by_a_mask(n: int) -> None:
    table = _table(n)
    mask = table["small"] == 1
    for which in (mask, np.flatnonzero(mask), np.flatnonzero(mask)[::-1]):
        found = picked(table, which)
        assert (found == table[which]).all()
        assert found.dtype == table.dtype
        found["key"] = 7
    assert (table == _table(n)).all()  # what is picked is a copy


def test_tables_are_stacked_in_order() -> None:
    table, part = _table(9), _table(30)[10:20:2]
    assert (stacked([table, part, table[:0]]) == np.concatenate([table, part])).all()
    assert stacked([table, part]).dtype == _ROW


def test_tables_of_two_kinds_are_stacked_by_their_fields() -> None:
    wide = np.dtype([("key", "<u8"), ("small", "u1"), ("rest", "<u8")])
    assert stacked([_table(3), _table(3).astype(wide)])["rest"].tolist() == [2, 1, 0, 2, 1, 0]


def test_a_copied_table_can_be_changed_alone() -> None:
    table = _table(5)
    same = copied(table[1:4])
    assert (same == table[1:4]).all()
    same["rest"] = 0
    assert (table == _table(5)).all()


@pytest.mark.parametrize("dtype", ["<u8", "<i8", "<i4", "<u1"])
@pytest.mark.parametrize("many", [0, 1, 1_000])
def test_places_are_sorted_as_a_stable_sort_does(dtype: str, many: int) -> None:
    draw = np.random.default_rng(many)
    info = np.iinfo(dtype)
    near = draw.integers(0, 100, many).astype(dtype)
    for values in (near, near + np.array(info.min, dtype), np.array(info.max, dtype) - near, draw.permutation(near)):
        assert sorting(values).tolist() == np.argsort(values, kind="stable").tolist()
    wide = np.append(near, np.array([info.min, info.max], dtype))
    assert sorting(wide).tolist() == np.argsort(wide, kind="stable").tolist()


_RANGES = [
    (0, 3),
    (0, 300),
    (-5, 60_000),
    (0, 2**32 - 1),
    (-(2**31), 2**31),
    (2**62, 2**62 + 2**32),
    (2**63 - 2**31, 2**63 - 1),
    (-(2**63), 2**63 - 1),
    (2**64 - 2**31, 2**64 - 1),
]


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("many", [0, 1, 5, 300, 9000])
@pytest.mark.parametrize("zeros", [False, True])
def test_numbers_near_to_each_other_are_sorted_and_told_apart_as_all_are(dtype: str, many: int, zeros: bool) -> None:
    draw, limits = np.random.default_rng(many), np.iinfo(dtype)
    for low, high in _RANGES:
        first, last = max(low, limits.min), min(high, limits.max)
        if first >= last:
            continue
        values = draw.integers(first, last, many, dtype=dtype, endpoint=True)
        values[:2] = (first, last)[:many]
        if zeros:  # as of calls that name no function
            values[2::7] = 0
        assert sorting(values).tolist() == np.argsort(values, kind="stable").tolist()
        found = distinct(values)
        assert found.dtype == values.dtype
        assert found.tolist() == sorted(set(values.tolist()))
        assert distinct(np.sort(values)).tolist() == found.tolist()


def test_rows_that_differ_are_told_apart() -> None:
    rows = np.array([(2, 1), (2, 1), (1, 5), (2, 1)], [("a", "u8"), ("b", "i4")])
    assert distinct(rows).tolist() == [(1, 5), (2, 1)]
