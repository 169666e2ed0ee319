"""A result is computed once for a table, anew for another one or from something else, and goes with its table."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from sharing.basics.kept import Kept


def test_a_result_is_computed_once_for_a_table_and_what_else_it_is_of() -> None:
    kept: Kept[object] = Kept()
    table, other, names = np.zeros(2), np.zeros(2), ["a"]
    first = kept.of(table, (names,), object)
    assert kept.of(table, (names,), object) is first
    assert kept.of(other, (names,), object) is not first
    # Equal is not the same: whoever replaces a part of an image makes another one.
    assert kept.of(table, (["a"],), object) is not first


def test_nothing_is_kept_longer_than_its_table() -> None:
    kept: Kept[set[int]] = Kept()
    table = np.zeros(2)
    gone = weakref.ref(kept.of(table, (), lambda: {1}))
    gc.collect()
    assert gone() == {1}
    del table
    gc.collect()
    assert gone() is None
