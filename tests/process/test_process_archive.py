"""Processes that share the members of an archive: they are gone when the run is."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.process.conftest import Watched

MEMBERS = 3000  # half a minute of work


@pytest.fixture
def auditing(watched: Watched, tmp_path: Path) -> subprocess.Popen[str]:
    """An audit whose workers are at work."""
    (tmp_path / "unit.c").write_text("long count; long next(void) { return count++; }\n")
    subprocess.run(["gcc", "-g", "-c", "unit.c"], cwd=tmp_path, check=True)
    body = (tmp_path / "unit.o").read_bytes()
    body += b"\n" * (len(body) % 2)
    header = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n"
    members = (header % (b"m%d.o/" % n, 0, 0, 0, b"644", len(body)) + body for n in range(MEMBERS))
    (watched.folder / "many.a").write_bytes(b"!<arch>\n" + b"".join(members))
    process = watched.start("audit", "many.a")

    def at_work() -> bool:
        lines = list(watched.alive().values())
        return all(sum(name in line for line in lines) >= 2 for name in ("auditing.child", "linemate-dwarf"))

    assert watched.until(lambda: at_work() or process.poll() is not None)
    if process.poll() is not None:
        pytest.skip("one processor: no workers")
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_them(auditing: subprocess.Popen[str], watched: Watched, number: signal.Signals) -> None:
    auditing.send_signal(number)
    out, said = auditing.communicate(timeout=30)
    assert (auditing.returncode, out, said) == (128 + number, "", "")
    assert watched.alive() == {}
    assert watched.left() == []


def test_they_end_with_the_run_that_is_killed(auditing: subprocess.Popen[str], watched: Watched) -> None:
    auditing.kill()
    auditing.communicate(timeout=30)
    assert watched.until(lambda: watched.alive() == {}), watched.alive()
    assert watched.run("rules")[0] == 0
    assert watched.left() == []
