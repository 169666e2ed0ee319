"""Fixtures for the tests of edits: a builder of programs, and compilers that say what an edit really did.

Owns the calls of compilers and of ``nm``; a missing one skips.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fix.program import ProgramBuilder

Symbols = dict[str, tuple[int, int]]  # name → address, size in bytes
Build = Callable[..., Symbols]


@pytest.fixture
def builder(tmp_path: Path) -> ProgramBuilder:
    return ProgramBuilder(tmp_path)


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compile and link files without a warning; the variables of the result."""

    def run(*sources: str, compiler: str = "gcc", flags: str = "-O2") -> Symbols:
        for tool in (compiler, "nm"):
            if not shutil.which(tool):
                pytest.skip(f"no {tool}")
        out = tmp_path / "out.so"
        command = [compiler, *flags.split(), "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(out)]
        done = subprocess.run([*command, *sources], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return symbols(out)

    return run


def symbols(binary: Path) -> Symbols:
    text = subprocess.run(["nm", "-nSC", str(binary)], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=3) for line in text.splitlines()]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4 and row[2] in "bBdDuV"}
