"""Signals: three that end a run alike, once, with nothing left behind; after SIGKILL the next start cleans up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from sharing.model.errors import LinemateError
from sharing.model.process import children
from tests.process.conftest import Watched

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A build with a child in its group and one in a session of its own; one that does not listen.
BUILD = (
    "sleep 100 & setsid sleep 101 & (eval $DEAF; sleep 102) & "
    "mkdir -p $TMPDIR/of-the-build; touch $TMPDIR/of-the-build/file; touch $STARTED; wait"
)


@pytest.fixture
def building(watched: Watched, tmp_path: Path) -> subprocess.Popen[str]:
    """``history`` in the midst of its first build."""
    try:
        tool_path("linemate-spawn")
    except LinemateError as error:
        pytest.skip(str(error))
    return start_building(watched, tmp_path)


def start_building(
    watched: Watched, tmp_path: Path, before: tuple[str, ...] = (), deaf: str = ":"
) -> subprocess.Popen[str]:
    for line in ("init -q", "commit -q --allow-empty -m one", "commit -q --allow-empty -m two"):
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *line.split()]
        subprocess.run(command, cwd=watched.folder, check=True)
    started = tmp_path / "started"
    process = watched.start(
        *("history", "HEAD~1..HEAD", "--build", BUILD, "--binary", "server"),
        before=before,
        STARTED=str(started),
        DEAF=deaf,
    )
    assert watched.until(started.exists), process.poll()
    assert len([line for line in watched.alive().values() if "sleep" in line]) >= 3
    return process


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_run_with_all_that_it_started(
    building: subprocess.Popen[str], watched: Watched, number: signal.Signals
) -> None:
    building.send_signal(number)
    _, said = building.communicate(timeout=30)
    assert building.returncode == 128 + number
    assert "Traceback" not in said
    assert watched.alive() == {}
    assert watched.left() == []
    assert [path.name for path in watched.home.glob("cache/history/*/trees/*")] == []


def test_signals_during_the_clean_up_change_nothing(watched: Watched, tmp_path: Path) -> None:
    building = start_building(watched, tmp_path, deaf="trap '' TERM")
    building.send_signal(signal.SIGTERM)
    while building.poll() is None:
        for number in ENDING:
            building.send_signal(number)
        time.sleep(0.001)
    _, said = building.communicate(timeout=30)
    assert building.returncode in [128 + number for number in ENDING]  # the first one that it saw
    assert "Traceback" not in said
    assert watched.alive() == {}
    assert watched.left() == []
    assert [path.name for path in watched.home.glob("cache/history/*/trees/*")] == []


def test_who_started_with_nohup_goes_on(watched: Watched, tmp_path: Path) -> None:
    process = start_building(watched, tmp_path, before=("nohup",))
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM


def test_killed_its_children_die_and_the_next_start_removes_its_files(
    building: subprocess.Popen[str], watched: Watched
) -> None:
    building.kill()
    building.communicate(timeout=30)
    assert watched.until(lambda: watched.alive() == {}), watched.alive()
    assert any("of-the-build" in path for path in watched.left())
    assert watched.run("rules")[0] == 0
    assert watched.left() == []


PROGRAM = """
import os, signal, sys, time
from sharing.model.process import stopping
stopping.install()
def send():
    os.kill(os.getpid(), signal.SIGTERM)
try:
    {body}
except stopping.Stopped as stop:
    print("stopped by", stop.number)
