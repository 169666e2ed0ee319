"""Trees of files for writes that change all or none: contents before and after, and what a moment left of them.

Owns the made-up trees and the crash at a chosen step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linemate.fixing.journal import recover, write_all

# What changes something on disk, by the names that the code calls it by.
STEPS = ("open", "write", "fsync", "rename", "link", "unlink", "fchmod", "mkdir")
CRASHED = 77


@dataclass
class Tree:
    """Some files below a folder.  ``said`` are the lines of recoveries."""

    folder: Path
    state: Path
    files: dict[Path, tuple[bytes, bytes]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def add(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old " + name.encode())
        self.files[path] = (path.read_bytes(), b"new " + name.encode())
        return path

    def write(self) -> None:
        write_all(self.files)

    def recover(self) -> None:
        recover(self.said.append)

    @property
    def is_old(self) -> bool:
        return all(path.read_bytes() == before for path, (before, _) in self.files.items())

    @property
    def is_new(self) -> bool:
        return all(path.read_bytes() == after for path, (_, after) in self.files.items())

    @property
    def names(self) -> list[str]:
        """All that lies in the tree and in the folder of journals."""
        return sorted(path.name for root in (self.folder, self.state) for path in root.rglob("*") if path.is_file())

    @property
    def is_tidy(self) -> bool:
        return self.names == sorted(path.name for path in self.files)

    def crash(self, at: int, work: Callable[[], None], steps: Sequence[str] = STEPS) -> bool:
        """Run ``work`` in a child that is gone at a step, in the midst of it where it is a write; whether it was."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self._die_at(at, steps)
                work()
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, CRASHED)
        return code == CRASHED

    def _die_at(self, at: int, steps: Sequence[str]) -> None:
        left = [at]

        def dying(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
            def step(*arguments: Any, **more: Any) -> Any:
                left[0] -= 1
                if left[0] < 0:
                    if name == "write":
                        call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    os._exit(CRASHED)
                return call(*arguments, **more)

            return step

        for name in steps:
            setattr(os, name, dying(name, getattr(os, name)))


def failing_at(at: int, error: OSError) -> dict[str, Callable[..., Any]]:
    """The steps by name, of which one fails."""
    left = [at]

    def step(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **more: Any) -> Any:
            left[0] -= 1
            if left[0] == -1:
                raise error
            return call(*arguments, **more)

        return run

    return {name: step(getattr(os, name)) for name in STEPS if name != "unlink"}
