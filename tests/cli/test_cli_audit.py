"""``linemate audit``: what flags ask of the pipeline, where the report goes, and which exit code says what."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reports import EMITTERS
from sharing.model import Confidence, LinemateError, Malformed, Severity
from sharing.rules import RULES
from tests.builders.report import BIG_LINE, EMPTY, HOSTILE_NAMES, PAIR_OF_LINES, REPORT

Run = Callable[..., Any]
COMPLETE = msgspec.structs.replace(REPORT, incomplete=False)


def with_findings(*findings: Any) -> Any:
    return msgspec.structs.replace(EMPTY, findings=findings)


def test_flags_become_options(run: Run, pipeline: Any) -> None:
    result = run(
        *("audit", "server", "--line-size", "128", "--min-confidence", "static", "--min-severity", "medium"),
        *(
            "--rule",
            RULES[0].id,
            "--rule",
            RULES[1].id,
            "--symbol",
            "LOCK_*",
            "--fail-on",
            "never",
            "--debug-file",
            "d",
        ),
    )
    assert result.code == 0
    (options,) = pipeline.asked
    assert (options.binary, options.line_size, options.debug_file) == ("server", 128, "d")
    assert (options.min_confidence, options.min_severity) == (Confidence.STATIC, Severity.MEDIUM)
    assert (options.rules, options.symbols, options.fail_on) == ((RULES[0].id, RULES[1].id), ("LOCK_*",), None)


@pytest.mark.parametrize("confidence", Confidence)
def test_every_confidence_has_a_name_to_type(run: Run, pipeline: Any, confidence: Confidence) -> None:
    run("audit", "server", "--min-confidence", confidence.name.lower())
    assert pipeline.asked[0].min_confidence is confidence


def test_defaults_hide_notes_and_fail_on_high(run: Run, pipeline: Any) -> None:
    run("audit", "server")
    (options,) = pipeline.asked
    assert (options.line_size, options.min_severity, options.fail_on) == (None, Severity.LOW, Severity.HIGH)
    assert (options.rules, options.symbols, options.project.path) == ((), (), "")


def test_asking_to_fail_on_notes_shows_notes(run: Run, pipeline: Any) -> None:
    run("audit", "server", "--fail-on", "note")
    run("audit", "server", "--fail-on", "note", "--min-severity", "high")
    assert [options.min_severity for options in pipeline.asked] == [Severity.NOTE, Severity.HIGH]


@pytest.mark.parametrize(
    ("report", "flags", "code"),
    [
        (EMPTY, (), 0),
        (with_findings(PAIR_OF_LINES), (), 0),
        (with_findings(HOSTILE_NAMES), (), 1),
        (with_findings(HOSTILE_NAMES), ("--fail-on", "critical"), 0),
        (with_findings(HOSTILE_NAMES), ("--fail-on", "never"), 0),
        (with_findings(PAIR_OF_LINES), ("--fail-on", "low"), 1),
        (with_findings(BIG_LINE), ("--fail-on", "note"), 1),
        (COMPLETE, (), 1),
        (REPORT, (), 3),
        (REPORT, ("--fail-on", "never"), 3),
    ],
)
def test_exit_code(run: Run, pipeline: Any, report: Any, flags: tuple[str, ...], code: int) -> None:
    pipeline.report = report
    assert run("audit", "server", *flags).code == code


@pytest.mark.parametrize("name", EMITTERS)
def test_each_format_is_written_to_standard_output(run: Run, pipeline: Any, name: str) -> None:
    pipeline.report = COMPLETE
    result = run("audit", "server", "--format", name)
    assert "LOCK_open" in result.out
    assert result.out.endswith("\n")
    assert "\x1b" not in result.out
    assert result.err == ""


@pytest.mark.parametrize("name", [name for name, emitter in EMITTERS.items() if emitter.suffix])
def test_the_ending_of_the_output_file_chooses_the_format(run: Run, pipeline: Any, name: str) -> None:
    file = f"report{EMITTERS[name].suffix}"
    run("audit", "server", "-o", file)
    run("audit", "server", "-o", "other", "--format", name)
    assert Path(file).read_text() == Path("other").read_text()


def test_quiet_says_nothing_about_a_clean_program(run: Run, pipeline: Any) -> None:
    result = run("audit", "server", "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_an_output_file_is_replaced_whole_and_keeps_its_mode(run: Run, pipeline: Any) -> None:
    target = Path("report.json")
    target.write_text("old")
    target.chmod(0o640)
    assert run("audit", "server", "-o", "report.json").code == 0
    assert json.loads(target.read_text())["command"] == "audit"
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir() == ["report.json"]


def test_a_new_output_file_has_the_usual_mode(run: Run, pipeline: Any) -> None:
    mask = os.umask(0o027)
    try:
        run("audit", "server", "-o", "report.json")
    finally:
        os.umask(mask)
    assert Path("report.json").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_out_of_its_folder_is_not_written_through(run: Run, pipeline: Any, there: bool) -> None:
    Path("server").write_bytes(b"\x7fELF")
    Path("tree").mkdir()
    Path("report.md").symlink_to("tree/kept")
    if there:
        Path("tree/kept").write_text("kept")
    result = run("audit", "server", "-o", "report.md")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"linemate: error: report.md: is a link to {Path('tree/kept').resolve()}, in another folder: name that, or "
        "remove the link\n"
    )
    assert [path.read_text() for path in Path("tree").iterdir()] == ["kept"] * there
    assert pipeline.asked == []


def test_a_pipe_that_nobody_reads_is_not_waited_for(run: Run, pipeline: Any) -> None:
    os.mkfifo("report.json")
    result = run("audit", "server", "-o", "report.json")
    assert (result.code, result.err) == (2, "linemate: error: report.json: is a pipe that nobody reads\n")
    reader = os.open("report.json", os.O_RDONLY | os.O_NONBLOCK)
    assert run("audit", "server", "-o", "report.json").code == 0
    assert json.loads(os.read(reader, 1 << 16))["command"] == "audit"
    os.close(reader)


def test_a_link_within_its_folder_is_written_through(run: Run, pipeline: Any) -> None:
    Path("server").write_bytes(b"\x7fELF")
    Path("latest.json").symlink_to("report.json")
    run("audit", "server", "-o", "latest.json")
    assert Path("latest.json").is_symlink()
    assert Path("report.json").read_text().startswith("{")


@pytest.mark.parametrize("make", [lambda: Path("link").symlink_to("server"), lambda: os.link("server", "link")])
def test_the_input_is_never_overwritten(run: Run, pipeline: Any, make: Callable[[], None]) -> None:
    Path("server").write_bytes(b"\x7fELF")
    make()
    for output in ("server", "./server", "link"):
        result = run("audit", "server", "-o", output)
        assert (result.code, result.out) == (2, "")
        assert result.err == f"linemate: error: {output}: is the input itself, not overwritten\n"
    assert Path("server").read_bytes() == b"\x7fELF"
    assert pipeline.asked == []


def test_the_debug_file_and_the_project_file_are_inputs_too(run: Run, pipeline: Any) -> None:
    Path("server.debug").write_text("x")
    Path("linemate.toml").write_text("")
    assert run("audit", "server", "--debug-file", "server.debug", "-o", "server.debug").code == 2
    assert run("audit", "server", "-o", "linemate.toml").code == 2


@pytest.mark.parametrize(
    ("output", "message"),
    [("missing/report.txt", "missing/report.txt: no directory missing"), (".", ".: is a directory")],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    run: Run, pipeline: Any, output: str, message: str
) -> None:
    result = run("audit", "server", "-o", output)
    assert (result.code, result.err) == (2, f"linemate: error: {message}\n")
    assert pipeline.asked == []


def test_a_device_is_written_to_not_replaced(run: Run, pipeline: Any) -> None:
    assert run("audit", "server", "-o", "/dev/null").code == 0
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (Malformed("server", 0x40, "program header 3 ends after the file"), "server: offset 0x40: program header 3"),
        (LinemateError("server: evil\x1b[31m\nname"), "server: evil\\x1b[31m\\x0aname"),
        (FileNotFoundError(2, "No such file or directory", "server"), "server: No such file or directory"),
        (MemoryError(), "out of memory"),
    ],
)
def test_an_unreadable_input_is_one_line_and_code_2(run: Run, pipeline: Any, error: Exception, line: str) -> None:
    pipeline.error = error
    result = run("audit", "server")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"linemate: error: {line}")
    assert result.err.count("\n") == 1


def test_a_defect_is_one_line_that_asks_for_a_report(run: Run, pipeline: Any) -> None:
    pipeline.error = KeyError("row 7")
    result = run("audit", "server")
    assert result.code == 70
    assert result.err.startswith("linemate: error: internal error, please report it: KeyError: 'row 7'")
    assert result.err.count("\n") == 1


def test_a_defect_shows_where_when_asked_to(run: Run, pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEMATE_DEBUG", "1")
    pipeline.error = KeyError("row 7")
    result = run("audit", "server")
    assert result.code == 70
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert result.err.splitlines()[-1].startswith("linemate: error: internal error, please report it: KeyError")


def test_an_interrupt_is_quiet(run: Run, pipeline: Any) -> None:
    pipeline.error = KeyboardInterrupt()
    result = run("audit", "server")
    assert (result.code, result.out, result.err.strip()) == (130, "", "")


def test_profiles_are_handed_on_and_never_overwritten(run: Run, pipeline: Any) -> None:
    Path("perf.data").write_text("")
    run("audit", "server", "--samples", "perf.data", "--samples", "other.data")
    assert pipeline.asked[0].samples == ("perf.data", "other.data")
    assert run("audit", "server", "--samples", "perf.data", "-o", "perf.data").code == 2


def test_facts_of_the_source_are_handed_on_and_never_overwritten(run: Run, pipeline: Any) -> None:
    Path("unit.jsonl").write_text("{}")
    run("audit", "server", "--facts", "unit.jsonl", "--facts", "other.jsonl")
    assert pipeline.asked[0].facts == ("unit.jsonl", "other.jsonl")
    assert run("audit", "server", "--facts", "unit.jsonl", "-o", "unit.jsonl").code == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("audit",), "Missing argument 'PATH...'"),
        (("audit", "server", "--line-size", "48"), "'48' is not one of"),
        (("audit", "server", "--frobnicate"), "No such option"),
        (("audit", "server", "--rule", f"{RULES[0].id}s"), f"no rule '{RULES[0].id}s': did you mean '{RULES[0].id}'?"),
        (("audit", "server", "--rule", "zzz"), "no rule 'zzz': there are: "),
        (("explain", "0123456789"), "what is known of a finding: linemate show 0123456789"),
        (("explain", "hot-lock-shares-line-0123456789-2"), "linemate show hot-lock-shares-line-0123456789-2"),
        (("explain", "server.old"), "Missing argument 'NEW'"),
        (("prescribe",), "No such command 'prescribe'"),
        ((), "Missing command (see linemate --help)"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(run: Run, pipeline: Any, arguments: tuple[str, ...], part: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("linemate: error: ")
    assert part in result.err
    assert result.err.count("\n") == 1
