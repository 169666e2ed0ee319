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
    assert "the new build" in "\n".join(found.causes[0].confirm)


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


def test_functions_of_another_size_are_candidates_and_equal_sizes_clear_nobody(tmp_path: Path, fast: str) -> None:
    """A listing shows no instructions, no compiler and no libraries."""
    text = Path(fast).read_text()
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text(text + "0000000000001000 0000000000000080 T hash\n0000000000001100 0000000000000040 T main\n")
    other.write_text(text + "0000000000001000 00000000000000a0 T hash\n0000000000001100 0000000000000040 T main\n")
    (cause,) = compared(str(one), str(other)).causes
    assert (cause.kind, cause.symbols) == (CauseKind.CODE, ("hash",))
    assert cause.evidence == ("hash: 128 bytes, now 160",)
    (nothing,) = compared(str(one), str(one)).causes
    assert nothing.kind is CauseKind.NONE
    assert "does not show instructions, the compiler or libraries" in nothing.summary
    assert "as fast as each other" not in "".join(nothing.confirm)
    assert CauseKind.CODE not in {r.kind for r in compared(str(one), str(one)).ruled_out}


@pytest.mark.parametrize("version", ["stderr@GLIBC_2.2.5", "stderr@@GLIBC_2.2.5"])
def test_a_version_behind_a_name_is_no_part_of_it(tmp_path: Path, version: str) -> None:
    old = listing(tmp_path, "old", [("stderr", 8, 0x1062000)])
    found = compared(old, listing(tmp_path, "new", [(version, 8, 0x1062000)]))
    assert (found.variables.matched, found.changes) == (2, ())


def test_two_versions_of_one_name_are_two_objects(tmp_path: Path) -> None:
    both = [("sys_errlist@GLIBC_2.4", 8, 0x1062000), ("sys_errlist@@GLIBC_2.12", 16, 0x1062040)]
    swapped = [("sys_errlist@@GLIBC_2.12", 16, 0x1062000), ("sys_errlist@GLIBC_2.4", 8, 0x1062040)]
    found = compared(listing(tmp_path, "old", both), listing(tmp_path, "new", swapped))
    assert found.variables.matched == 3
    assert {c.kind.value for c in found.changes} == {"reordered"}


LD_MAP = """\
Linker script and memory map

.bss            0x0000000000004080     {size}
 .bss           0x0000000000004080        0x8 crt.o
 .bss           0x0000000000004088       0x18 main.o
 .bss           {at}       0x28 lock.o
                {at}                lock
"""


def test_input_sections_without_a_symbol_are_matched_by_their_object_file(tmp_path: Path) -> None:
    (tmp_path / "old.map").write_text(LD_MAP.format(size="0x48", at="0x00000000000040a0"))
    grown = LD_MAP.replace("0x18 main.o", "0x28 main.o").format(size="0x58", at="0x00000000000040b0")
    (tmp_path / "new.map").write_text(grown)
    old, new = str(tmp_path / "old.map"), str(tmp_path / "new.map")
    same = compared(old, old)
    assert [c.kind for c in same.causes] == [CauseKind.NONE]
    assert same.variables.matched == 3
    found = compared(old, new)
    assert [(c.name, c.old_size, c.new_size) for c in found.changes] == [("main.o(.bss)", 24, 40)]
    assert not any("main.o" in m.first + m.second for c in found.causes for m in c.new_line_mates)


ALIGNED_MAP = """\
Linker script and memory map

.data           0x0000000000004040     {size}
 .data          0x0000000000004040       0x30 first.o
                0x0000000000004040                counter
                0x0000000000004048                table
 .data          0x0000000000004080     {input} lock.o
                0x0000000000004080                list
                0x0000000000004088                lock
                {at}                aligned
 .data          {behind}       0x10 last.o
                {behind}                busy
                {last}                tail
"""


def aligned_map(folder: Path, name: str, alignment: int) -> str:
    """``aligned`` at the next multiple behind ``lock``, and all that is behind it."""
    at = -(-0x4090 // alignment) * alignment
    behind = at + 0x20
    path = folder / f"{name}.map"
    path.write_text(
        ALIGNED_MAP.format(
            size=hex(behind + 0x10 - 0x4040),
            input=hex(behind - 0x4080),
            at=f"0x{at:016x}",
            behind=f"0x{behind:016x}",
            last=f"0x{behind + 8:016x}",
        )
    )
    return str(path)


def test_what_grew_within_an_input_section_names_the_object_file(tmp_path: Path) -> None:
    """Another alignment of one of its symbols: a map does not say whose the bytes are, and says in whose file."""
    one, other = aligned_map(tmp_path, "old", 32), aligned_map(tmp_path, "new", 256)
    for old, new, by in ((one, other, "+96"), (other, one, "-96")):
        (cause,) = compared(old, new).causes
        assert cause.summary.startswith(f"`lock.o(.data)` (resized, {by} bytes, from lock on) moved 3 variables")
        assert cause.evidence == (f"{by} bytes: lock.o(.data) resized (from lock on)",)
        assert cause.symbols == ("lock.o(.data)",)


def test_a_listing_names_no_object_file_for_what_grew(tmp_path: Path) -> None:
    """The near miss: without sizes and files, what is between two symbols is nobody's."""
    for name, at in (("old", 0x40A0), ("new", 0x4100)):
        rows = [("list", 0x4080), ("lock", 0x4088), ("aligned", at), ("busy", at + 0x20), ("tail", at + 0x28)]
        text = "".join(f"{address:016x} D {symbol}\n" for symbol, address in rows)
        (tmp_path / name).write_text(text + "0000000000001000 T main\n")
    (cause,) = compared(str(tmp_path / "old"), str(tmp_path / "new")).causes
    assert cause.summary.startswith("something without a symbol moved them by 0x60")
    assert cause.evidence == ("+96 bytes: bytes that no symbol covers",)
