"""Every emitter and option set against its golden file: the shared report, shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reports import EMITTERS, RenderOptions
from sharing.model import Report
from tests.builders.page import readable
from tests.builders.report import CHECKED, EMPTY, REPORT, RULES

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
