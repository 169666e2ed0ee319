"""The pull-request comment: verdict first, details folded, never longer than a forge takes."""

from __future__ import annotations

import re

import msgspec
import pytest

from reports import EMITTERS, RenderOptions
from reports.locations import few, position
from reports.markdown import FINDINGS_SHOWN, MAX_CHARACTERS, ROWS_SHOWN
from sharing.model import Finding, Related, Report
from tests.builders.page import readable
from tests.builders.report import CHECKED, EMPTY, FROM_SOURCE, LONG, REPORT

FORGE_LIMIT = 65_536


def comment(report: Report) -> str:
    return EMITTERS["markdown"].render(report)


def many(number: int, like: Finding = FROM_SOURCE) -> Report:
    found = tuple(msgspec.structs.replace(like, id=f"LM-{at:04}") for at in range(number))
    return msgspec.structs.replace(CHECKED, findings=found)


@pytest.mark.parametrize("report", [REPORT, CHECKED, EMPTY], ids=["audit", "check", "empty"])
def test_the_first_line_is_the_verdict(report: Report) -> None:
    first = comment(report).splitlines()[0]
    expected = "no findings" if not report.findings else f"{len(report.findings)} "
    assert first.startswith(f"### linemate: {expected}")


def test_a_clean_check_is_one_visible_line() -> None:
    clean = msgspec.structs.replace(CHECKED, findings=())
    visible = re.sub(r"(?s)<details>.*?</details>", "", comment(clean)).split("\n")
    assert [line for line in visible if line] == [
        "### linemate: no new findings; 3 findings were there before (main at 3f2a9c0d1122)"
    ]


@pytest.mark.parametrize(
    ("known", "said", "behind"),
    [
        (2, "2 findings were there before", ""),
        (1, "1 finding was there before", ""),
        (0, "none that was there before", ", not counting any below --min-severity"),
    ],
)
def test_what_was_there_before_is_counted_from_the_severity_that_was_asked_for(
    known: int, said: str, behind: str
) -> None:
    clean = msgspec.structs.replace(CHECKED, findings=(), known=known)
    expected = f"### linemate: no new findings; {said} (main at 3f2a9c0d1122){behind}"
    assert comment(clean).splitlines()[0] == expected


def test_the_picture_is_shown_and_the_details_are_folded() -> None:
    shown = re.sub(r"(?s)<details>.*?</details>", "", comment(CHECKED))
    assert "|AAAAAAAA|AAAAAAAA|aaaaaaaa|" in shown
    assert "locked by" not in shown
    assert "alignas" not in shown


def test_every_fold_is_closed() -> None:
    for report in (REPORT, CHECKED, EMPTY, many(30)):
        tags = re.findall(r"</?details>", comment(report))
        assert tags == ["<details>", "</details>"] * (len(tags) // 2)


def test_an_incomplete_run_says_so_above_the_fold() -> None:
    text = comment(REPORT)
    assert "incomplete" in text.splitlines()[0]
    assert "bad.c" in re.sub(r"(?s)<details>.*?</details>", "", text)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("`queue<int>::head` moved by 0x20", "`queue<int>::head` moved by 0x20"),
        ("run `linemate explain a b`, *then* look", "run `linemate explain a b`, \\*then\\* look"),
        ("an odd ` is text", "an odd \\` is text"),
        ("`<b>` and @me", "`<b>` and @<!-- -->me"),
    ],
)
def test_what_stands_between_backquotes_is_code(said: str, shown: str) -> None:
    told = msgspec.structs.replace(FROM_SOURCE, message=said)
    coverage = msgspec.structs.replace(CHECKED.coverage, notes=(said,))
    text = comment(msgspec.structs.replace(CHECKED, findings=(told,), coverage=coverage))
    assert f"\n{shown}\n" in text
    assert f"- note: {shown}\n" in text


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("not analysed: /home/me/src/a.c: no such file", "not analysed: src/a.c: no such file"),
        ("'/home/me/b c.so' has no names", "'b c.so' has no names"),
        ("/mnt/home/me/a.c, file:///home/me/a.c", "/mnt/home/me/a.c, file:///home/me/a.c"),
        ("/home/me and /home/me2/a.c", "/home/me and /home/me2/a.c"),
    ],
)
def test_a_sentence_has_paths_as_they_are_seen_from_the_folder(said: str, shown: str) -> None:
    """Who reads a comment has the folder elsewhere."""
    told = msgspec.structs.replace(FROM_SOURCE, message=said)
    coverage = msgspec.structs.replace(CHECKED.coverage, notes=(said,))
    report = msgspec.structs.replace(CHECKED, findings=(told,), coverage=coverage)
    text = EMITTERS["markdown"].render(report, RenderOptions(source_root="/home/me"))
    assert f"\n{shown}\n" in text
    assert f"- note: {shown}\n" in text


def test_findings_that_do_not_fit_are_counted() -> None:
    text = comment(many(FINDINGS_SHOWN + 7))
    assert text.count("#### ") == FINDINGS_SHOWN
    assert "7 more findings" in text


@pytest.mark.parametrize("number", [1, 40, 2000])
def test_no_report_makes_a_comment_that_a_forge_refuses(number: int) -> None:
    wordy = msgspec.structs.replace(
        FROM_SOURCE,
        message="x<" * 9000,
        evidence=FROM_SOURCE.evidence * 40,
        related=tuple(Related(LONG, LONG * 20, "reads", LONG, (LONG * 9,)) for _ in range(50)),
    )
    report = msgspec.structs.replace(
        many(number, wordy),
        targets=CHECKED.targets * 300,
        coverage=msgspec.structs.replace(CHECKED.coverage, notes=("n" * 5000,) * 300),
    )
    assert len(comment(report)) <= MAX_CHARACTERS + 100 < FORGE_LIMIT


def test_the_table_lists_the_worst() -> None:
    rows = [line for line in comment(many(60)).splitlines() if line.startswith("| high")]
    assert len(rows) == ROWS_SHOWN


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a.c:7", ("a.c", 7, 0)),
        ("a.c:7:3", ("a.c", 7, 3)),
        ("c:/x:y.c:7:3", ("c:/x:y.c", 7, 3)),
        ("a.c", None),
        ("a.c:0", None),
        (":7", None),
        ("", None),
        ("a.c:7:3 ", None),
    ],
)
def test_positions_are_read_from_their_end(source: str, parts: tuple[str, int, int] | None) -> None:
    place = position(source)
    assert (place and (place.path, place.line, place.column)) == parts


def test_a_few_accesses_stand_for_many() -> None:
    related = [Related("lock", f"f{at}", "locks", "") for at in range(9)] + [Related("head", "g", "writes", "")]
    assert [access.function for access in few(related, 6)] == ["f0", "f1", "g"]


def test_sources_below_the_root_are_short_in_every_format_for_people() -> None:
    for name in ("text", "markdown", "html"):
        text = EMITTERS[name].render(CHECKED, RenderOptions(source_root="/src/server"))
        text = readable(text) if name == "html" else text
        assert "cache/table_cache.cc:88:3" in text
        assert "/src/server/cache/table_cache.cc:88:3" not in text
