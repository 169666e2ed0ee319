"""What kind of memory samples are placed on: recordings of a program that has all kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linemate.modules import open_modules
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Basis, Reason, Region, SpaceKind, TouchFlag, line_keys
from sharing.model.image import AccessKind
from sharing.model.operands import MappedFile
from sharing.sampled.attribution.attribute import attribute
from sharing.sampled.attribution.evaluate import RegisterFile, names_of
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


def test_samples_near_an_access_are_in_its_run_of_code(placed: Placed) -> None:
    a = placed.attribution
    assert [len(part) for part in a.near(np.zeros(0, np.int64), np.zeros(0, np.uint64))] == [0, 0]
    written = rows_of(placed, "add", Region.STATIC)
    seen = rows_of(placed, "look", Region.STATIC)
    ips = np.array([written["ip"][0], seen["ip"][0], 1], np.uint64)
    sample, which = a.near(np.array([written["module"][0], seen["module"][0], written["module"][0]]), ips)
    assert set(which.tolist()) == {0, 1}, "nothing is near what is no access"
    for number, function in enumerate(("add", "look")):
        near = a.rows[sample[which == number]]
        charged = np.flatnonzero((a.rows["ip"] == ips[number]) & (a.rows["basis"] != Basis.NONE))
        assert set(charged.tolist()) <= set(sample[which == number].tolist())
        assert {a.functions[row] for row in near["function"].tolist()} == {function}
    assert len(np.unique(sample * 2 + which)) == len(sample)


def test_registers_are_those_of_the_machine_that_recorded(placed: Placed) -> None:
    """Else those of the machine that the target is for; never those of x86-64 because nothing was said."""
    samples = placed.attribution.samples
    module = placed.attribution.modules[0]

    def on(architecture: str, target: str = "") -> tuple[int | None, ...]:
        named = replace(samples, recording=replace(samples.recording, architecture=architecture))
        names = names_of(named, (MappedFile(module, target),))
        return names.ip, names.stack, names.waited

    assert on("x86_64") == on("", "x86-64") == on("x86_64", "aarch64") == (8, 7, 5)
    assert on("aarch64") == on("", "aarch64") == (32, 31, 0)
    assert on("riscv64") == (0, 2, 10)
    assert on("i686") == (8, 7, 1)
    assert on("sparc64", "x86-64") == on("", "") == on("", "machine-4660") == (None, None, None)


def test_a_register_that_has_no_number_is_known_of_no_sample(placed: Placed) -> None:
    samples = placed.attribution.samples
    rows = samples.samples[:50]
    registers = RegisterFile.of(samples)
    assert not registers.names.complete
    values, known = registers.read_one(rows, registers.names.stack)
    assert not known.any()
    assert not values.any()
    assert registers.read_one(rows, 7)[1].any(), "the profile has it"


def test_what_is_lost_without_names_of_registers_is_said(placed: Placed) -> None:
    samples = placed.attribution.samples
    other = replace(samples, recording=replace(samples.recording, architecture="sparc64"))
    knowledge = default_knowledge()
    lost = attribute(other, placed.image, open_modules(other, placed.image, knowledge), knowledge)
    (note,) = [note for note in lost.notes if "registers" in note]
    assert note.startswith("registers of sparc64 are not known by name")
    assert not any("known by name" in note for note in placed.attribution.notes)
