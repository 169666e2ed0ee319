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

from linemate.turns import Others
from pmu.workload import raise_priority
from sharing.model.errors import LinemateError

MAX_OUTPUT_BYTES = 4 << 20  # the last ones are kept
_GRACE_S = 2.0  # between SIGTERM and SIGKILL


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
    others, start = Others(), time.monotonic()
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
            preexec_fn=raise_priority if priority else None,
        )
    except OSError as error:
        raise LinemateError(f"{folder}: {error.strerror}") from error
    try:
        output, ended = _collect(process, deadline)
    finally:
        _end_group(process)
    if not ended:
        raise LinemateError(f"`{command}` did not end within {timeout_s:.0f} s")
    wall_s = time.monotonic() - start
    return Ended(process.returncode, output.decode("utf-8", "replace"), wall_s, others.seconds())


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
