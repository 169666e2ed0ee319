"""Lines and bytes: the invariants of geometry, against slow reference versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharing.basics.geometry import (
    Extent,
    last_bytes,
    line_start,
    line_starts,
    lines_of,
    occupancy,
    own_bytes,
    straddle_mask,
    straddles,
)
from sharing.model import Slice

LINE_SIZES = st.sampled_from([32, 64, 128, 256])
BASE = 0x1000
RANGES = st.tuples(st.integers(-20, 300), st.integers(-20, 300))


@st.composite
def extents(draw: st.DrawFn) -> list[Extent]:
    out = []
    for name in draw(st.lists(st.text("abc", max_size=2), max_size=8)):
        start, size = draw(st.integers(BASE - 300, BASE + 300)), draw(st.integers(-2, 300))
        out.append(Extent(name, start, start + size, tuple(draw(st.lists(RANGES, max_size=2)))))
    return out


@given(LINE_SIZES, extents(), st.lists(RANGES, max_size=3))
def test_every_byte_is_owned_exactly_once(size: int, objects: list[Extent], known: list[tuple[int, int]]) -> None:
    pieces = own_bytes(BASE, size, objects, known)
    assert [byte for piece in pieces for byte in range(piece.start, piece.end)] == list(range(size))


@given(LINE_SIZES, extents(), st.randoms())
def test_the_order_of_objects_does_not_matter(size: int, objects: list[Extent], random: object) -> None:
    shuffled = list(objects)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis types it as its own Random
    assert own_bytes(BASE, size, objects) == own_bytes(BASE, size, shuffled)


@given(LINE_SIZES, extents(), st.lists(RANGES, max_size=3))
def test_owner_and_heat_agree_with_the_definition_byte_by_byte(
    size: int, objects: list[Extent], offsets: list[tuple[int, int]]
) -> None:
    known = [(BASE + start, BASE + end) for start, end in offsets]
    for piece in own_bytes(BASE, size, objects, known):
        for byte in range(BASE + piece.start, BASE + piece.end):
            covering = [o for o in objects if o.start <= byte < o.end]
            if covering:
                assert piece.owner == min(covering, key=lambda o: (o.end - o.start, -o.start, o.name)).name
            else:
                assert piece.owner == ("" if any(start <= byte < end for start, end in known) else "?")
            assert piece.hot == any(first <= byte - o.start < last for o in covering for first, last in o.hot)


def test_a_lock_beside_a_list_head() -> None:
    lock = Extent("LOCK_open", 0x1074200, 0x1074230, ((0, 16),))
    head = Extent("unused_tables", 0x1074230, 0x1074238, ((0, 8),))
    assert own_bytes(0x1074200, 64, [head, lock], [(0x1070000, 0x1080000)]) == (
        Slice("LOCK_open", 0, 16, True, "a"),
        Slice("LOCK_open", 16, 48, False, "a"),
        Slice("unused_tables", 48, 56, True, "b"),
        Slice("", 56, 64, False, "."),
    )


def test_two_objects_of_one_name_stay_two_slices_with_two_letters() -> None:
    pieces = own_bytes(0, 32, [Extent("buf", 0, 8), Extent("buf", 8, 16)], [(0, 32)])
    assert [(piece.start, piece.end, piece.mark) for piece in pieces] == [(0, 8, "a"), (8, 16, "b"), (16, 32, ".")]


def test_letters_repeat_after_the_alphabet_and_given_marks_are_kept() -> None:
    pieces = own_bytes(0, 64, [Extent(f"v{i:02}", i, i + 1, (), "z" if i == 0 else "") for i in range(64)])
    assert "".join(piece.mark for piece in pieces[:27]) == "zabcdefghijklmnopqrstuvwxya"


@given(st.integers(0, 2**64 - 1), st.integers(0, 5000), LINE_SIZES)
def test_lines_of_an_object_hold_each_of_its_bytes(address: int, size: int, line_size: int) -> None:
    lines = lines_of(address, size, line_size)
    assert list(lines) == sorted({line_start(address + at, line_size) for at in range(size)})
    assert straddles(address, size, line_size) == (len(lines) > 1)


TABLES = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 700)), max_size=12)


@given(TABLES, LINE_SIZES)
def test_tables_agree_with_single_objects(rows: list[tuple[int, int]], line_size: int) -> None:
    addresses = np.array([address for address, _ in rows], np.uint64)
    sizes = np.array([size for _, size in rows], np.uint64)
    assert line_starts(addresses, line_size).tolist() == [line_start(address, line_size) for address, _ in rows]
    assert straddle_mask(addresses, sizes, line_size).tolist() == [straddles(a, s, line_size) for a, s in rows]
    counted: dict[int, int] = {}
    for address, size in rows:
        for line in lines_of(address, size, line_size):
            counted[line] = counted.get(line, 0) + 1
    runs = occupancy(addresses, sizes, line_size)
    spread = {line: int(run["count"]) for run in runs for line in range(int(run["start"]), int(run["end"]), line_size)}
    assert spread == counted
    assert (runs["start"][1:] >= runs["end"][:-1]).all()


def test_sizes_past_the_end_of_the_address_space_are_clipped() -> None:
    addresses = np.array([2**64 - 16], np.uint64)
    sizes = np.array([2**64 - 1], np.uint64)
    assert last_bytes(addresses, sizes).tolist() == [2**64 - 1]
    assert not straddle_mask(addresses, sizes, 64)[0]


def test_a_giant_object_costs_one_run() -> None:
    runs = occupancy(np.array([0], np.uint64), np.array([2**50], np.uint64), 64)
    assert runs.tolist() == [(0, 2**50, 1)]


@pytest.mark.parametrize("line_size", [32, 64, 128, 256])
def test_an_empty_line_is_one_slice(line_size: int) -> None:
    assert own_bytes(0, line_size, []) == (Slice("?", 0, line_size, False, "?"),)
