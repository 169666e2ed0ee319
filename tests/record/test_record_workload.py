"""A command as a held child: what it does to the session that it is part of, and where it runs."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from pmu import workload
from pmu.workload import Processors, Workload, end
from sharing.model.process.table import descendants, processes


@pytest.mark.parametrize(("priority", "meanwhile"), [(True, "-20"), (False, "/autogroup-25 nice 3\n")])
def test_the_group_of_the_session_is_raised_for_the_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, priority: bool, meanwhile: str
) -> None:
    group, seen = tmp_path / "autogroup", tmp_path / "seen"
    group.write_text("/autogroup-25 nice 3\n")
    monkeypatch.setattr(workload, "_GROUP", str(group))
    with Workload(["cp", str(group), str(seen)], priority=priority) as work:
        work.release()
        work.wait()
    assert seen.read_text() == meanwhile
    assert group.read_text().split()[-1] == "3"


def test_what_an_interrupted_command_started_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "_GRACE_S", 0.1)
    with Workload(["sh", "-c", "sleep 60 & sleep 60 & wait"]) as work:
        work.release()
        until = time.monotonic() + 20
        while len(started := descendants(work.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert end(work).status == -signal.SIGTERM
        while (left := {one.pid for one in processes() if one.lives} & set(started)) and time.monotonic() < until:
            time.sleep(0.01)
    assert len(started) == 2
    assert not left


BINDS = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
if os.fork() == 0:
    os.sched_setaffinity(0, {int(sys.argv[1])})
    print(*os.sched_getaffinity(0), "later", flush=True)
    os._exit(0)
os.wait()
print(*os.sched_getaffinity(0))
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor to be on")
@pytest.mark.parametrize("stays", [True, False])
def test_a_command_stays_on_its_processor_only_where_it_must(stays: bool) -> None:
    wanted, *_, given = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-I", "-S", "-c", BINDS, str(wanted)]
    with Workload(command, on=Processors((given,), stays=stays), capture=True) as work:
        work.release()
        ended = work.wait()
    assert ended is not None
    on = given if stays else wanted
    assert (ended.status, ended.output) == (0, f"{on} later\n{on}\n")
