"""``linemate audit --format parquet`` as a user types it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from linemate.auditing.asking import Stored
from linemate.cli import cli
from linemate.fleet.run import Tally

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install -r requirements-fleet.txt")
ROOT = Path(__file__).parents[2]


def test_processes_of_this_machine_write_and_the_command_sums_up(tree: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    options = ["--format", "parquet", "-j", "1", "-o", str(results)]
    command = [sys.executable, "-m", "linemate", "audit", str(tree), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 3, done.stderr  # half could not be read
    lines = done.stdout.splitlines()
    assert lines[0] == f"6 files: 4 audited, 0 incomplete, 1 failed, 0 lost, 1 left out; results in {results}"
    assert lines[1] == "results of 1 file were there, or are those of another with the same bytes"
    worst = [line.split()[-1] for line in lines if line.startswith("  ")]
    assert sorted(worst) == [str(tree / name) for name in ("copy", "one", "two")]
    assert lines[-1].startswith(f"not audited: {tree}/below/half: offset 0xbb8: ")
    assert lines[-1].count(str(tree)) == 1
    assert {path.name for path in results.iterdir()} == {
        "files", "images", "findings", "variables", "lines", "accesses", "linemate-dataset.json"
    }  # fmt: skip


def test_files_that_were_not_analysed_whole_are_named() -> None:
    tally = Tally()
    for number in range(22):
        tally.add(f"/tree/{number:02}", Stored("incomplete" if number else "audited"))
    said = tally.text("results").splitlines()[-1]
    assert said.startswith("not analysed whole: /tree/01, /tree/02, ")
    assert said.endswith(", /tree/20 and 1 more; linemate audit FILE of one says why")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--format", "parquet"), "name a folder with -o DIR"),
        (("--format", "parquet", "-o", "out", "--scheduler", "tcp://head:8786"), "--scheduler is of --engine dask"),
        (("--format", "parquet", "-o", "out", "--samples", "perf.data"), "are of one binary"),
        (("--engine", "dask"), "are of --format parquet"),
        (("--format", "json", "--scheduler", "tcp://head:8786"), "are of --format parquet"),
    ],
)
def test_what_cannot_be_asked_is_bad_usage(tree: Path, arguments: tuple[str, ...], why: str) -> None:
    done = CliRunner().invoke(cli, ["audit", str(tree), *arguments])
    assert done.exit_code == 2
    assert why in done.output
