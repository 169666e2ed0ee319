"""The analyzer and each process that it makes are confined, and none outlives it.

Owns the processes of a run that hangs; what the confinement refuses is tested with the confinement itself.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elfscan.tools import helper_confinement, helper_environment
from tests.analyzer.units import KNOWLEDGE, database, entry, tool

PATIENCE_S = 40.0
ENDLESS = "constexpr unsigned f() { unsigned n = 0; while (true) ++n; return n; }\nconstexpr unsigned v = f();\n"


def status(pid: int) -> dict[str, str]:
    """Empty for one that is gone or only waits to be reaped."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    found = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return {} if found["State"][0] in "ZX" else found


def below(pid: int) -> list[int]:
    """Its living descendants."""
    parents = {int(p.name): status(int(p.name)).get("PPid", "") for p in Path("/proc").iterdir() if p.name.isdigit()}
    out, front = [], [pid]
    while front:
        front = [child for child, parent in parents.items() if parent and int(parent) in front]
        out += front
    return out


def wait_for(pids: Iterator[list[int]], count: int) -> list[int]:
    end = time.monotonic() + PATIENCE_S
    for found in pids:
        if len(found) >= count or time.monotonic() > end:
            return found
        time.sleep(0.02)
    return []


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Two workers on units that never end; one of them behind a beginning that several units share."""
    (tmp_path / "shared.h").write_text("extern int common;\n" + f"/* {'-' * 900} */\n" * 400)
    names = [f"u{i}.cc" for i in range(5)]
    for name in names:
        (tmp_path / name).write_text('#include "shared.h"\n' + ENDLESS)
    (tmp_path / "alone.cc").write_text(ENDLESS)
    flags = ("-std=c++17", "-fconstexpr-steps=2147483647")
    path = database(tmp_path, *(entry(tmp_path, name, *flags) for name in ("alone.cc", *names)))
    command = [tool(), "--knowledge", KNOWLEDGE, "-j2", "-p", path]
    with (tmp_path / "stream").open("wb") as stream:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=stream, env=helper_environment())
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def opened(pid: int) -> set[str]:
    return {os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()}


def test_every_process_of_a_run_is_confined_and_ends_with_it(hanging: subprocess.Popen[bytes], tmp_path: Path) -> None:
    # Two workers, the one that holds the shared beginning, and its child.
    workers = wait_for(iter(lambda: below(hanging.pid), None), 4)
    assert len(workers) == 4
    states = {pid: status(pid) for pid in (hanging.pid, *workers)}
    if "a system call filter" in helper_confinement() and "no system call filter" not in helper_confinement():
        assert {state["Seccomp"] for state in states.values()} == {"2"}
        # The parent's holds for the workers as well.
        filters = {pid: int(state["Seccomp_filters"]) for pid, state in states.items()}
        assert all(filters[pid] > filters[hanging.pid] for pid in workers)
    assert {state["NoNewPrivs"] for state in states.values()} == {"1"}
    # The stream is the parent's alone to write.
    stream = str(tmp_path / "stream")
    assert [stream in opened(pid) for pid in (hanging.pid, *workers)] == [True, False, False, False, False]

    hanging.kill()
    hanging.wait()
    assert wait_for(([0] * (not any(status(pid) for pid in workers)) for _ in iter(int, 1)), 1)


def test_a_run_whose_starter_is_gone_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "alone.cc").write_text(ENDLESS)
    command = [tool(), "--knowledge", KNOWLEDGE, "alone.cc", "--"]
    gone = {**helper_environment(), "LINEMATE_PARENT_PID": str(os.getppid())}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=gone, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, b"")
