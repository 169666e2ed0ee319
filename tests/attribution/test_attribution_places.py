"""What kind of memory samples are placed on: recordings of a program that has all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharing.model.attribution import Basis, Reason, Region, SpaceKind, TouchFlag, line_keys
from sharing.model.image import AccessKind
from tests.attribution.conftest import Placed


def rows_of(placed: Placed, function: str, region: Region) -> Any:
    a = placed.attribution
    number = a.functions.index(function)
    return a.rows[(a.rows["function"] == number) & (a.rows["region"] == region) & (a.rows["basis"] == Basis.DERIVED)]


def test_every_sample_is_attributed_or_says_why_not(placed: Placed) -> None:
    rows = placed.attribution.rows
    assert len(rows) == len(placed.attribution.samples.samples)
    assert ((rows["reason"] == Reason.NONE) == (rows["basis"] != Basis.NONE)).all()
    assert sum(placed.attribution.counts().values()) == len(rows)


def test_static_variables_are_found_through_registers_and_through_the_code(placed: Placed) -> None:
    written = rows_of(placed, "add", Region.STATIC)
    assert {placed.variable(row) for row in written} == {"written"}
    assert (written["kind"] == AccessKind.RMW).all()
    assert (written["flags"] & TouchFlag.ATOMIC).all()
    seen = rows_of(placed, "look", Region.STATIC)
    assert {placed.variable(row) for row in seen} == {"seen"}
    assert (seen["kind"] == AccessKind.LOAD).all()


def test_heap_and_stack_are_told_apart(placed: Placed) -> None:
    assert len(rows_of(placed, "add", Region.HEAP)) > 10
    assert len(rows_of(placed, "add", Region.STACK)) > 10
    assert len(rows_of(placed, "add", Region.UNKNOWN)) == 0


def test_a_forked_child_shares_what_is_mapped_shared_and_nothing_else(placed: Placed) -> None:
    a = placed.attribution
    spaces: dict[Region, set[int]] = {}
    processes: dict[Region, set[int]] = {}
    for region in (Region.HEAP, Region.SHARED):
        rows = rows_of(placed, "add", region)
        spaces[region] = set(rows["space"].tolist())
        processes[region] = set(a.threads["pid"][rows["thread"]].tolist())
    assert len(processes[Region.SHARED]) == 2
    assert [a.spaces[s].kind for s in spaces[Region.SHARED]] == [SpaceKind.SHARED]
    assert set(rows_of(placed, "add", Region.SHARED)["place"].tolist()) == {8}
    assert len(processes[Region.HEAP]) == 2
    assert len(spaces[Region.HEAP]) == 2


def test_a_threads_own_storage_is_no_other_threads(placed: Placed) -> None:
    a = placed.attribution
    own = rows_of(placed, "own_add", Region.TLS)
    assert len(own) > 10
    assert {a.spaces[s].kind for s in own["space"].tolist()} == {SpaceKind.THREAD}
    assert len(set(own["space"].tolist())) == len(set(own["thread"].tolist())) == 2


def test_witnesses_lie_on_the_lines_that_were_asked_for(placed: Placed) -> None:
    a = placed.attribution
    assert len(a.witnesses(np.zeros(0, np.uint64), 64)) == 0
    placed_rows = a.rows[a.rows["basis"] != Basis.NONE]
    keys = np.unique(line_keys(placed_rows["space"], placed_rows["place"], 64))
    found = a.witnesses(keys, 64)
    first = line_keys(found["space"], found["place"], 64)
    last = line_keys(found["space"], found["place"] + np.maximum(found["size"], 1) - 1, 64)
    assert (np.isin(first, keys) | np.isin(last, keys)).all()
    # A witness is another access than the one that is charged.
    assert (found["ip"] != a.rows["ip"][found["sample"]]).all()
