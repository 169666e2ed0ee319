"""A review that compares what was linked: a variable added in one file brings two of another file together."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

SOURCES = Path(__file__).parents[2] / "testdata" / "programs" / "table_cache"
UNITS = ("table_share", "sys_vars", "table_cache", "main")
FLAGS = ("-O2", "-g", "-std=c++17", "-fno-rtti", "-fno-exceptions", "-pthread")
BUILD = "sh build.sh"
SCRIPT = "mkdir -p build\n" + f"g++ {' '.join(FLAGS)} -o build/server " + " ".join(f"{u}.cc" for u in UNITS) + "\n"

Run = Callable[..., Any]


@pytest.fixture
def base(project: Project) -> str:
    """The server core in a repository, built, with the pair on two lines; and a compile database."""
    need_analyzer("g++")
    files = {path.name: path.read_text() for path in SOURCES.iterdir() if path.suffix in (".cc", ".h")}
    commit = project.commit({**files, "build.sh": SCRIPT})
    project.database(*(f"{unit}.cc" for unit in UNITS), flags=FLAGS)
    make(project)
    return commit


def make(project: Project) -> None:
    subprocess.run(["sh", "build.sh"], cwd=project.top, check=True, capture_output=True)


def add_a_variable(project: Project) -> None:
    """208 bytes in a file that has nothing to do with the pair."""
    text = (project.top / "sys_vars.cc").read_text()
    project.write({"sys_vars.cc": "#define EXTRA_SYSVAR\n" + text})
    make(project)


def check(run: Run, base: str, *more: str) -> Any:
    built = ("--base", base, "--build", BUILD, "--binary", "build/server")
    return run("check", *built, "--format", "json", *more)


def test_a_variable_added_elsewhere_fails_the_review(run: Run, project: Project, base: str) -> None:
    add_a_variable(project)
    result = check(run, base)
    report = json.loads(result.out)
    (finding,) = report["findings"]
    assert (result.code, finding["rule"], finding["severity"]) == (1, "hot-lock-shares-line", "high")
    assert [who["name"] for who in finding["participants"][:2]] == ["LOCK_open", "unused_tables"]
    (note,) = [note for note in report["coverage"]["notes"] if note.startswith("since the base: ")]
    assert "added" in note
    assert "moved" in note
    assert "unused_tables.first` now share line" in note
    # The reader of a pull request sees the edit first, and where it is.
    mover = finding["related"][0]
    assert (mover["verb"], Path(mover["source"].rpartition(":")[0]).name) == ("moves", "sys_vars.cc")
    assert finding["message"].startswith(f"since the base, {mover['function']} (added, +")


def test_the_finding_of_a_linked_program_is_fixed_as_it_says(run: Run, project: Project, base: str) -> None:
    """Its layout is the program's: `fix` is told which."""
    add_a_variable(project)
    (finding,) = json.loads(check(run, base).out)["findings"]
    assert f"linemate fix {finding['id']} --binary build/server" in run("check", "--binary", "build/server").out
    fixed = run("fix", finding["id"], "--binary", "build/server")
    assert fixed.code == 0
    assert "alignas(64)" in fixed.out


