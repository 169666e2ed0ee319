"""The gates as their hosts run them: GitHub's composite action, GitLab's job, the hook of pre-commit.

Each is run from its own YAML on two changes, one of which brings a lock onto the line of a hot list head.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.gates.conftest import CHANGES, Forge

LINKED = {"binary": "server", "build": "make -s"}
FAILS = {"harmful": 1, "harmless": 0}
RULE = "hot-lock-shares-line"


def expanded(text: str, values: dict[str, str]) -> str:
    """The text with each ``${{ name }}`` filled in; a name that there is not fails."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)


def run_action(
    forge: Forge, repository: Path, given: dict[str, str], tmp_path: Path
) -> tuple[int, str, dict[str, str]]:
    """The action's steps in order, as GitHub's runner takes them: the last exit code, all output, the context."""
    action = yaml.safe_load((repository / "action.yml").read_text())
    values = {"github.base_ref": "main", "github.action_path": str(repository)}
    values |= {"runner.os": "Linux", "github.run_id": "1"}
    values |= {f"inputs.{name}": given.get(name, row["default"]) for name, row in action["inputs"].items()}
    assert set(given) <= set(action["inputs"])
    said = ""
    for number, step in enumerate(action["runs"]["steps"]):
        if "uses" in step:
            assert re.fullmatch(r"actions/cache@v\d+", step["uses"])
            for text in step["with"].values():
                expanded(text, values)
            continue
        assert (step["shell"], "${{" in step["run"]) == ("bash", False), "values go in by env, never into the script"
        outputs = tmp_path / f"outputs.{number}"
        outputs.touch()
        environment = {name: expanded(text, values) for name, text in step.get("env", {}).items()}
        environment |= {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        done = forge.run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], **environment)
        said += done.stdout + done.stderr
        rows = (row.partition("=") for row in outputs.read_text().splitlines())
        values |= {f"steps.{step['id']}.outputs.{name}": value for name, _, value in rows}
        if done.returncode:
            return done.returncode, said, values
    for row in action["outputs"].values():
        expanded(row["value"], values)
    return 0, said, values


@pytest.mark.parametrize("branch", CHANGES)
def test_the_action_on_a_pull_request(forge: Forge, repository: Path, tmp_path: Path, branch: str) -> None:
    forge.switch(branch)
    code, said, values = run_action(forge, repository, LINKED, tmp_path)
    assert (code, values["steps.check.outputs.status"]) == (FAILS[branch], str(FAILS[branch])), said
    results = json.loads((forge.top / "linemate.sarif").read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == [RULE] * FAILS[branch]
    assert ("LOCK_open" in (tmp_path / "summary").read_text()) == bool(FAILS[branch])


def test_the_action_that_cannot_check_fails_with_the_reason(forge: Forge, repository: Path, tmp_path: Path) -> None:
    forge.switch("harmless")
    code, said, _ = run_action(forge, repository, {"database": "nowhere"}, tmp_path)
    assert code == 2
    assert "nowhere" in said


def run_job(forge: Forge, repository: Path, **variables: str) -> tuple[int, str]:
    """The script of GitLab's job in one shell, as its runner does it."""
    job = yaml.safe_load((repository / "packaging/gates/gitlab.yml").read_text())["linemate"]
    fixed: dict[str, str] = {"CI_PROJECT_DIR": str(forge.top)}
    given = {name: re.sub(r"\$(\w+)", lambda found: fixed[found[1]], text) for name, text in job["variables"].items()}
    done = forge.run("bash", "-eo", "pipefail", "-c", "\n".join(job["script"]), **{**given, **variables})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("branch", CHANGES)
def test_the_job_on_a_merge_request(forge: Forge, repository: Path, branch: str) -> None:
    forge.switch(branch)
    linked = {f"LINEMATE_{name.upper()}": value for name, value in LINKED.items()}
    base = forge.ok("git", "merge-base", "main", "HEAD")
    # One cache for all gates of this file: the base is built once.
    cache = forge.environment["LINEMATE_CACHE"]
    code, said = run_job(forge, repository, CI_MERGE_REQUEST_DIFF_BASE_SHA=base, LINEMATE_CACHE=cache, **linked)
    assert code == FAILS[branch], said
    issues = json.loads((forge.top / "gl-code-quality-report.json").read_text())
    assert [(i["check_name"], i["severity"], i["location"]["path"]) for i in issues] == [
        (RULE, "critical", "src/cache.c")
    ] * FAILS[branch]
    suite = ElementTree.parse(forge.top / "linemate.xml").getroot()[0]
    assert suite.get("failures") == str(FAILS[branch])


def test_a_change_that_brings_a_cache_is_no_change_to_check(forge: Forge, repository: Path) -> None:
    forge.switch("harmless")
    cache = forge.top / ".linemate-cache"
    cache.mkdir()
    (cache / "verdict").touch()
    forge.ok("git", "add", "--force", str(cache))
    code, said = run_job(forge, repository, CI_MERGE_REQUEST_DIFF_BASE_SHA="main")
    forge.ok("git", "rm", "--quiet", "-r", "--force", str(cache))
    assert (code, said) == (2, ".linemate-cache is part of the change\n")


@pytest.mark.parametrize("branch", CHANGES)
def test_the_hook_before_a_commit(forge: Forge, repository: Path, branch: str) -> None:
    """The change is staged and built; HEAD is what it is compared with."""
    (hook,) = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert hook["pass_filenames"] is False
    forge.switch(branch)
    forge.ok("git", "reset", "--quiet", "--soft", "main")
    done = forge.run(*shlex.split(hook["entry"]), "--binary", "server", "--build", "make -s")
    forge.ok("git", "reset", "--quiet", "--hard", "ORIG_HEAD")
    assert done.returncode == FAILS[branch], done.stdout + done.stderr
    assert (RULE in done.stdout) == bool(FAILS[branch])


def test_every_file_of_a_host_is_yaml_that_its_page_names(repository: Path) -> None:
    page = (repository / "docs/gates.md").read_text()
    for name in ("action.yml", "packaging/gates/gitlab.yml", ".pre-commit-hooks.yaml"):
        loaded: Any = yaml.safe_load((repository / name).read_text())
        assert loaded
        assert name in page
