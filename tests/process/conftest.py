"""linemate as a process of its own that is watched: what it starts carries a mark, what it makes lies in known folders.

Owns the mark, the folders, and the way to look at both before and after.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_MARK = "LINEMATE_TEST_MARK"
SOON_S = 60.0  # far more than anything takes that is to happen at once, on a machine with other work too


@dataclass
class Watched:
    """Runs in ``folder`` with temporary files, cache, state and home below ``home``."""

    folder: Path
    home: Path
    repository: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LINEMATE_", "XDG_"))}
        places = {"TMPDIR": "tmp", "LINEMATE_CACHE": "cache", "XDG_STATE_HOME": "state", "HOME": "home"}
        for name in places.values():
            (self.home / name).mkdir(parents=True, exist_ok=True)
        own = {name: str(self.home / place) for name, place in places.items()}
        return kept | own | {_MARK: self.mark, "PYTHONPATH": str(self.repository)}

    def start(
        self, *arguments: str | Path, before: Sequence[str] = (), stdin: int = subprocess.DEVNULL, **more: str
    ) -> subprocess.Popen[str]:
        """linemate in the background; ``before`` is what runs it, ``more`` goes into its environment."""
        line = [*before, sys.executable, "-m", "linemate", *map(str, arguments)]
        process = subprocess.Popen(
            line,
            cwd=self.folder,
            env=self.environment | more,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, *arguments: str | Path, **more: str) -> tuple[int, str, str]:
        """(exit code, standard output, standard error)."""
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=100)
        return process.returncode, out, err

    def alive(self) -> dict[int, str]:
        """Command lines of the processes that carry the mark, zombies aside."""
        found = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                environment = Path("/proc", name, "environ").read_bytes()
                if f"{_MARK}={self.mark}".encode() in environment:
                    found[int(name)] = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue  # ended meanwhile
        return found

    def left(self) -> list[str]:
        """What lies among the temporary files."""
        return sorted(str(path.relative_to(self.home)) for path in (self.home / "tmp").rglob("*"))

    def until(self, is_so: Callable[[], bool]) -> bool:
        """Whether it becomes so soon."""
        deadline = time.monotonic() + SOON_S
        while not is_so():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True


@pytest.fixture
def watched(tmp_path: Path, repository: Path) -> Iterator[Watched]:
    folder = tmp_path / "work"
    folder.mkdir()
    made = Watched(folder, tmp_path / "places", repository)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