def test_every_gate_names_what_was_added_first(run: Run, project: Project, base: str) -> None:
    add_a_variable(project)
    check(run, base, "-o", "report.json")
    (finding,) = json.loads((project.top / "report.json").read_text())["findings"]
    added = finding["related"][0]["function"]
    shown = {name: run("report", "report.json", "--format", name).out for name in ("markdown", "junit", "codequality")}
    assert all("since the base, " in text for text in shown.values())
    assert shown["markdown"].index(added.replace("_", "\\_")) < shown["markdown"].index("<details>")
    (result,) = json.loads(run("report", "report.json", "--format", "sarif").out)["runs"][0]["results"]
    assert result["message"]["text"].startswith(f"{added} moved ")
    place = result["relatedLocations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "sys_vars.cc"
    assert place["logicalLocations"][0] == {"name": added, "fullyQualifiedName": added, "kind": "variable"}


def test_the_same_variable_with_the_pair_padded_passes(run: Run, project: Project, base: str) -> None:
    text = (project.top / "table_cache.cc").read_text()
    project.write({"table_cache.cc": "#define PADDED\n" + text})
    add_a_variable(project)
    result = check(run, base)
    assert (result.code, json.loads(result.out)["findings"]) == (0, [])


def test_an_edit_of_a_comment_has_nothing_new_and_the_base_is_built_once(
    run: Run, project: Project, base: str, own_environment: Path
) -> None:
    text = (project.top / "table_cache.cc").read_text()
    project.write({"table_cache.cc": text + "// a comment\n"})
    make(project)
    for _ in range(2):
        result = check(run, base)
        assert (result.code, json.loads(result.out)["findings"]) == (0, [])
    assert len(list(own_environment.rglob("server"))) == 1


def test_what_met_before_is_not_new(run: Run, project: Project, base: str) -> None:
    add_a_variable(project)
    second = project.commit()
    project.write({"main.cc": (project.top / "main.cc").read_text() + "// a comment\n"})
    make(project)
    result = check(run, second)
    report = json.loads(result.out)
    assert (result.code, report["findings"]) == (0, [])
    assert not [note for note in report["coverage"]["notes"] if note.startswith("since the base: ")]


def test_a_base_that_does_not_build_is_one_line(run: Run, project: Project, base: str) -> None:
    project.write({"build.sh": "echo no rule to make it; exit 7\n"})
    broken = project.commit()
    result = check(run, broken)
    assert result.code == 2
    assert result.err.startswith("linemate: error: --build of ")
    assert "the build ended with 7; no rule to make it" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--build", BUILD), "it takes --base REV and --binary FILE"),
        (("--base", "HEAD", "--build", BUILD), "it takes --base REV and --binary FILE"),
        (("--base", "HEAD", "--binary", "build/server"), "or --binary FILE with --build COMMAND"),
        (("--base", "HEAD", "--build", BUILD, "--binary", "/bin/ls"), "/bin/ls: not below"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    run: Run, project: Project, base: str, arguments: tuple[str, ...], why: str
) -> None:
    result = run("check", *arguments)
    assert (result.code, why in result.err) == (2, True), result.err


def undecided(run: Run, base: str, *more: str) -> list[str]:
    notes = json.loads(run("check", "--base", base, "--format", "json", *more).out)["coverage"]["notes"]
    return [note for note in notes if note.startswith("undecided: ")]


def test_sources_alone_say_that_the_linker_may_have_moved_a_pair(run: Run, project: Project, base: str) -> None:
    """Of the pair they know that it meets at one of two starts; which one it is, the linked program tells."""
    add_a_variable(project)
    (note,) = undecided(run, base)
    assert note.startswith("undecided: sys_vars.cc adds buf (+208 bytes), which may have moved")
    assert "LOCK_open.m_mutex and unused_tables.first" in note
    assert "--binary FILE with --build COMMAND" in note
    shown = run("check", "--base", base, "--format", "markdown").out
    assert shown.index("may have moved") < shown.index("<details>")
    assert undecided(run, base, "--build", BUILD, "--binary", "build/server") == []


def test_a_change_that_adds_no_variable_elsewhere_leaves_nothing_open(run: Run, project: Project, base: str) -> None:
    text = (project.top / "sys_vars.cc").read_text()
    project.write({"sys_vars.cc": text + "const char *const a_constant = nullptr;\nint a_function() { return 1; }\n"})
    assert undecided(run, base) == []


def test_a_pair_that_the_change_separates_leaves_nothing_open(run: Run, project: Project, base: str) -> None:
    text = (project.top / "table_cache.cc").read_text()
    project.write({"table_cache.cc": "#define PADDED\n" + text})
    add_a_variable(project)
    assert undecided(run, base) == []


def test_a_base_that_does_not_build_is_told_by_its_first_error(run: Run, project: Project, base: str) -> None:
    """What a build tool says last is mostly that there was an error."""
    said = ("reading", "CMake Error at CMakeLists.txt:3:", "  no package", "a", "b", "stopped")
    command = "; ".join([*(f"echo '{line}'" for line in said), "false"])
    result = run("check", "--base", base, "--build", command, "--binary", "build/server")
    assert result.code == 2
    assert "; CMake Error at CMakeLists.txt:3:; no package; a" in result.err