"""


def said_by(body: str, repository: Path) -> str:
    text = PROGRAM.format(body=body.replace("\n", "\n    "))
    done = subprocess.run([sys.executable, "-c", text], cwd=repository, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_what_is_held_together_is_not_broken_off(repository: Path) -> None:
    body = "with stopping.held():\n    send()\n    print('whole')\nprint('never')"
    assert said_by(body, repository) == "whole\nstopped by 15\n"


def test_without_a_signal_a_block_that_is_held_is_just_a_block(repository: Path) -> None:
    assert said_by("with stopping.held():\n    pass\nprint('on')", repository) == "on\n"


def test_a_signal_that_python_drops_comes_again(repository: Path) -> None:
    body = "class Dropped:\n    def __del__(self):\n        send()\n        print()\nDropped()\ntime.sleep(60)"
    assert said_by(body, repository).strip() == "stopped by 15"


def test_a_thread_that_waits_for_a_helper_does_not_hold_the_run_up(repository: Path) -> None:
    body = (
        "import threading\nfrom sharing.model.process import children\n"
        "helper = children.start(['sleep', '100'], children.Streams())\n"
        "thread = threading.Thread(target=helper.wait)\nthread.start()\ntry:\n    send()\nfinally:\n    thread.join()"
    )
    assert said_by(body, repository) == "stopped by 15\n"


# What the signal breaks off makes another error of it (the first two), drops it, or is over when it comes.
LOST = {
    "a RuntimeError": "class Field:\n    def __set_name__(self, owner, name):\n        send()\n"
    "type('Made', (), {'field': Field()})",
    "an error of input": "try:\n    send()\nexcept BaseException as error:\n"
    "    raise LinemateError('cannot read') from error",
    "nothing": "try:\n    send()\nexcept BaseException:\n    pass",
}
COMMAND = """
import os, signal, sys
from linemate import __main__, cli
from sharing.model.errors import LinemateError
def send():
    os.kill(os.getpid(), {number})
def command(**_):
    {body}
    return 0
cli.cli.main = command
__main__.main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, 0], ids=["a signal", "none"])
@pytest.mark.parametrize("becomes", LOST)
def test_a_signal_that_became_something_else_is_still_how_the_run_ended(
    watched: Watched, becomes: str, number: int
) -> None:
    text = COMMAND.format(number=int(number), body=LOST[becomes].replace("\n", "\n    "))
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=watched.repository, env=watched.environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (128 + number if number else 0, "")
    assert watched.left() == []


def test_an_error_of_ours_is_none_of_a_signal(watched: Watched) -> None:
    """Near miss: the same without a signal is reported as ever."""
    text = COMMAND.format(number=0, body="raise ValueError('x')")
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=watched.repository, env=watched.environment, capture_output=True, text=True
    )
    assert done.returncode == 70
    assert "internal error" in done.stderr


@pytest.mark.parametrize("where", ["install", "begin_ending"])
def test_a_signal_at_either_end_of_the_run_is_no_traceback(watched: Watched, where: str) -> None:
    """When the handlers are just there, and when the command is just done."""
    text = (
        "import os, signal\nfrom linemate import __main__\nfrom sharing.model.process import stopping\n"
        f"whole = stopping.{where}\n"
        "def sent():\n"
        f"    {'whole()' if where == 'install' else 'pass'}\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        f"    {'pass' if where == 'install' else 'whole()'}\n"
        f"stopping.{where} = sent\n"
        "import sys; sys.argv = ['linemate', 'rules']\n__main__.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=watched.repository, env=watched.environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")


class _Ended:
    """A child that has ended; while that is looked at, another thread starts one more."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    @property
    def returncode(self) -> int:
        children._running.setdefault(self.pid + 1, (_Ended(self.pid + 1), False))  # type: ignore[arg-type]
        children._running.pop(self.pid, None)
        return 0


def test_threads_start_children_while_ended_ones_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "_running", {-1: (_Ended(-1), False)})
    started = children.start(["true"], children.Streams())
    assert started.wait() == 0
    assert children._running[started.pid] == (started, False)


def test_spawn_ends_like_its_command() -> None:
    spawn = [str(tool_path("linemate-spawn")), "tree", str(os.getpid()), "/bin/sh", "sh", "-c"]
    assert subprocess.run([*spawn, "exit 7"], check=False).returncode == 7
    assert subprocess.run([*spawn, "kill -USR1 $$"], check=False).returncode == -signal.SIGUSR1


def test_spawn_starts_nothing_for_one_who_is_gone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    line = [str(tool_path("linemate-spawn")), "tree", "1", "/bin/touch", "touch", str(made)]
    assert subprocess.run(line, check=False).returncode == 128 + signal.SIGTERM
    assert not made.exists()
