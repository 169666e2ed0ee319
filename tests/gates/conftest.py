"""A repository with a pull request that brings a lock onto a hot line, and one that does not; linemate on the PATH.

Owns the two changes.  Both add one variable to ``settings.c``, which neither the lock nor its neighbour knows of.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.served import own_environment, served

# By branch: what it adds, whether that moves the lock onto the line of the list's head.
CHANGES = {"harmful": "char banner[32] = {1};\n", "harmless": "char banner[64] = {1};\n"}
UNITS = ("settings", "cache", "main")


@dataclass(frozen=True, slots=True)
class Forge:
    """``top`` is a clone with ``main`` at its origin."""

    top: Path
    environment: dict[str, str]

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.top,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )

    def ok(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def switch(self, branch: str) -> None:
        """The branch, built."""
        self.ok("git", "checkout", "--quiet", "--force", branch)
        self.ok("make", "-s")


@pytest.fixture(scope="module")
def forge(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    base = tmp_path_factory.mktemp("forge")
    serving = base / "bin"
    made = Forge(base / "clone", own_environment(base, serving))
    shutil.copytree(repository / "testdata/programs/cache_server", made.top)
    (made.top / ".gitignore").write_text("made\nserver\nbuild\nlinemate.*\n*.json\n")
    made.ok("git", "init", "--quiet")
    made.ok("git", "add", ".")
    made.ok("git", "commit", "--quiet", "-m", "One lock, one list")
    made.ok("git", "clone", "--quiet", "--bare", ".", str(base / "origin"))
    made.ok("git", "remote", "add", "origin", str(base / "origin"))
    settings = made.top / "src/settings.c"
    before = settings.read_text()
    for branch, more in CHANGES.items():
        made.ok("git", "checkout", "--quiet", "-b", branch, "main")
        settings.write_text(before + more)
        made.ok("git", "commit", "--quiet", "-am", f"A {branch} variable")
    (made.top / "build").mkdir()
    rows = [
        {"directory": str(made.top), "file": f"src/{unit}.c", "command": f"cc -O2 -g -c -o made/{unit}.o src/{unit}.c"}
        for unit in UNITS
    ]
    (made.top / "build/compile_commands.json").write_text(json.dumps(rows))
    with served(serving, repository):
        yield made
