"""``linemate check``: which units are asked for, what is compared, and which exit code says what."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from linemate.database import FILE_NAME
from reports import EMITTERS
from sharing.model import Confidence, Severity
from sharing.rules import RULES
from tests.builders.report import BIG_LINE, CHECKED, EMPTY, FROM_SOURCE, HOSTILE_NAMES, PAIR_OF_LINES, REPORT

ONE_UNIT = '[{"directory": "/src", "file": "a.c", "arguments": ["gcc", "-c", "a.c"]}]'

Run = Callable[..., Any]


def with_findings(*findings: Any) -> Any:
    return msgspec.structs.replace(EMPTY, command="check", findings=findings)


@pytest.fixture
def database(run: Run) -> Path:
    """A compile database of one unit in the current folder (``run`` made it an empty one)."""
    Path(FILE_NAME).write_text(ONE_UNIT)
    return Path(FILE_NAME)


def test_flags_become_options(run: Run, pipeline: Any, database: Path) -> None:
    result = run(
        *("check", "-p", ".", "a.c", "b.c", "-j", "3", "--no-cache", "--objects", "obj", "--binary", "server"),
        *("--line-size", "128", "--min-confidence", "static", "--min-severity", "medium", "--fail-on", "never"),
        *("--rule", RULES[0].id, "--symbol", "LOCK_*"),
    )
    assert result.code == 0
    (options,) = pipeline.checked
    facts = options.facts
    assert (facts.database, facts.sources, facts.flags) == (FILE_NAME, ("a.c", "b.c"), ())
    assert (facts.jobs, facts.cache) == (3, None)
    assert (options.objects, options.binary, options.line_size) == ("obj", "server", 128)
    # Beside a linked program all severities are needed: its code may raise them.
    assert (options.min_confidence, options.min_severity) == (Confidence.STATIC, Severity.NOTE)
    assert (options.rules, options.symbols, options.fail_on) == ((RULES[0].id,), ("LOCK_*",), None)
    (linked,) = pipeline.asked
    assert (linked.binary, linked.line_size, linked.min_confidence) == ("server", 128, Confidence.STATIC)
    assert (linked.rules, linked.symbols) == (options.rules, options.symbols)


def test_flags_after_two_dashes_are_the_compilers(run: Run, pipeline: Any) -> None:
    run("check", "a.c", "--", "-O2", "-p", "--base", "x.c")
    facts = pipeline.checked[0].facts
    assert (facts.database, facts.sources, facts.flags) == ("", ("a.c",), ("-O2", "-p", "--base", "x.c"))
    run("check", "a.c", "--")
    assert pipeline.checked[1].facts.flags == ()
    assert pipeline.checked[1].facts.database == ""


def test_the_units_of_a_database_are_read_by_a_cluster_if_asked(run: Run, pipeline: Any, database: Path) -> None:
    run("check")
    run("check", "--engine", "dask")
    run("check", "--engine", "dask", "--scheduler", "tcp://head:8786")
    assert [options.facts.scheduler for options in pipeline.checked] == [None, "", "tcp://head:8786"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--scheduler", "tcp://head:8786"), "--scheduler is of --engine dask"),
        (("--engine", "dask", "a.c", "--", "-O2"), "not with flags after --"),
        (("--engine", "dask", "--watch"), "not with --engine dask"),
    ],
)
def test_what_a_cluster_cannot_do_is_bad_usage(run: Run, database: Path, arguments: tuple[str, ...], why: str) -> None:
    result = run("check", *arguments)
    assert result.code == 2
    assert why in result.err


@pytest.mark.parametrize("place", [".", "build", "..", "../build", "../.."])
def test_the_nearest_database_is_found(
    run: Run, pipeline: Any, monkeypatch: pytest.MonkeyPatch, place: str, tmp_path: Path
) -> None:
    here = tmp_path / "a" / "b"
    (here / place).mkdir(parents=True, exist_ok=True)
    (here / place / FILE_NAME).write_text(ONE_UNIT)
    monkeypatch.chdir(here)
    assert run("check").code == 0
    assert Path(pipeline.checked[0].facts.database).resolve() == (here / place / FILE_NAME).resolve()


def test_a_nearer_database_wins(run: Run, pipeline: Any, database: Path) -> None:
    Path("build").mkdir()
    Path("build", FILE_NAME).write_text(ONE_UNIT)
    run("check")
    assert Path(pipeline.checked[0].facts.database).resolve() == database.resolve()


def test_the_cache_is_where_the_user_says(run: Run, pipeline: Any, database: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("LINEMATE_CACHE", raising=False)
    for variable, value, folder in (
        ("XDG_CACHE_HOME", "relative", "/home/someone/.cache/linemate"),
        ("XDG_CACHE_HOME", "/var/xdg", "/var/xdg/linemate"),
        ("LINEMATE_CACHE", "/var/own", "/var/own"),
    ):
        monkeypatch.setenv(variable, value)
        run("check")
        assert pipeline.checked[-1].facts.cache == f"{folder}/facts"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("check",), f"no {FILE_NAME} here, in build or in a folder above: cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
        (("check", "-p", "gone"), "gone: no such file or folder"),
        (("check", "-p", "folder"), f"folder: no {FILE_NAME} in it"),
        (("check", "--", "-O2"), "flags after --, but no SOURCE"),
        (("check", "-p", "folder", "a.c", "--", "-O2"), "give either"),
        (("check", "a.c", "--base", "x", "--baseline", "f", "--"), "give either"),
        (("check", "a.c", "--base", "", "--"), "--base is empty"),
        (("check", "a.c", "--baseline", " ", "--"), "--baseline is empty"),
        (("check", "a.c", "--base", "x", "--write-baseline", "f", "--"), "give either"),
        (("check", "a.c", "--base", "x", "--objects", "o", "--"), "use --baseline"),
        (("check", "a.c", "--base", "x", "--binary", "o", "--"), "use --baseline"),
        (("check", "a.c", "--write-baseline", "f", "--symbol", "x", "--"), "accepts every finding"),
        (("check", "a.c", "--write-baseline", "f", "--rule", RULES[0].id, "--"), "accepts every finding"),
        (("check", "a.c", "--write-baseline", "f", "--min-confidence", "static", "--"), "accepts every finding"),
        (("check", "a.c", "--write-baseline", "a.c", "--"), "is the input itself"),
        (("check", "a.c", "-o", "a.c", "--"), "is the input itself"),
        (("check", "a.c", "--rule", "zzz", "--"), "no rule 'zzz'"),
        (("check", "a.c", "--baseline", "gone.json", "--"), "gone.json: No such file or directory"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(run: Run, pipeline: Any, arguments: tuple[str, ...], part: str) -> None:
    Path("folder").mkdir()
    Path("a.c").write_text("int x;")
    pipeline.report = EMPTY
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert part in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("report", "flags", "code"),
    [
        (EMPTY, (), 0),
        (with_findings(PAIR_OF_LINES), (), 0),
        (with_findings(FROM_SOURCE), (), 1),
        (with_findings(FROM_SOURCE), ("--fail-on", "critical"), 0),
        (with_findings(PAIR_OF_LINES), ("--fail-on", "low"), 1),
        (REPORT, (), 3),
    ],
)
def test_exit_code(run: Run, pipeline: Any, database: Path, report: Any, flags: tuple[str, ...], code: int) -> None:
    pipeline.report = report
    assert run("check", *flags).code == code


@pytest.mark.parametrize("name", EMITTERS)
def test_each_format_is_written(run: Run, pipeline: Any, database: Path, name: str) -> None:
    pipeline.report = CHECKED
    assert "cache_lock" in run("check", "--format", name).out


def test_accepted_findings_are_known_from_then_on(run: Run, pipeline: Any, database: Path) -> None:
    pipeline.report = with_findings(FROM_SOURCE, BIG_LINE)
    first = run("check", "--write-baseline", "accepted.json")
    assert (first.code, "1 finding was there before (accepted in accepted.json)" in first.out) == (0, True)
    second = run("check", "--baseline", "accepted.json")
    assert second.code == 0
    assert "no new findings; 1 finding was there before (baseline accepted.json)" in second.out
    pipeline.report = with_findings(FROM_SOURCE, BIG_LINE, HOSTILE_NAMES)
    third = run("check", "--baseline", "accepted.json", "--format", "json")
    assert third.code == 1
    assert [finding["id"] for finding in json.loads(third.out)["findings"]] == [HOSTILE_NAMES.id]


def test_a_finding_that_got_worse_is_new(run: Run, pipeline: Any, database: Path) -> None:
    pipeline.report = with_findings(msgspec.structs.replace(FROM_SOURCE, severity=Severity.NOTE))
    run("check", "--write-baseline", "accepted.json")
    pipeline.report = with_findings(FROM_SOURCE)
    assert run("check", "--baseline", "accepted.json").code == 1
    run("check", "--write-baseline", "accepted.json")
    pipeline.report = with_findings(msgspec.structs.replace(FROM_SOURCE, severity=Severity.LOW))
    assert run("check", "--baseline", "accepted.json").code == 0


def test_a_new_baseline_may_be_written_while_the_old_one_is_held(run: Run, pipeline: Any, database: Path) -> None:
    pipeline.report = with_findings(FROM_SOURCE)
    run("check", "--write-baseline", "accepted.json")
    pipeline.report = with_findings(FROM_SOURCE, HOSTILE_NAMES)
    both = ("check", "--baseline", "accepted.json", "--write-baseline", "accepted.json")
    assert run(*both).code == 1
    assert run(*both).code == 0


def test_notes_are_compared_and_hidden(run: Run, pipeline: Any, database: Path) -> None:
    """The pipeline is asked for all, so that a known note that became severe is seen; what is shown does not change."""
    pipeline.report = with_findings(BIG_LINE)
    Path("none.json").write_text('{"schema": "linemate-baseline-2", "findings": []}')
    result = run("check", "--baseline", "none.json", "--format", "json")
    assert pipeline.checked[0].min_severity is Severity.NOTE
    report = json.loads(result.out)
    assert (report["findings"], report["hidden"], report["known"]) == ([], EMPTY.hidden + 1, 0)


def test_what_is_gone_from_the_baseline_is_said(run: Run, pipeline: Any, database: Path) -> None:
    pipeline.report = with_findings(FROM_SOURCE, BIG_LINE)
    run("check", "--write-baseline", "accepted.json")
    pipeline.report = with_findings(FROM_SOURCE)
    assert "1 finding of the baseline is no longer found" in run("check", "--baseline", "accepted.json").out
    assert "no longer" not in run("check", "--baseline", "accepted.json", "--symbol", "x*").out


def test_an_incomplete_run_is_not_accepted(run: Run, pipeline: Any, database: Path) -> None:
    """What is missing from it would look new in the next complete one."""
    pipeline.report = REPORT
    result = run("check", "--write-baseline", "accepted.json")
    assert result.code == 3
    assert "accepted.json was not written: the analysis is incomplete" in result.out
    assert "3 findings: 1 critical, 1 high, 1 low" in result.out
    assert not Path("accepted.json").exists()
