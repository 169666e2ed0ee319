"""Findings keep their names in every checkout: paths in them are those below the folder of the compilation."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.cli import main
from sharing.basics.sourcepath import in_project, shortened
from sharing.model.errors import LinemateError
from sharing.model.image import Unit


@pytest.mark.parametrize(
    ("path", "folder", "short"),
    [
        ("/home/a/kv/main.cc", "/home/a/kv", "main.cc"),
        ("main.cc", "/home/a/kv", "main.cc"),  # as DWARF has it
        ("./main.cc", "/home/a/kv", "main.cc"),
        ("/home/a/kv/main.cc", "/home/a/kv/build/release", "main.cc"),
        ("/home/a/kv/src/net/main.cc", "/home/a/kv/build", "net/main.cc"),
        ("/home/a/kv/src/main.cc", "/home/a/kv", "src/main.cc"),
        ("../lib/list.h", "/home/a/kv/src", "lib/list.h"),
        ("/usr/include/x/y.h", "/home/a/kv", "x/y.h"),
        ("/home/a/kv/main.cc", "", "kv/main.cc"),  # nothing says where it was compiled
        ("/home/a/kv/main.cc", ".", "kv/main.cc"),
    ],
)
def test_what_is_above_the_folder_of_the_compilation_does_not_count(path: str, folder: str, short: str) -> None:
    assert shortened(path, (folder,)) == short


def test_the_unit_that_declares_decides_and_without_one_the_nearest() -> None:
    units = (Unit("a.c", "/p/src", "", "C"), Unit("b.c", "/p", "", "C"))
    assert in_project("/p/src/a.c", 0, units) == "a.c"
    assert in_project("/p/src/a.c", 1, units) == "src/a.c"
    assert in_project("/p/src/a.c", -1, units) == "a.c"
    assert in_project("/p/src/a.c", -1, ()) == "src/a.c"


def ids(capfd: pytest.CaptureFixture[str], *command: str) -> list[str]:
    capfd.readouterr()
    main([*command, "--format", "json", "--min-severity", "note", "--fail-on", "never"])
    return [finding["id"] for finding in json.loads(capfd.readouterr().out)["findings"]]


def test_two_checkouts_name_their_findings_alike(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for tool in ("linemate-facts", "linemate-dwarf", "linemate-access"):
        try:
            tool_path(tool)
        except LinemateError as error:
            pytest.skip(str(error))
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    found = []
    for name in ("kv", "elsewhere/renamed"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        for program in ("two_counters.c", "hot_lock.c", "split_atomic.c"):
            shutil.copy(repository / "tests/e2e/programs" / program, folder)
        monkeypatch.chdir(folder)
        (folder / "build").mkdir()
        each: list[list[str]] = []
        for program in ("two_counters.c", "hot_lock.c", "split_atomic.c"):
            entry = {"directory": str(folder), "file": program, "arguments": ["gcc", "-O2", "-c", program]}
            (folder / "compile_commands.json").write_text(json.dumps([entry]))
            each.append(ids(capfd, "check"))
            # From a folder of its own, by an absolute path, as build systems do.
            command = ["gcc", "-O2", "-g", "-pthread", "-o", "program", str(folder / program)]
            subprocess.run(command, cwd=folder / "build", check=True)
            each.append(ids(capfd, "audit", "build/program"))
        assert all(each)
        found.append(each)
    assert found[0] == found[1]
