"""Every emitter and option set against its golden file: the shared report, shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reports import EMITTERS, RenderOptions
from sharing.model import Finding, Report
from sharing.model.finding import LineRef, Slice
from tests.builders.page import readable
from tests.builders.report import CHECKED, EMPTY, LOCK_BESIDE_LIST, PAIR_OF_LINES, REPORT, RULES

GOLDEN = Path(__file__).parent / "golden"
CASES: dict[str, tuple[str, Report, RenderOptions]] = {
    "text.txt": ("text", REPORT, RenderOptions()),
    "text-narrow.txt": ("text", REPORT, RenderOptions(width=20)),
    "text-color.ansi": ("text", REPORT, RenderOptions(color=True, width=120)),
    "text-quiet.txt": ("text", REPORT, RenderOptions(summary=False)),
    "text-short.txt": ("text", REPORT, RenderOptions(details=False)),
    "text-short-check.txt": ("text", CHECKED, RenderOptions(details=False, width=140, source_root="/src/server")),
    "text-short-none.txt": ("text", REPORT, RenderOptions(details=False, top=0, width=20)),
    "text-empty.txt": ("text", EMPTY, RenderOptions()),
    "document.json": ("json", REPORT, RenderOptions()),
    "document-empty.json": ("json", EMPTY, RenderOptions()),
    "comment.md": ("markdown", REPORT, RenderOptions()),
    "comment-quiet.md": ("markdown", REPORT, RenderOptions(summary=False)),
    "comment-empty.md": ("markdown", EMPTY, RenderOptions()),
    "scan.sarif": ("sarif", REPORT, RenderOptions(rules=RULES, version="1.2.3", source_root="/src/server")),
    "scan-empty.sarif": ("sarif", EMPTY, RenderOptions()),
    "text-check.txt": ("text", CHECKED, RenderOptions(source_root="/src/server")),
    "document-check.json": ("json", CHECKED, RenderOptions()),
    "comment-check.md": ("markdown", CHECKED, RenderOptions(source_root="/src/server")),
    "scan-check.sarif": ("sarif", CHECKED, RenderOptions(rules=RULES, version="1.2.3", source_root="/src/server")),
    "tests.xml": ("junit", REPORT, RenderOptions()),
    "tests-empty.xml": ("junit", EMPTY, RenderOptions()),
    "tests-check.xml": ("junit", CHECKED, RenderOptions(source_root="/src/server", fail_on=None)),
    "quality.json": ("codequality", REPORT, RenderOptions()),
    "quality-empty.json": ("codequality", EMPTY, RenderOptions()),
    "quality-check.json": ("codequality", CHECKED, RenderOptions(source_root="/src/server")),
    "page-check.html": ("html", CHECKED, RenderOptions(rules=RULES, version="1.2.3")),
    "page.html": ("html", REPORT, RenderOptions(rules=RULES, version="1.2.3")),
    "page-empty.html": ("html", EMPTY, RenderOptions()),
}


@pytest.mark.parametrize("name", CASES)
def test_output_is_the_golden_file(name: str, golden: Callable[[Path, str], None]) -> None:
    emitter, report, options = CASES[name]
    text = EMITTERS[emitter].render(report, options)
    golden(GOLDEN / name, readable(text) if emitter == "html" else text)


def test_every_emitter_has_a_golden_file_and_no_golden_file_is_left_over() -> None:
    assert {emitter for emitter, _, _ in CASES.values()} == set(EMITTERS)
    assert {path.name for path in GOLDEN.iterdir()} == set(CASES)


@pytest.mark.parametrize("emitter", EMITTERS)
def test_every_format_names_the_finding_by_the_same_id(emitter: str) -> None:
    shown = EMITTERS[emitter].render(REPORT, RenderOptions(rules=RULES))
    assert [finding.id for finding in REPORT.findings if finding.id not in shown] == []


def test_quiet_text_of_a_clean_report_is_nothing() -> None:
    assert EMITTERS["text"].render(EMPTY, RenderOptions(summary=False)) == ""


def test_a_short_picture_tells_who_every_upper_case_letter_is() -> None:
    first = LOCK_BESIDE_LIST
    picture = first.picture[0]
    hot = [msgspec.structs.replace(piece, hot=piece.hot or piece.mark.isalpha()) for piece in picture.slices]
    alone = msgspec.structs.replace(first, picture=(msgspec.structs.replace(picture, slices=tuple(hot)),))
    for finding, told in ((alone, True), (first, False)):
        report = msgspec.structs.replace(REPORT, findings=(finding,))
        lines = EMITTERS["text"].render(report, RenderOptions(details=False)).splitlines()
        shown = next(line for line in lines if line.strip().startswith("|"))
        legend = {line.split()[0] for line in lines if re.match(r" +[a-z]  \S", line)}
        assert {letter.lower() for letter in shown if letter.isupper()} <= legend
        assert ("c" in legend) == told  # of cold bytes nothing is told but who takes part


def shown_lines(finding: Finding) -> list[str]:
    """Titles of the lines in the block of a finding, and the letters of each picture."""
    report = msgspec.structs.replace(REPORT, findings=(finding,))
    lines = EMITTERS["text"].render(report, RenderOptions(details=False)).splitlines()
    return [line.strip() for line in lines if re.match(r" +(line 0x[0-9a-f]+$|\|)", line)]


def test_each_of_a_pair_on_two_lines_is_shown() -> None:
    """In the order of the addresses, whichever of the two the finding names first."""
    turned = msgspec.structs.replace(PAIR_OF_LINES, participants=PAIR_OF_LINES.participants[::-1])
    for finding in (PAIR_OF_LINES, turned):
        first, head, second, tail = shown_lines(finding)
        assert (first, second) == ("line 0x3000", "line 0x3040")
        assert (head.count("A"), tail.count("B")) == (8, 8)


def test_the_line_that_has_both_of_a_pair_is_the_one_that_is_shown() -> None:
    """A part that nobody touches, as the end of a lock, does not make a line the pair's."""
    first, second = PAIR_OF_LINES.picture
    head = msgspec.structs.replace(PAIR_OF_LINES.participants[0], address="0x3038", size=24)
    pair = (head, msgspec.structs.replace(PAIR_OF_LINES.participants[1], address="0x3050"))
    busy = (Slice("head", 0, 16, True, "a"), Slice("tail", 16, 24, True, "b"), Slice("", 24, 64, False, "."))
    cold = (Slice("", 0, 56, False, "."), Slice("head", 56, 64, False, "a"))
    pictures = (msgspec.structs.replace(first, slices=cold), msgspec.structs.replace(second, slices=busy))
    finding = msgspec.structs.replace(PAIR_OF_LINES, participants=pair, picture=pictures)
    title, picture = shown_lines(finding)
    assert title == "line 0x3040"
    assert (picture.count("A"), picture.count("B")) == (16, 8)
    there = msgspec.structs.replace(finding, line=LineRef("0x3040", 64))
    assert shown_lines(there) == [picture], "it is named above"


def test_the_hint_of_an_edit_names_the_file() -> None:
    report = msgspec.structs.replace(REPORT, targets=REPORT.targets[:1])
    finding = next(f for f in CHECKED.findings if f.remedies and f.remedies[0].edits)
    linked = msgspec.structs.replace(
        finding, target="", line=msgspec.structs.replace(finding.line, address="0x40", place="")
    )
    text = EMITTERS["text"].render(msgspec.structs.replace(report, findings=(linked,)), RenderOptions(details=False))
    assert f"--binary {report.targets[0].path} " in " ".join(text.split())
