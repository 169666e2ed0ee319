"""Git repositories made for a test, with a working tree to edit and a compile database of its C files.

Also what such a test needs of the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.database import FILE_NAME
from sharing.model import LinemateError


def need_analyzer(*programs: str) -> None:
    """Skip where sources cannot be read, or one of ``programs``, such as a compiler, is not installed."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"no {name}")


@dataclass(frozen=True)
class Project:
    """A repository at ``top``.  Paths are relative to it."""

    top: Path

    def git(self, *arguments: str) -> str:
        """Run git there; its output without the last newline."""
        done = subprocess.run(["git", *arguments], cwd=self.top, capture_output=True, text=True, check=True)
        return done.stdout.rstrip("\n")

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: Mapping[str, str] | None = None) -> str:
        """Write ``files``, commit all that git does not ignore, and return the commit."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def database(self, *units: str, flags: tuple[str, ...] = ("-O2",), folder: str = "build") -> Path:
        """A compile database of ``units`` in ``folder``, as CMake writes it."""
        build = self.top / folder
        build.mkdir(exist_ok=True)
        rows = [
            {
                "directory": str(build),
                "file": str(self.top / unit),
                "command": " ".join(["cc", *flags, "-o", f"{unit}.o", "-c", str(self.top / unit)]),
            }
            for unit in units
        ]
        (build / FILE_NAME).write_text(json.dumps(rows))
        return build / FILE_NAME

    def state(self) -> tuple[bytes, ...]:
        """What must never change under the user's feet: the index, the worktree list, references, the status."""
        administration = self.top / ".git"
        names = sorted(str(path.relative_to(administration)) for path in administration.rglob("*"))
        status = self.git("--no-optional-locks", "status", "--porcelain", "--ignored")
        index = (administration / "index").read_bytes()
        return ("\n".join(names).encode(), index, status.encode(), self.git("worktree", "list").encode())


def make_project(top: Path) -> Project:
    """An empty repository whose git knows a name to commit with and ignores ``build``."""
    top.mkdir(parents=True)
    project = Project(Path(os.path.realpath(top)))
    project.git("init", "--quiet", "--initial-branch=main")
    project.git("config", "user.email", "a@example.org")
    project.git("config", "user.name", "a")
    project.write({".gitignore": "build\n"})
    return project
