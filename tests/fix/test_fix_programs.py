"""Faulty programs of the end-to-end tests, and our own: check finds it, fix edits it, it compiles, check is silent."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.cli import main
from sharing.model.errors import LinemateError

OWN = "tests/fix/programs"
PROGRAMS = [
    "aligned_tail.cc",
    "hot_lock.c",
    "lock_array.c",
    "read_mostly.c",
    "split_atomic.c",
    "struct_counters.c",
    "thread_slots.c",
    "two_counters.c",
    "ring_members.cc",
    "ring_slots.cc",
    "record_slots.c",
    "template_slots.cc",
    "record_numbers.c",
    "moved_member.c",
]


def findings(capfd: pytest.CaptureFixture[str]) -> list[str]:
    capfd.readouterr()
    main(["check", "--format", "json", "--min-severity", "low", "--fail-on", "never"])
    return [finding["id"] for finding in json.loads(capfd.readouterr().out)["findings"]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_check_finds_fix_ends(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    compiler = "g++" if name.endswith(".cc") else "gcc"
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = tmp_path / name
    own = repository / OWN / name
    shutil.copy(own if own.exists() else repository / "tests/e2e/programs" / name, source)
    entry = {"directory": str(tmp_path), "file": name, "arguments": [compiler, "-O2", "-c", name]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    assert findings(capfd)
    before = source.read_text()
    assert main(["fix", "--above", "low", "--apply", "-q"]) == 0
    assert source.read_text() != before
    for tool in (compiler, {"gcc": "clang-19", "g++": "clang++-19"}[compiler]):
        if shutil.which(tool):
            subprocess.run([tool, "-O2", "-Werror", "-pthread", "-o", "program", name], cwd=tmp_path, check=True)
    assert findings(capfd) == []
