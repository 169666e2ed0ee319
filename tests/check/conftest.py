"""Fixtures of the check command's tests: repositories away from the user's git configuration and cache."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from linemate.cli import main
from tests.check.repositories import Project, make_project


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No configuration of the user's git, and a cache of the test's own; the cache folder."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("LINEMATE_CACHE", str(cache))
    return cache


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """``run("check", …)`` at the top of the project."""
    monkeypatch.chdir(project.top)
    monkeypatch.setenv("LINEMATE_DEBUG", "1")

    def invoke(*arguments: str) -> Result:
        capfd.readouterr()
        code = main(arguments)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return invoke
