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


def test_spawn_ends_like_its_command() -> None:
    spawn = [str(tool_path("linemate-spawn")), "tree", str(os.getpid()), "/bin/sh", "sh", "-c"]
    assert subprocess.run([*spawn, "exit 7"], check=False).returncode == 7
    assert subprocess.run([*spawn, "kill -USR1 $$"], check=False).returncode == -signal.SIGUSR1


def test_spawn_starts_nothing_for_one_who_is_gone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    line = [str(tool_path("linemate-spawn")), "tree", "1", "/bin/touch", "touch", str(made)]
    assert subprocess.run(line, check=False).returncode == 128 + signal.SIGTERM
    assert not made.exists()
