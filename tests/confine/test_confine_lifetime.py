"""A native helper ends with its starter, and by itself.

Owns helpers that would otherwise stay; ``linemate-access`` waits for its plan as long as nobody sends one.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elfscan.tools import helper_environment, tool_path
from sharing.model import LinemateError

PATIENCE_S = 30.0
STARTER = """
import subprocess, sys
from elfscan.tools import helper_environment
helper = subprocess.Popen([sys.argv[1], sys.executable], stdin=int(sys.argv[2]), env=helper_environment())
print(helper.pid, flush=True)
helper.wait()
"""


def waiting_helper() -> list[str]:
    try:
        return [str(tool_path("linemate-access")), sys.executable]
    except LinemateError as error:
        pytest.skip(str(error))


def has_ended(pid: int) -> bool:
    """Whether it is gone, or only waits to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


def is_waiting(pid: int) -> bool:
    """Whether it has come to reading its plan: confined by then."""
    return "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()


def wait_until(happened: object) -> bool:
    assert callable(happened)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.02)
    return False


def test_a_helper_ends_when_its_starter_is_killed() -> None:
    helper = waiting_helper()
    ours, theirs = os.pipe()  # open at this end for the whole test: its plan never ends
    try:
        command = [sys.executable, "-c", STARTER, helper[0], str(ours)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, pass_fds=(ours,)) as starter:
            assert starter.stdout is not None
            pid = int(starter.stdout.readline())
            assert wait_until(lambda: is_waiting(pid))
            starter.kill()
        assert wait_until(lambda: has_ended(pid))
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_helper_whose_starter_is_gone_already_ends_at_once() -> None:
    gone = {**helper_environment(), "LINEMATE_PARENT_PID": str(os.getppid())}
    with subprocess.Popen(waiting_helper(), stdin=subprocess.PIPE, env=gone) as helper:
        assert helper.wait(PATIENCE_S) == 1


def test_a_helper_ends_by_itself() -> None:
    soon = {**helper_environment(), "LINEMATE_LIMIT_S": "1"}
    with subprocess.Popen(waiting_helper(), stdin=subprocess.PIPE, env=soon) as helper:
        assert helper.wait(PATIENCE_S) == -signal.SIGALRM


def test_a_helper_in_its_time_answers() -> None:
    with subprocess.Popen(
        waiting_helper(), stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=helper_environment(60.0)
    ) as helper:
        _, said = helper.communicate(b"", timeout=PATIENCE_S)
    assert helper.returncode == 1  # an empty plan is none
    assert said.count(b"\n") == 1
