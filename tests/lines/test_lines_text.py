"""The map of lines as text, against golden files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reports.linemap import render
from reports.options import RenderOptions
from sharing.model import AccessKind, Target
from sharing.model.linemap import (
    LINES_SCHEMA,
    Excerpt,
    Layout,
    LayoutLine,
    LayoutObject,
    LayoutReport,
    LayoutSpan,
    RecordFacts,
    SpanKind,
)
from sharing.static.linemap import LineMap
from tests.builders.report import HOSTILE
from tests.builders.report import LONG as LONG_NAME
from tests.lines.images import BSS, CHARS, FLAGS, LONG, ODD, PAIRS, image

GOLDEN = Path(__file__).parent / "golden"
TARGET = Target("build/server", "", "x86-64", "pie", "3f2a9c0d11", 64, "")


def line_map() -> LineMap:
    sites = [(BSS + 4, 8, AccessKind.STORE, 1), (BSS + 52, 8, AccessKind.LOAD, 0), (BSS + 70, 8, AccessKind.RMW, 2)]
    made = image(
        [
            ("head", BSS, 8, LONG),
            (HOSTILE, BSS + 8, 8, FLAGS),
            ("odd", BSS + 20, 16, ODD),
            ("slots", BSS + 44, 128, PAIRS),
            (LONG_NAME, BSS + 192, 96, CHARS),
        ],
        sites=sites,
        functions=("reader", HOSTILE, LONG_NAME),
    )
    return LineMap(made, 64)


def report(*, symbols: bool) -> LayoutReport:
    made = line_map()
    if not symbols:
        layout = Layout(
            TARGET, (), tuple(made.summaries()), tuple(made.crowded(10)), ("unit \x1b[2Jbad.c: type cycle",)
        )
        return LayoutReport(LINES_SCHEMA, "lines", (layout,))
    excerpts = (
        Excerpt("slots", made.describe(3), tuple(made.lines(range(BSS, BSS + 320, 64))), 2),
        Excerpt(f"{BSS:#x}", None, tuple(made.lines(range(BSS, BSS + 64, 64)))),
    )
    return LayoutReport(LINES_SCHEMA, "lines", (Layout(TARGET, excerpts),))


CASES = {
    "symbols.txt": (report(symbols=True), RenderOptions()),
    "symbols-quiet.ansi": (report(symbols=True), RenderOptions(color=True, summary=False)),
    "summary.txt": (report(symbols=False), RenderOptions(width=60)),
}


@pytest.mark.parametrize("name", CASES)
def test_text_is_the_golden_file(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / name, render(*CASES[name]))


def test_words_of_one_lock_are_not_mixed_with_each_other() -> None:
    """What is read of a lock is read by who takes it: only another member is read beside it."""
    many = ("a", "b", "c", "d")

    def mixed(second: str) -> bool:
        spans = (
            LayoutSpan(0, 8, SpanKind.MEMBER, "sem.count", lockers=("take", "give")),
            LayoutSpan(8, 16, SpanKind.MEMBER, second, readers=many),
        )
        excerpt = Excerpt("inode", None, (LayoutLine("0x0", 64, "", spans),), record=True)
        text = render(LayoutReport(LINES_SCHEMA, "lines", (Layout(TARGET, (excerpt,)),)), RenderOptions())
        return "mixed: sem.count (locked by 2) beside" in text

    assert mixed("mode")
    assert not mixed("sem.wait_list.next")


def test_who_locks_a_member_uses_it() -> None:
    spans = (
        LayoutSpan(0, 8, SpanKind.MEMBER, "mode", readers=("a", "b")),
        LayoutSpan(8, 16, SpanKind.MEMBER, "sem", lockers=("take", "give", "try"), writers=("init",)),
    )
    described = LayoutObject("inode", "0x0", 64, "", 1)
    excerpt = Excerpt("inode", described, (LayoutLine("0x0", 64, "", spans),), record=True, facts=RecordFacts())
    text = render(LayoutReport(LINES_SCHEMA, "lines", (Layout(TARGET, (excerpt,)),)), RenderOptions())
    assert "used by most functions: sem (locked by 3, written by 1), mode (read by 2)" in " ".join(text.split())


def lines_of(count: int, *, users: dict[int, str] | None = None) -> str:
    """An array of numbers on so many lines, of which ``users`` names who writes some."""
    lines = tuple(
        LayoutLine(
            f"{64 * at:#x}",
            64,
            ".bss",
            (
                LayoutSpan(
                    0, 64, SpanKind.MEMBER, f"sums[{8 * at}..{8 * at + 7}]", "sums", 64 * at, "long[]",
                    writers=((users or {}).get(at, "add"),),
                ),
            ),
        )
        for at in range(count)
    )  # fmt: skip
    layout = Layout(TARGET, (Excerpt("sums", None, lines),))
    return render(LayoutReport(LINES_SCHEMA, "lines", (layout,)), RenderOptions(summary=False))


def test_lines_that_look_alike_are_shown_once_and_counted() -> None:
    text = lines_of(64)
    assert text.count("  line 0x") == 1
    assert "  ... 63 more lines like this one, 0x40 to 0xfc0: sums[8..15] to sums[504..511]\n" in text


def test_a_line_that_somebody_else_uses_stands_by_itself() -> None:
    text = lines_of(9, users={4: "clear"})
    assert [line.split()[1] for line in text.splitlines() if line.startswith("  line ")] == ["0x0", "0x100", "0x140"]
    assert text.count("... 3 more lines like this one") == 2
    assert "w: clear" in text


def test_two_lines_that_look_alike_are_both_shown() -> None:
    assert "like this one" not in lines_of(2)


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(CASES)
