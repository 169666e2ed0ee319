"""table_cache rebuilt: an added global that makes it slow, padding that mends it, changes that are not the layout's."""

from __future__ import annotations

from sharing.model.comparison import CauseKind, Comparison, LineMates, Share
from tests.explain.conftest import BuildTableCache, Explain

SLOW = ("-DEXTRA_SYSVAR",)
PADDED = ("-DEXTRA_SYSVAR", "-DPADDED")
SHIFT = 0xE0  # 208 bytes, and what aligns the next object to 32


def ruled_out(comparison: Comparison) -> set[CauseKind]:
    return {r.kind for r in comparison.ruled_out}


def on_one_line(mates: tuple[LineMates, ...]) -> list[tuple[str, str]]:
    """The pairs on one line of 64 bytes; wider spans come behind them."""
    return [(m.first, m.second) for m in mates if m.line_size == 64]


def test_fast_to_slow_is_the_layout(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache(*SLOW))
    first = found.causes[0]
    assert (first.kind, first.improves, first.symbols) == (CauseKind.LAYOUT, False, ("buf",))
    assert ruled_out(found) == {CauseKind.DEPENDENCY, CauseKind.TOOLCHAIN, CauseKind.CODE}
    assert found.coverage.notes == ()


def test_the_pair_is_named_with_its_bytes_and_who_touches_both(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    first = explained(table_cache(), table_cache(*SLOW)).causes[0]
    pair = first.new_line_mates[0]
    assert (pair.first, pair.second) == ("LOCK_open.m_mutex", "unused_tables.first")
    assert (pair.first_bytes, pair.second_bytes, pair.line_size) == ((0, 20), (48, 56), 64)
    assert (pair.hot, pair.finding, pair.severity) == (True, "hot-lock-shares-line", "high")
    assert "tc_release_table" in pair.functions
    assert on_one_line(first.lost_line_mates) == []


def test_the_shift_is_exact_and_accounted_for(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache(*SLOW))
    moved = {m.name: m for m in found.causes[0].moved}
    for name in ("LOCK_open", "unused_tables"):
        assert moved[name].shift == f"{SHIFT:#x}"
        assert int(moved[name].new, 16) - int(moved[name].old, 16) == SHIFT
    run = next(r for r in found.runs if r.shift == SHIFT)
    assert {(c.share, c.name, c.bytes) for c in run.contributions} == {
        (Share.ADDED, "buf", 208),
        (Share.ALIGNMENT, "", 16),
    }
    # stop is aligned to 64: the half line that buf added too much is taken from the padding in front of it.
    back = found.runs[found.runs.index(run) + 1]
    assert (back.shift, [(c.share, c.bytes) for c in back.contributions]) == (0xC0, [(Share.ALIGNMENT, -0x20)])


def test_the_sentence_names_cause_distance_and_pair(table_cache: BuildTableCache, explained: Explain) -> None:
    text = explained(table_cache(), table_cache(*SLOW)).causes[0].summary
    assert "`buf` (added, +208 bytes, src/sys_vars.cc:64) and +16 bytes of padding moved 7 variables by 0xe0" in text
    assert "`LOCK_open.m_mutex` and `unused_tables.first` now share line 0x" in text
    assert "the function `tc_release_table` uses both variables" in text


def test_slow_to_padded_is_an_improvement_of_the_layout(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(*SLOW), table_cache(*PADDED))
    first = found.causes[0]
    assert (first.kind, first.improves, first.symbols) == (CauseKind.LAYOUT, True, ("LOCK_open",))
    assert on_one_line(first.lost_line_mates)[0] == ("LOCK_open.m_mutex", "unused_tables.first")
    assert on_one_line(first.new_line_mates) == []
    assert "no longer share" in first.summary
    assert CauseKind.LAYOUT in ruled_out(found)  # as the reason of a slowdown
    assert {(c.kind.value, c.name) for c in found.changes} >= {("resized", "LOCK_open"), ("resized", "unused_tables")}


def test_other_code_alone_rules_the_layout_out(table_cache: BuildTableCache, explained: Explain) -> None:
    before, after = "checksum = checksum * 6364136223846793005u + row;", "checksum = (checksum ^ row) * 3u + row / 7;"
    edit = {"main.cc": (before, after)}
    found = explained(table_cache(), table_cache(edit=edit))
    assert [c.kind for c in found.causes] == [CauseKind.CODE]
    assert found.causes[0].symbols == ("run_worker",)  # scan_table is inlined into it
    assert ruled_out(found) == {CauseKind.LAYOUT, CauseKind.DEPENDENCY, CauseKind.TOOLCHAIN}


def test_other_code_that_is_not_busy_is_named_and_weighs_little(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    edit = {"table_cache.cc": ("  tdc_end();", "  tdc_end();\n  table_counts.open = 0;")}
    found = explained(table_cache(), table_cache(edit=edit))
    assert [(c.kind, c.symbols) for c in found.causes] == [(CauseKind.CODE, ("tc_end",))]
    assert found.causes[0].strength < 0.3
    assert CauseKind.LAYOUT in ruled_out(found)


def test_another_level_of_optimisation_comes_before_what_it_does(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = explained(table_cache(), table_cache(flags="-O1 -g"))
    assert found.causes[0].kind is CauseKind.TOOLCHAIN
    assert "optimisation level: -O2, now -O1" in found.causes[0].summary


def test_another_compiler_comes_before_what_it_does(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache(compiler="clang++-19"))
    assert found.causes[0].kind is CauseKind.TOOLCHAIN
    assert "compiler: gcc" in found.causes[0].summary
    assert "now clang 19" in found.causes[0].summary


def test_another_library_is_a_dependency(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache(link="-Wl,--no-as-needed -lresolv -Wl,--as-needed"))
    first = found.causes[0]
    assert (first.kind, first.symbols) == (CauseKind.DEPENDENCY, ("libresolv.so.2",))
    assert CauseKind.LAYOUT in ruled_out(found)


def test_nothing_differs_between_a_file_and_itself(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache())
    assert [c.kind for c in found.causes] == [CauseKind.NONE]
    assert (found.changes, found.runs, found.straddles) == ((), (), ())
    assert ruled_out(found) == {CauseKind.LAYOUT, CauseKind.DEPENDENCY, CauseKind.TOOLCHAIN, CauseKind.CODE}
    assert found.variables.matched == found.variables.old == found.variables.new


def test_swapped_arguments_mirror(table_cache: BuildTableCache, explained: Explain) -> None:
    there = explained(table_cache(), table_cache(*SLOW))
    back = explained(table_cache(*SLOW), table_cache())
    assert [r.shift for r in back.runs] == [-r.shift for r in there.runs]
    assert back.causes[0].lost_line_mates == there.causes[0].new_line_mates
    assert back.causes[0].improves
    assert back.coverage.counts["line_mates_lost"] == there.coverage.counts["line_mates_gained"]
    assert [(c.kind.value, c.name) for c in back.changes] == [("removed", "buf")]
