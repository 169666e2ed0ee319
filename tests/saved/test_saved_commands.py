"""report, diff and show over saved documents, as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from linemate import lastreport
from linemate.cli import main
from linemate.reportdiff import difference
from reports import EMITTERS
from reports.diff import DIFF_EMITTERS
from reports.options import RenderOptions
from sharing.model.finding import Finding, Report, Severity
from sharing.model.reportdiff import Difference, ReportDiff
from tests.builders.report import EMPTY, REPORT
from tests.saved.documents import texts

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/linemate-diff.schema.json").read_text())
FIRST, SECOND = REPORT.findings[:2]


def report(*findings: Finding, **fields: Any) -> Report:
    return msgspec.structs.replace(EMPTY, findings=findings, incomplete=False, **fields)


def at(finding: Finding, address: str) -> Finding:
    return msgspec.structs.replace(finding, line=msgspec.structs.replace(finding.line, address=address))


def judged(finding: Finding, severity: Severity) -> Finding:
    return msgspec.structs.replace(finding, severity=severity)


def kinds(diff: ReportDiff) -> list[tuple[Difference, str]]:
    return [(row.kind, (row.new or row.old or FIRST).id) for row in diff.differences]


@pytest.fixture
def save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Report], str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))

    def write(name: str, document: Report) -> str:
        Path(name).write_text(EMITTERS["json"].render(document))
        return name

    return write


class TestDiff:
    def test_equal_reports_have_no_difference(self) -> None:
        diff = difference(REPORT, REPORT)
        assert (diff.differences, diff.same) == ((), len(REPORT.findings))

    def test_new_gone_moved_and_changed(self) -> None:
        assert kinds(difference(report(FIRST), report(SECOND))) == [
            (Difference.NEW, SECOND.id),
            (Difference.GONE, FIRST.id),
        ]
        assert kinds(difference(report(FIRST), report(at(FIRST, "0x40")))) == [(Difference.MOVED, FIRST.id)]
        worse, better = judged(FIRST, Severity.CRITICAL), judged(FIRST, Severity.LOW)
        up, down = difference(report(better), report(worse)), difference(report(worse), report(better))
        assert kinds(up) == kinds(down) == [(Difference.CHANGED, FIRST.id)]
        assert (up.differences[0].worse, down.differences[0].worse) == (True, False)

    def test_one_pair_on_several_lines_is_told_apart_by_line(self) -> None:
        one, two, three = at(FIRST, "0x40"), at(FIRST, "0x80"), at(FIRST, "0xc0")
        diff = difference(report(one, two), report(two, three))
        assert (diff.same, [(row.old and row.old.line, row.new and row.new.line) for row in diff.differences]) == (
            1,
            [("0x40", "0xc0")],
        )

    def test_what_has_no_name_is_recognised_by_what_is_done_to_it(self) -> None:
        def nameless(number: int, by: str = "fn_40", size: int = 8) -> Finding:
            plain = msgspec.structs.replace(
                FIRST.participants[0], member="", readers=(by,), writers=(), lockers=(), bytes=((16, 16 + size),)
            )
            who = (
                msgspec.structs.replace(plain, name=f"bss+{number:#x}", size=size),
                msgspec.structs.replace(plain, name=f"bss+{number + 32:#x} (mutex)", bytes=((48, 56),)),
            )
            return msgspec.structs.replace(at(FIRST, hex(number)), id=f"{FIRST.rule}-{number:010x}", participants=who)

        moved = difference(report(nameless(0x40)), report(nameless(0xC0, by="fn_80")))
        assert [(row.kind, row.old and row.old.line, row.new and row.new.line) for row in moved.differences] == [
            (Difference.MOVED, "0x40", "0xc0")
        ]
        assert "1 finding is about variables without a name: paired by size" in moved.notes[-1]
        # Another size, a function that has a name, or two that look alike: nobody knows.
        for after in ((nameless(0xC0, size=4),), (nameless(0xC0, by="main"),), (nameless(0xC0), nameless(0x140))):
            diff = difference(report(nameless(0x40)), report(*after))
            assert {row.kind for row in diff.differences} == {Difference.NEW, Difference.GONE}
            assert "linemate explain OLD NEW" in diff.notes[-1]

    def test_what_was_hidden_is_counted(self) -> None:
        diff = difference(report(FIRST, hidden=1), report(FIRST, hidden=3))
        assert "hidden were 1 finding of the old report and 3 of the new one" in diff.notes[-1]

    def test_the_document_follows_its_schema(self) -> None:
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        diff = difference(report(FIRST, at(SECOND, "0x40")), report(SECOND, hidden=3))
        jsonschema.validate(json.loads(DIFF_EMITTERS["json"].render(diff)), SCHEMA)
        made = msgspec.json.schema(ReportDiff)["$defs"]
        assert SCHEMA["properties"].keys() == made.pop("ReportDiff")["properties"].keys()
        for name, struct in made.items():
            known = SCHEMA["$defs"][name]
            assert known.get("enum") == struct.get("enum"), name
            assert known.get("properties", {}).keys() == struct.get("properties", {}).keys(), name

    @pytest.mark.parametrize("name", ["text", "markdown"])
    def test_names_are_escaped(self, name: str) -> None:
        who = msgspec.structs.replace(FIRST.participants[0], name="a\x1b[31m|<b>")
        evil = msgspec.structs.replace(FIRST, participants=(who,))
        text = DIFF_EMITTERS[name].render(difference(report(), report(evil)), RenderOptions())
        assert "\x1b" not in text
        assert name == "text" or "|<b>" not in text.replace("\\|", "")

    @pytest.mark.parametrize(
        ("old", "new", "arguments", "code"),
        [
            (report(), report(judged(FIRST, Severity.HIGH)), (), 1),
            (report(), report(judged(FIRST, Severity.MEDIUM)), (), 0),
            (report(), report(judged(FIRST, Severity.MEDIUM)), ("--fail-on", "medium"), 1),
            (report(), report(judged(FIRST, Severity.HIGH)), ("--fail-on", "never"), 0),
            (report(judged(FIRST, Severity.LOW)), report(judged(FIRST, Severity.HIGH)), (), 1),
            (report(judged(FIRST, Severity.CRITICAL)), report(judged(FIRST, Severity.HIGH)), (), 0),
            (report(judged(FIRST, Severity.HIGH)), report(), (), 0),
            (report(), msgspec.structs.replace(EMPTY, incomplete=True), (), 3),
        ],
    )
    def test_the_exit_code_is_of_what_is_new_or_worse(
        self, save: Callable[[str, Report], str], old: Report, new: Report, arguments: tuple[str, ...], code: int
    ) -> None:
        assert main(["diff", save("old.json", old), save("new.json", new), *arguments]) == code


class TestReport:
    @pytest.mark.parametrize("format_name", EMITTERS)
    def test_every_format_is_what_the_command_would_have_written(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str], format_name: str
    ) -> None:
        from linemate.commands import common
        from linemate.commands.groups import DocumentOptions

        main(["report", save("saved.json", REPORT), "--format", format_name, "--details"])
        options = DocumentOptions().render_options(common.rule_infos())
        assert capsys.readouterr().out == EMITTERS[format_name].render(REPORT, options)

    def test_the_exit_code_is_that_of_the_command(self, save: Callable[[str, Report], str]) -> None:
        high, low = (
            save("high.json", report(judged(FIRST, Severity.HIGH))),
            save("low.json", report(judged(FIRST, Severity.LOW))),
        )
        assert [main(["report", high]), main(["report", low]), main(["report", high, "--fail-on", "never"])] == [
            1,
            0,
            0,
        ]

    def test_other_documents_are_shown_too(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for kind, text in texts().items():
            (tmp_path / f"{kind}.json").write_text(text)
        assert main(["report", str(tmp_path / "history.json"), "--format", "markdown"]) == 1  # it has a slowdown
        assert main(["report", str(tmp_path / "comparison.json")]) == 3  # of an incomplete analysis
        capsys.readouterr()
        assert main(["report", str(tmp_path / "history.json"), "--format", "sarif"]) == 2
        assert "a document of history has no format sarif: text, json, markdown, html" in capsys.readouterr().err


class TestShow:
    def test_a_finding_is_shown_by_id_or_its_beginning(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        saved = save("saved.json", report(FIRST, SECOND))
        assert main(["show", FIRST.id, "--in", saved]) == 0
        whole = capsys.readouterr().out
        assert FIRST.message.split(",")[0] in " ".join(whole.split())
        assert SECOND.id not in whole
        assert main(["show", FIRST.id[:-3], "--in", saved, "-o", "out.txt"]) == 0
        assert Path("out.txt").read_text() == whole

    def test_without_a_file_the_last_report_that_has_it_is_meant(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["show", FIRST.id]) == 2
        assert "no report is kept from an earlier run: name one with --in FILE" in capsys.readouterr().err
        lastreport.keep(report(SECOND))
        lastreport.keep(report(FIRST))
        assert main(["show", FIRST.id]) == 0
        assert capsys.readouterr().err == ""
        assert main(["show", SECOND.id]) == 0  # said before the last one
        said = capsys.readouterr()
        assert SECOND.id in said.out
        assert f"from an earlier report, of {report(SECOND).targets[0].path}" in said.err
        assert main(["show", "no-such-rule-0123456789"]) == 2
        said = capsys.readouterr().err
        assert "no finding 'no-such-rule-0123456789' in the 2 reports kept in " in said
        assert f"the last of {report(FIRST).targets[0].path}: audit or check once more" in said
        assert "--in FILE" in said

    def test_only_so_many_reports_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
        lastreport.keep(report(SECOND))
        size = (tmp_path / "cache/reports/last.json").stat().st_size
        for _ in range(lastreport.KEPT - 1):
            lastreport.keep(report(FIRST))
        assert main(["show", SECOND.id]) == 0
        lastreport.keep(report(FIRST))
        assert main(["show", SECOND.id]) == 2
        lastreport.keep(report(SECOND))
        monkeypatch.setattr(lastreport, "MAX_BYTES", 2 * size)  # of all together
        lastreport.keep(report(FIRST))
        lastreport.keep(report(FIRST))
        assert main(["show", SECOND.id]) == 2

    def test_what_another_version_kept_is_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
        kept = tmp_path / "cache/reports/last.json"
        lastreport.keep(report(FIRST))
        lastreport.keep(report(SECOND))
        kept.write_text(kept.read_text().replace(report(SECOND).schema, "linemate-report-999"))
        assert main(["show", FIRST.id]) == 0
        capsys.readouterr()
        kept.with_name("last1.json").unlink()
        assert main(["show", FIRST.id]) == 2
        assert "schema 'linemate-report-999', this version reads" in capsys.readouterr().err

    def test_the_text_of_a_saved_report_names_its_file(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        saved = save("saved.json", report(FIRST))
        assert main(["report", saved]) in (0, 1, 3)
        assert f"linemate show {FIRST.id} --in {saved} has all evidence" in " ".join(capsys.readouterr().out.split())

    def test_findings_below_a_severity_are_left_out_of_every_format(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        whole = report(FIRST, SECOND)
        least = max((FIRST, SECOND), key=lambda finding: finding.severity.rank).severity
        kept = [finding for finding in whole.findings if finding.severity.rank >= least.rank]
        assert 0 < len(kept) < len(whole.findings)
        saved = save("saved.json", whole)
        every = main(["report", saved, "-o", "every.txt"])
        for name in ("text", "json", "markdown", "sarif", "html", "junit"):
            assert main(["report", saved, "--min-severity", least.value, "--format", name, "-o", name]) == every
            text = Path(name).read_text()
            assert all((finding.id in text) == (finding in kept) for finding in whole.findings), name
        capsys.readouterr()
        assert json.loads(Path("json").read_text())["hidden"] == whole.hidden + len(whole.findings) - len(kept)

    def test_an_unknown_id_says_what_is_near(
        self, save: Callable[[str, Report], str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["show", FIRST.id + "0", "--in", save("saved.json", report(FIRST))]) == 2
        assert f"did you mean '{FIRST.id}'?" in capsys.readouterr().err

    def test_nothing_is_kept_where_nothing_can_be(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "file"))
        lastreport.keep(report(FIRST))
        assert capsys.readouterr().err == ""
