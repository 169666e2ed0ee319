"""Two listings of nm: the regression's own addresses, and what may be said when nothing but addresses is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.listing import read_listing
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import CauseKind, Comparison, Share

# The addresses of the report: a variable of 208 bytes at 0x1061d40 came, LOCK_open and unused_tables moved by 0xe0.
ADDED = 0x1061D40
SHARED_BEHIND = [  # name, size in bytes, address before
    ("Sys_table_cache_size", 208, 0x1061D40),
    ("Sys_thread_cache_size", 208, 0x1061E20),
    ("Sys_tx_isolation", 208, 0x1061F00),
    ("LOCK_open", 48, 0x1074120),
    ("unused_tables", 8, 0x1074150),
]
SHIFT = 0xE0


def listing(tmp_path: Path, name: str, rows: list[tuple[str, int, int]], letter: str = "B") -> str:
    path = tmp_path / name
    lines = [f"{address:016x} {size:016x} {letter} {symbol}" for symbol, size, address in rows]
    path.write_text("\n".join(["0000000001061000 0000000000000010 B in_front", *lines]) + "\n")
    return str(path)


def compared(old: str, new: str) -> Comparison:
    return explain(read_listing(old), read_listing(new), default_knowledge(), ExplainOptions())


@pytest.fixture
def fast(tmp_path: Path) -> str:
    return listing(tmp_path, "fast", SHARED_BEHIND)


@pytest.fixture
def slow(tmp_path: Path) -> str:
    moved = [(name, size, address + SHIFT) for name, size, address in SHARED_BEHIND]
    return listing(tmp_path, "slow", [("opt_gtid_binlog_state_dummy", 208, ADDED), *moved])


def test_the_added_variable_and_the_exact_distance_are_named(fast: str, slow: str) -> None:
    found = compared(fast, slow)
    first = found.causes[0]
    assert (first.kind, first.symbols) == (CauseKind.LAYOUT, ("opt_gtid_binlog_state_dummy",))
    moved = {m.name: (m.old, m.new, m.shift) for m in first.moved}
    assert moved["LOCK_open"] == ("0x1074120", "0x1074200", "0xe0")
    assert moved["unused_tables"] == ("0x1074150", "0x1074230", "0xe0")
    assert [r.shift for r in found.runs] == [SHIFT]
    assert {(c.share, c.bytes) for c in found.runs[0].contributions} == {(Share.ADDED, 208), (Share.ALIGNMENT, 16)}


def test_the_pair_is_named_with_its_line(fast: str, slow: str) -> None:
    pair = compared(fast, slow).causes[0].new_line_mates[0]
    assert (pair.first, pair.second, pair.line) == ("LOCK_open", "unused_tables", "0x1074200")
    assert not pair.certain  # nothing says which of the bytes are in use
    assert "may now share line 0x1074200" in compared(fast, slow).causes[0].summary


def test_what_a_listing_cannot_tell_is_not_ruled_out(fast: str, slow: str) -> None:
    found = compared(fast, slow)
    assert {r.kind for r in found.ruled_out} == set()
    assert any("does not say what is linked in" in note for note in found.coverage.notes)
    assert "the new build" in found.causes[0].confirm


def test_the_padded_build_is_cleared(tmp_path: Path, slow: str) -> None:
    """With 1024 bytes on both sides of the lock nothing is on its line."""
    rows = [("opt_gtid_binlog_state_dummy", 208, ADDED)]
    rows += [(name, size, address + SHIFT) for name, size, address in SHARED_BEHIND[:3]]
    lock = SHARED_BEHIND[3][2] + SHIFT
    rows += [("pada", 1024, lock), ("LOCK_open", 48, lock + 1024), ("padb", 1024, lock + 1024 + 48)]
    rows += [("unused_tables", 8, lock + 2 * 1024 + 48)]
    found = compared(slow, listing(tmp_path, "padded", rows))
    mates = {frozenset((m.first, m.second)) for c in found.causes for m in c.new_line_mates}
    assert frozenset(("LOCK_open", "unused_tables")) not in mates
    assert {c.name for c in found.changes if c.kind.value == "added"} == {"pada", "padb"}


def test_a_move_by_whole_lines_is_ruled_out(tmp_path: Path, fast: str) -> None:
    rows = [("added", 4096 - 192, ADDED), *((n, s, a + 4096 - 192) for n, s, a in SHARED_BEHIND)]
    found = compared(fast, listing(tmp_path, "whole", rows))
    assert (4096 - 192) % 64 == 0
    assert [m for c in found.causes for m in c.new_line_mates if "added" not in (m.first, m.second)] == []


def test_a_listing_against_itself_rules_the_layout_out(fast: str) -> None:
    found = compared(fast, fast)
    assert [c.kind for c in found.causes] == [CauseKind.NONE]
    assert {r.kind for r in found.ruled_out} == {CauseKind.LAYOUT}
