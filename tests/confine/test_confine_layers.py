"""What a native helper can no longer do, layer by layer.

Owns the confinement itself, by a program that confines itself and then tries everything; that the helpers use it is
tested with each of them.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from sharing.model import LinemateError

# What helpers do all the time, inside as well as outside.
HARMLESS = {"read", "list", "thread"}
FILES = {
    *("create", "write", "append", "cut", "nameless", "truncate", "mkdir", "symlink", "link", "fifo", "rename"),
    "remove",
}
PROGRAMS = {"exec"}
OTHERS = {"trace", "kill"}
NETWORK = {"connect", "socket"}  # over TCP
# The rest is the filter's alone.
FILTERED = {"chmod", "unix", "fork", "code", "memfd"}


def attempts(folder: Path, layers: str) -> tuple[dict[str, int], set[str], set[str]]:
    """The layers in force, what was done and what was refused."""
    try:
        program = tool_path("linemate-confine-check")
    except LinemateError as error:
        pytest.skip(str(error))
    for name in ("old", "other"):
        (folder / name).write_text("content\n")
    canary = folder / "canary"
    canary.write_text("#!/bin/sh\necho exec done\n")
    canary.chmod(0o755)
    said = subprocess.run([program, layers, folder], capture_output=True, text=True, timeout=60, check=True).stdout
    words = dict(line.split() for line in said.splitlines())
    in_force = {name: int(words.pop(name)) for name in ("landlock", "filter")}
    assert set(words) == HARMLESS | FILES | PROGRAMS | OTHERS | NETWORK | FILTERED
    done = {name for name, what in words.items() if what == "done"}
    return in_force, done, set(words) - done


def test_unconfined_everything_works(tmp_path: Path) -> None:
    _, _, refused = attempts(tmp_path, "none")
    # Where this test itself is confined, tracing and nameless files may be refused from outside.
    assert refused <= {"trace", "nameless"}


def test_landlock_alone_keeps_files_programs_and_processes(tmp_path: Path) -> None:
    in_force, done, refused = attempts(tmp_path, "landlock")
    version = in_force["landlock"]
    if not version:
        pytest.skip("this kernel has no Landlock")
    wanted = (FILES | PROGRAMS | {"trace"}) - (set() if version >= 3 else {"truncate", "cut"})
    if version >= 4:
        wanted |= NETWORK
    if version >= 6:
        wanted |= {"kill"}
    assert refused >= wanted
    assert done >= HARMLESS
    assert (tmp_path / "old").read_text() == "content\n"


def test_the_filter_alone_keeps_all(tmp_path: Path) -> None:
    in_force, done, refused = attempts(tmp_path, "filter")
    if not in_force["filter"]:
        pytest.skip("this kernel or this build has no system call filter")
    assert refused == FILES | PROGRAMS | OTHERS | NETWORK | FILTERED
    assert done == HARMLESS
    assert {path.name for path in tmp_path.iterdir()} == {"old", "other", "canary"}


def test_both_together_still_let_a_helper_read(tmp_path: Path) -> None:
    in_force, done, _ = attempts(tmp_path, "both")
    if not any(in_force.values()):
        pytest.skip("this kernel has no confinement at all")
    assert done >= HARMLESS
    assert "exec" not in done
    assert {path.name for path in tmp_path.iterdir()} == {"old", "other", "canary"}
