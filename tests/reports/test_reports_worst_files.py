"""A report of several files names those with the worst findings; one of a single file does not."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reports import EMITTERS, RenderOptions
from reports.worstfiles import worst_files
from sharing.model import Coverage, Report, Severity, Target
from sharing.model.finding import SCHEMA
from tests.builders.report import HOSTILE, LOCK_BESIDE_LIST


def report(found: Sequence[tuple[str, Severity, float]], *targets: tuple[str, str]) -> Report:
    findings = [
        msgspec.structs.replace(LOCK_BESIDE_LIST, id=f"LM-{number:012x}", target=target, severity=severity, score=score)
        for number, (target, severity, score) in enumerate(found)
    ]
    rows = tuple(Target(path, member, "x86_64", "executable", "", 64, "") for path, member in targets)
    return Report(SCHEMA, "audit", rows, Coverage({}, ()), tuple(findings))


TREE = report(
    [
        ("/bin/many", Severity.LOW, 9.0),
        ("/bin/many", Severity.LOW, 8.0),
        ("/bin/high", Severity.HIGH, 1.0),
        ("/lib/a.a(x.o)", Severity.MEDIUM, 2.0),
        ("/lib/a.a(y.o)", Severity.HIGH, 0.5),
        (f"/bin/{HOSTILE}", Severity.LOW, 7.0),
    ],
    ("/bin/many", ""),
    ("/bin/high", ""),
    ("/lib/a.a", "x.o"),
    ("/lib/a.a", "y.o"),
    (f"/bin/{HOSTILE}", ""),
    ("/bin/clean", ""),
)


def test_members_count_for_their_archive_and_the_worst_come_first() -> None:
    assert [(row.name, row.numbers) for row in worst_files(TREE)] == [
        ("/lib/a.a", "1 high, 1 medium"),
        ("/bin/high", "1 high"),
        ("/bin/many", "2 low"),
        (f"/bin/{HOSTILE}", "1 low"),
    ]


def test_of_one_archive_its_members_are_named() -> None:
    alone = report([("a.a(x.o)", Severity.LOW, 1.0)], ("a.a", "x.o"), ("a.a", "y.o"))
    assert [row.name for row in worst_files(alone)] == ["a.a(x.o)"]
    assert worst_files(report([("", Severity.LOW, 1.0)], ("program", ""))) == []


def test_text_and_markdown_show_the_table_with_names_made_safe() -> None:
    text = EMITTERS["text"].render(TREE, RenderOptions(details=False, top=0))
    assert (
        "4 files with findings, the worst first\n  1 high, 1 medium  /lib/a.a\n  1 high            /bin/high\n" in text
    )
    markdown = EMITTERS["markdown"].render(TREE, RenderOptions())
    assert "| file | findings |\n|---|---|\n| `/lib/a.a` | 1 high, 1 medium |\n" in markdown
    for shown in (text, markdown):
        assert "\x1b" not in shown
        assert "evil" in shown


def test_the_files_whose_headings_are_shown_are_the_worst() -> None:
    text = EMITTERS["text"].render(TREE, RenderOptions(details=False, top=0))
    headings = [line for line in text.splitlines() if line.startswith("/")]
    assert headings == ["/bin/high", "/lib/a.a(y.o)", "/lib/a.a(x.o)"]


def test_where_nothing_was_found_the_first_by_name_are() -> None:
    clean = report([], *((f"/bin/{name}", "") for name in "abcd"))
    text = EMITTERS["text"].render(clean, RenderOptions(details=False, top=0))
    assert [line for line in text.splitlines() if line.startswith("/")] == ["/bin/a", "/bin/b", "/bin/c"]
