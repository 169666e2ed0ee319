"""In the table of a report names come first: ids, and files where there are several, give way to them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from linemate.byid import with_id
from reports import EMITTERS
from reports.escape import shorten, shorten_apart
from reports.options import RenderOptions
from sharing.model import Report
from tests.builders.report import REPORT

LONG_ID = "written-beside-read-mostly-26840ac017"
FILE = "tree/libedataserver-1.2.so.27.0.0"
PAIR = ("other_types", "bss+0xa880 (mutex)")


def report_of(*pairs: tuple[str, str], target: str = FILE, id_: str = LONG_ID) -> Report:
    """One finding a pair, each of a line of its own."""
    one = REPORT.findings[0]
    first, second = one.participants[:2]
    found = tuple(
        replace(
            one,
            id=f"{id_[:-1]}{number}",
            target=target,
            line=replace(one.line, address=f"0x{4096 + 64 * number:x}"),
            participants=tuple(
                replace(who, name=name, member="") for who, name in zip((first, second), pair, strict=True)
            ),
        )
        for number, pair in enumerate(pairs)
    )
    return replace(REPORT, findings=found)


def table(report: Report, width: int) -> list[str]:
    options = RenderOptions(color=False, width=width, details=False, summary=False, top=0)
    rows = EMITTERS["text"].render(report, options).splitlines()
    return rows[: len(report.findings)]


@pytest.mark.parametrize("width", [80, 100, 160])
def test_names_of_a_report_of_several_files_are_whole(width: int) -> None:
    report = report_of(PAIR, ("data+0x8", "data+0x14"))
    for row, finding in zip(table(report, width), report.findings, strict=True):
        assert " / ".join(who.full_name for who in finding.participants[:2]) in row
        assert len(row) <= width
        told = row.split()[-1]
        assert with_id(report.findings, told) == [finding]
        assert (told == finding.id) == (width == 160)


def test_a_file_keeps_what_is_left_and_never_less_than_its_ends() -> None:
    wide = tuple(f"{name}_of_the_whole_program" for name in PAIR)
    assert shorten(FILE.rpartition("/")[2], 12) in table(report_of((wide[0], wide[1])), 80)[0]
    assert shorten(FILE.rpartition("/")[2], 24) in table(report_of(("a", "b")), 80)[0]


def test_ids_with_the_same_end_stay_whole() -> None:
    report = report_of(PAIR)
    twin = replace(report.findings[0], id=f"hot-lock-shares-line-{report.findings[0].id[-10:]}", target="tree/other")
    both = replace(report, findings=(*report.findings, twin))
    assert all(row.split()[-1] in {found.id for found in both.findings} for row in table(both, 80))


def test_short_tables_have_whole_ids() -> None:
    assert table(report_of(("a", "b"), target=""), 80)[0].endswith(f"{LONG_ID[:-1]}0")


def test_names_keep_what_tells_them_apart() -> None:
    pair = ("worker_stats_of_pool[0].all.requests", "worker_stats_of_pool[1].all.requests")
    for width in (80, 60):
        row = table(report_of(pair, target=""), width)[0]
        assert "[0" in row
        assert "[1" in row
    for width in range(9, 40):
        cut = shorten_apart(pair, [width] * 2)
        assert len(set(cut)) == 2, width
        assert max(map(len, cut)) <= width
    assert shorten_apart(("abc", "abcdefghijkl"), [8, 8]) == ["abc", shorten("abcdefghijkl", 8)]


@pytest.mark.parametrize(
    ("wanted", "found"), [(LONG_ID[:-1], 2), ("26840ac010", 1), ("written", 2), ("840ac010", 0), ("", 2)]
)
def test_an_id_is_found_by_its_beginning_or_the_digits_at_its_end(wanted: str, found: int) -> None:
    assert len(with_id(report_of(PAIR, PAIR).findings, wanted)) == found
