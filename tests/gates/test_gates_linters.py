"""What hosts make of our files, by their own linters: actionlint of the documented workflow, multitool of SARIF."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.commands.common import rule_infos
from reports import EMITTERS, RenderOptions
from tests.builders.report import CHECKED, REPORT

MULTITOOL = "sarif-multitool"


def program(name: str) -> str | None:
    """On the PATH.  npm's command for the multitool hands its arguments to a shell, which takes ``;`` for its own."""
    found = shutil.which(name)
    if found is None or name != MULTITOOL:
        return found
    behind = Path(found).resolve().parents[1] / "sarif-multitool-linux" / "Sarif.Multitool"
    return str(behind) if behind.exists() else found


def linter(name: str, *arguments: str | Path, folder: Path) -> tuple[int, str]:
    found = program(name)
    if found is None:
        pytest.skip(f"no {name} on the PATH: CONTRIBUTING.md says where it is from")
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(
        [found, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_the_documented_workflow_uses_the_action_rightly(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs/gates.md").read_text()
    workflow = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0].replace("OWNER/linemate@main", "./linemate")
    (tmp_path / "linemate").mkdir()
    shutil.copy(repository / "action.yml", tmp_path / "linemate")
    (workflows := tmp_path / ".github" / "workflows").mkdir(parents=True)
    (workflows / "gate.yml").write_text(workflow)
    (workflows / "wrong.yml").write_text(workflow.replace("binary:", "binaries:"))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # where local actions are looked for
    assert linter("actionlint", "-no-color", workflows / "gate.yml", folder=tmp_path) == (0, "")
    code, said = linter("actionlint", "-no-color", workflows / "wrong.yml", folder=tmp_path)
    assert code == 1
    assert 'input "binaries" is not defined in action "linemate"' in said


def test_microsofts_multitool_accepts_sarif_as_github_takes_it(tmp_path: Path) -> None:
    options = RenderOptions(rules=rule_infos(), version="0.1.0", home="https://example.org/", source_root="/src")
    for name, report in (("audit", REPORT), ("check", CHECKED)):
        document = json.loads(EMITTERS["sarif"].render(report, options))
        (tmp_path / f"{name}.sarif").write_text(json.dumps(document))
    del document["runs"][0]["tool"]["driver"]["rules"][0]["fullDescription"]
    (tmp_path / "wrong.sarif").write_text(json.dumps(document))
    rules = ("--rule-kind", "Sarif;Gh")
    _, said = linter(MULTITOOL, "validate", "audit.sarif", "check.sarif", *rules, folder=tmp_path)
    assert "2 files scanned" in said
    assert [line for line in said.splitlines() if re.search(r": (error|warning) ", line)] == []
    _, said = linter(MULTITOOL, "validate", "wrong.sarif", *rules, folder=tmp_path)
    assert "GH2012" in said
