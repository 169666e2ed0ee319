"""Every command of an installed linemate, without a compiler: the same answers as from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linemate.commands import COMMANDS
from reports import EMITTERS
from tests.builders.report import REPORT
from tests.packaging.conftest import Installed

FLAGS = ("--", "-O2", "-std=c++17")
SOURCES = ("table_cache.cc", "table_share.cc", "sys_vars.cc", "main.cc")
# By command: what is run beside the programs and sources of the table cache, and the exit code.
RUNS = {
    "audit": (("audit", "slow"), 1),
    "check": (("check", "--no-cache", *SOURCES, *FLAGS), 1),
    "diff": (("diff", "saved.json", "saved.json"), 3),
    "explain": (("explain", "fast", "slow"), 1),
    "fix": (("fix", "--no-cache", *SOURCES, *FLAGS), 0),
    "guard": (("guard", "slow", "LM-4c1f", "--in", "saved.json"), 0),
    "help": (("help", "audit"), 0),
    "history": (("history", "--table", "table.csv"), 0),
    "lines": (("lines", "slow", "unused_tables"), 0),
    "report": (("report", "saved.json"), 3),
    "rules": (("rules", "hot-lock-shares-line"), 0),
    "show": (("show", "LM-", "--in", "saved.json"), 0),
}
PAGES = {"html": "<!DOCTYPE html>", "sarif": '"2.1.0"', "markdown": "hot-lock-shares-line"}


@pytest.fixture(scope="module")
def folder(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(layouts, tmp_path_factory.mktemp("commands") / "folder")
    rows = [f"r{number},{1000 + number % 3}\n" for number in range(12)]
    (folder / "table.csv").write_text("".join(["revision,qps\n", *rows]))
    (folder / "saved.json").write_text(EMITTERS["json"].render(REPORT))
    return folder


def from_checkout(repository: Path, env: dict[str, str], folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "linemate", *arguments],
        cwd=folder,
        env=env | {"PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.returncode, done.stdout


def test_every_command_is_tried_here() -> None:
    assert set(RUNS) | {"doctor", "lsp", "record"} == set(COMMANDS)


@pytest.mark.parametrize("name", RUNS)
def test_a_command_answers_as_in_the_checkout(installed: Installed, repository: Path, folder: Path, name: str) -> None:
    arguments, code = RUNS[name]
    done = installed(*arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert done.stdout.strip()
    assert (done.returncode, done.stdout) == from_checkout(repository, installed.env, folder, *arguments)


@pytest.mark.parametrize("name", PAGES)
def test_a_format_needs_no_file_of_the_checkout(installed: Installed, folder: Path, name: str) -> None:
    done = installed("audit", "slow", "--format", name, cwd=folder)
    assert done.returncode == 1
    assert PAGES[name].lower() in done.stdout.lower()


def test_the_doctor_looks_at_the_machine(installed: Installed, folder: Path) -> None:
    done = installed("doctor", "--format", "json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)


def test_record_runs_the_command_or_says_why_not(installed: Installed, folder: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.data"
    done = installed("record", "-o", str(profile), "--", str(folder / "fast"), cwd=folder)
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        assert profile.stat().st_size > 0
    else:
        assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr


def test_clangs_own_headers_come_along(installed: Installed, tmp_path: Path) -> None:
    """stddef.h and immintrin.h are the compiler's; where no clang is installed they must be the package's."""
    (tmp_path / "a.c").write_text("#include <stddef.h>\n#include <immintrin.h>\nsize_t counter;\n__m128i wide;\n")
    tool = installed.site / "linemate/elfscan/native/bin/linemate-facts"
    command = [str(tool), str(tmp_path / "a.c"), "--", "-fsyntax-only"]
    done = subprocess.run(command, env=installed.env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    headers = installed.site / "linemate/elfscan/native/lib/clang"
    assert str(next(headers.iterdir()) / "include/immintrin.h") in done.stdout


def test_the_version_comes_at_once_and_loads_no_library(installed: Installed, folder: Path) -> None:
    script = "import sys; sys.argv[1:] = ['--version']; from linemate.__main__ import main\ntry:\n    main()\n"
    script += "except SystemExit:\n    pass\nprint('numpy' in sys.modules, 'click' in sys.modules)"
    done = subprocess.run([str(installed.python), "-I", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False False"
    assert installed("--version", cwd=folder).stdout.startswith("linemate ")


def test_a_folder_of_modules_is_not_imported_from(installed: Installed, tmp_path: Path) -> None:
    """It is run in trees from elsewhere, which may well hold a numpy.py."""
    for name in ("linemate", "numpy", "click", "sharing"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')\n")
    assert "hijacked" not in installed("rules", cwd=tmp_path).stderr
    assert os.listdir(tmp_path)
