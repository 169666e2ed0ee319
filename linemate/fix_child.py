"""Commands that the user named, as bounded children: time, output, and everything that they started.

Owns running one shell command.  What it is for is the caller's.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from sharing.model.errors import LinemateError

MAX_OUTPUT_BYTES = 4 << 20  # the last ones are kept
_GRACE_S = 2.0  # between SIGTERM and SIGKILL
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_HIGHEST_PRIORITY = -20


@dataclass(frozen=True, slots=True)
class Ended:
    """One run: exit code, the last of its output, wall seconds, and processor seconds of everyone else meanwhile."""

    code: int
    output: str
    wall_s: float
    others_s: float


def run(command: str, folder: Path, timeout_s: float, *, priority: bool = False) -> Ended:
    """Run a shell command in ``folder``; its process group is gone afterwards, however it ended.

    ``priority``: at the highest that is allowed.  Raises LinemateError on a timeout.
    """
    own, busy, start = os.times(), _busy_s(), time.monotonic()
    deadline = start + timeout_s
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C"},
            # Before it starts: threads keep the priority that their creator had.
            preexec_fn=_raise_priority if priority else None,
        )
    except OSError as error:
        raise LinemateError(f"{folder}: {error.strerror}") from error
    try:
        output, ended = _collect(process, deadline)
    finally:
        _end_group(process)
    if not ended:
        raise LinemateError(f"`{command}` did not end within {timeout_s:.0f} s")
    wall_s, now = time.monotonic() - start, os.times()
    mine_s = (now.user - own.user) + (now.system - own.system)
    mine_s += (now.children_user - own.children_user) + (now.children_system - own.children_system)
    text = output.decode("utf-8", "replace")
    return Ended(process.returncode, text, wall_s, max(0.0, _busy_s() - busy - mine_s))


def _raise_priority() -> None:
    # Not everyone may; a lower priority only means more disturbed rounds.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _HIGHEST_PRIORITY)
    # Where sessions share the processors (sched(7), autogroup), niceness only counts within one.
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write(str(_HIGHEST_PRIORITY))


def _collect(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """Output until the command ends, its last bytes; False when the deadline came first."""
    assert process.stdout is not None
    kept = bytearray()
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return bytes(kept), False
            open_end = True
            for _ in selector.select(min(left, 0.05)):
                data = process.stdout.read(1 << 16)
                open_end = data != b""
                kept += data or b""
                del kept[: max(0, len(kept) - MAX_OUTPUT_BYTES)]
            if not open_end:
                selector.unregister(process.stdout)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(deadline - time.monotonic(), 0))
                return bytes(kept), process.returncode is not None
            if process.poll() is not None:
                # What it left in the background may hold the pipe for ever: take what is there.
                rest = process.stdout.read()
                return bytes(kept + (rest or b""))[-MAX_OUTPUT_BYTES:], True


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ask the whole group to end, then insist."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _busy_s() -> float:
    """Processor seconds spent on anything since boot, steal included; 0 where the system does not say."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S
