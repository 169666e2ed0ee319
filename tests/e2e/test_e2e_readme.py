"""The README's example is what the commands above it print, and the three layouts get the verdicts it names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "linemate", "audit", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60).stdout


def test_the_example_is_what_is_printed(layouts: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = readme[readme.index("1  high  LOCK_open") :]
    printed = run(str(layouts / "slow"))
    for part in shown[: shown.index("```")].split("...\n"):
        assert part.rstrip() in printed, printed


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("slow", [("hot-lock-shares-line", "high", {"LOCK_open", "unused_tables"})]),
        ("fast", [("safe-by-luck", "low", {"LOCK_open", "unused_tables"})]),
        ("padded", []),
    ],
)
def test_three_layouts(layouts: Path, layout: str, expected: list[object]) -> None:
    report = json.loads(run(str(layouts / layout), "--format", "json"))
    found = [(f["rule"], f["severity"], {p["name"] for p in f["participants"]}) for f in report["findings"]]
    assert found == expected
    if layout == "fast":
        assert "(50%)" in report["findings"][0]["message"]
