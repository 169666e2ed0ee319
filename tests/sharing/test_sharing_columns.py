"""Rows of a table by what a field says: the same as looking at all, and known again while the table is there."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.basics.columns import distinct_in, having, in_order, rows_having, those_having
from sharing.basics.kept import same_places
from sharing.model.image import CALL_DTYPE, Table
from sharing.static.everysite import raised


def calls(callees: list[int], functions: list[int]) -> Table:
    table = np.zeros(len(callees), CALL_DTYPE)
    table["ip"] = np.arange(len(callees)) * 5
    table["callee"], table["function"] = callees, functions
    return table


@pytest.mark.parametrize("many", [0, 1, 40, 3_000])
@pytest.mark.parametrize("wanted", [0, 1, 7, 2_000])
def test_rows_are_those_that_looking_at_all_finds(many: int, wanted: int) -> None:
    draw = np.random.default_rng(many * 100_003 + wanted)
    table = calls(draw.integers(0, 900, many).tolist(), draw.integers(-1, 60, many).tolist())
    for field in ("ip", "callee", "function"):
        others = draw.integers(-1 if field == "function" else 0, 900, wanted)
        members = set(others.tolist())
        expected = [row for row, value in enumerate(table[field].tolist()) if value in members]
        for form in (others, others.tolist()):
            assert rows_having(table, field, form).tolist() == expected
            assert np.flatnonzero(having(table, field, form)).tolist() == expected
            assert those_having(table, field, form).tolist() == table[expected].tolist()


def test_values_that_a_field_cannot_have_are_nowhere_in_it() -> None:
    table = calls([0, 2**64 - 1, 7, 2**63], [-1, 0, 2**31 - 1, 5])
    assert rows_having(table, "callee", np.array([-1, 7], np.int64)).tolist() == [2]
    assert rows_having(table, "callee", np.array([2**64 - 1, 2**63], np.uint64)).tolist() == [1, 3]
    assert rows_having(table, "function", np.array([2**32 - 1, 2**64 - 1, 5], np.uint64)).tolist() == [3]
    assert rows_having(table, "function", [-1, 2**31 - 1, 2**40]).tolist() == [0, 2]
    assert rows_having(table, "function", -1).tolist() == [0]


def test_rows_in_order_of_a_field_keep_the_order_of_equal_ones() -> None:
    rows, callees = in_order(calls([5, 3, 5, 3, 0], [0] * 5), "callee")
    assert rows.tolist() == [4, 1, 3, 0, 2]
    assert callees.tolist() == [0, 3, 3, 5, 5]
    rows, callees = in_order(calls([1, 1, 2], [0] * 3), "callee")
    assert (rows.tolist(), callees.tolist()) == ([0, 1, 2], [1, 1, 2])


def test_a_field_is_sorted_once_for_a_table_and_for_its_copies_that_differ_in_rarity() -> None:
    table = calls([5, 3, 5], [2, 1, 2])
    known = in_order(table, "callee")[0]
    assert in_order(table, "callee")[0] is known
    seldom = raised(table, np.array([True, False, False]))
    assert seldom["rarity"].tolist() != table["rarity"].tolist()
    assert in_order(seldom, "callee")[0] is known
    assert in_order(same_places(table, table.copy()), "callee")[0] is known
    assert in_order(table.copy(), "callee")[0] is not known


def test_rows_are_the_same_before_a_field_is_sorted_and_afterwards() -> None:
    draw = np.random.default_rng(3)
    table = calls(draw.integers(0, 90, 2000).tolist(), [0] * 2000)
    for wanted in [*range(90), [3, 5, 8, 13, 21], [1, 1]] * 2:
        assert (
            rows_having(table, "callee", wanted).tolist() == np.flatnonzero(np.isin(table["callee"], wanted)).tolist()
        )
    assert distinct_in(table, "callee").tolist() == sorted(set(table["callee"].tolist()))
    assert distinct_in(table.copy(), "callee").tolist() == distinct_in(table, "callee").tolist()
