"""Commands that the user named, as bounded children: time, output, and everything that they started.

Owns running one shell command.  What it is for is the caller's.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from linemate.turns import BackgroundLoad
from pmu.workload import raise_priority
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch

MAX_OUTPUT_BYTES = 4 << 20  # the last ones are kept


@dataclass(frozen=True, slots=True)
class Ended:
    """One run: exit code, the last of its output, wall seconds, and processor seconds of everyone else meanwhile."""

    code: int
    output: str
    wall_s: float
    background_s: float


def run(command: str, folder: Path, timeout_s: float, *, priority: bool = False) -> Ended:
    """Run a shell command in ``folder``; what it started is gone afterwards, however it ended.

    ``priority``: at the highest that is allowed.  Raises LinemateError on a timeout.
    """
    background, start = BackgroundLoad(), time.monotonic()
    deadline = start + timeout_s
    try:
        process = children.start(
            ["/bin/sh", "-c", command],
            children.Streams(stdout=subprocess.PIPE, stderr=subprocess.STDOUT),
            bond=children.WhenKilled.TREE,
            group=True,
            cwd=folder,
            # What a compiler that is killed leaves goes with ours.
            env={**os.environ, "LC_ALL": "C", "TMPDIR": scratch.folder()},
            # Before it starts: threads keep the priority that their creator had.
            before_exec=raise_priority if priority else None,
        )
    except OSError as error:
        raise LinemateError(f"{folder}: {error.strerror}") from error
    try:
        output, ended = _collect(process, deadline)
    finally:
        children.end(process)
        if process.stdout is not None:
            process.stdout.close()
    if not ended:
        raise LinemateError(f"`{command}` did not end within {timeout_s:.0f} s")
    wall_s = time.monotonic() - start
    return Ended(process.returncode, output.decode("utf-8", "replace"), wall_s, background.seconds())


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
