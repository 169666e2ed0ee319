"""Every kept input of the native fuzz targets passes: first inputs, and all that ever had a fault."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "fuzz" / "native"
TARGETS = sorted(path.stem for path in NATIVE.glob("*.cpp") if "LLVMFuzzerTestOneInput" in path.read_text())
MAX_CORPUS_BYTES = 400_000


def program(name: str) -> Path:
    path = ROOT / "build" / "sanitized" / "bin" / f"fuzz_{name}"
    if not os.access(path, os.X_OK):
        pytest.skip(f"{path.name} is not built: scripts/test without arguments builds it")
    return path


def replay(name: str, *files: Path) -> subprocess.CompletedProcess[str]:
    command = [program(name), "-timeout=10", "-rss_limit_mb=2048", *files]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


@pytest.mark.parametrize("name", TARGETS)
def test_every_kept_input_passes(name):
    files = sorted((NATIVE / "corpus" / name).iterdir())
    assert files, "a target begins with inputs that reach its parser"
    done = replay(name, *files)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stderr.count("Executed ") == len(files)


def test_there_is_a_target_for_each_parser():
    assert TARGETS == ["access", "dwarf", "elf", "facts", "locals", "unwind"]


def test_the_kept_inputs_stay_small():
    assert sum(path.stat().st_size for path in (NATIVE / "corpus").rglob("*")) < MAX_CORPUS_BYTES
