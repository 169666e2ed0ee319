"""A command as a held child: what it does to the session that it is part of, and where it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pmu import workload
from pmu.record import release, watching_interrupts
from pmu.workload import Processors, Workload, end
from sharing.model.errors import LinemateError
from sharing.model.process.stopping import SIGNALS, Stopped
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


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_comes_before_the_command_goes_ends_both(number: signal.Signals) -> None:
    """From a terminal the held child has it as well: it ends, and that is no failure of the command."""
    with Workload(["sleep", "60"]) as work, watching_interrupts() as interrupted:
        os.kill(work.pid, number)
        os.kill(os.getpid(), number)
        with pytest.raises(Stopped) as stopped:
            release(work, interrupted)
        assert stopped.value.number == number
        ended = work.wait()
    assert ended is not None
    assert ended.status == -number


def test_a_held_child_that_something_else_ended_is_a_failure() -> None:
    with Workload(["sleep", "60"]) as work, watching_interrupts() as interrupted:
        os.kill(work.pid, signal.SIGKILL)
        os.waitid(os.P_PID, work.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(LinemateError, match="before it could start"):
            release(work, interrupted)


def test_a_signal_in_the_midst_of_the_fork_raises_nothing_in_the_child(repository: Path) -> None:
    """The child is a copy of us until exec: with our handlers it would end our helpers, and report a failed start."""
    text = (
        "import os, signal\nfrom pmu import workload\nfrom sharing.model.process import children, stopping\n"
        "stopping.install()\nhelper = children.start(['sleep', '60'], children.Streams())\nfork = os.fork\n"
        "def forked():\n"
        "    pid = fork()\n"
        "    if pid == 0:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return pid\n"
        "os.fork = forked\n"
        "with workload.Workload(['sleep', '60']) as work:\n"
        "    print(work.wait().status, helper.poll())\n"
        "children.end_all()"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=repository, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{-signal.SIGTERM} None\n", "")


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
