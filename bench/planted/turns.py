"""Run programs before and after their edits in turns, and print how long each run took.

Owns the sizes of the runs.  Needs nothing but Python, so that it runs where linemate is not:
``python3 turns.py FOLDER`` of what ``python -m bench.planted.gains build FOLDER`` has made.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

BEFORE, AFTER = "before", "after"
LIMIT_S = 20.0  # of one run: one that takes longer is ended, and its status says so
# The first argument of each, for some tenths of a second on processors of 2024; of the others the size is built in.
SIZES = {
    "avpipe": 40_000,
    "dnsd": 300_000,
    "flowtrack": 1_000_000,
    "kvcache": 200_000,
    "mkit": 2_000_000,
    "mqbroker": 400_000,
    "parsolve": 3_000,
    "pktcap": 8_000_000,
    "quill": 300_000,
    "relay": 1_000_000,
    "tasksched": 100_000,
    "telem": 10_000_000,
    "tiler": 15_000,
    "tsdb": 3_000_000,
    "walog": 1_500_000,
}


def main() -> int:
    """``turns.py FOLDER [ROUNDS [SECONDS]]``: rows of program, build, wall and processor time in s, exit status."""
    folder, rounds, seconds = Path(sys.argv[1]), int((*sys.argv, "5")[2]), float((*sys.argv, "", "600")[3] or 600)
    names = sorted({path.stem for path in folder.iterdir() if path.suffix in (f".{BEFORE}", f".{AFTER}")})
    end = time.monotonic() + seconds
    for _ in range(rounds):
        for name in names:
            for build in (BEFORE, AFTER):
                if time.monotonic() > end:
                    return 0
                print(*_run(folder / f"{name}.{build}", name, build), flush=True)
    return 0


def _run(binary: Path, name: str, build: str) -> tuple[str, ...]:
    command = [str(binary.resolve()), *([str(SIZES[name])] if name in SIZES else [])]
    used, started = os.times(), time.monotonic()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # To wait with a limit is to ask every 50 ms, which is what some of these take.
    limit = threading.Timer(LIMIT_S, running.kill)
    limit.start()
    status = running.wait()
    limit.cancel()
    wall, now = time.monotonic() - started, os.times()
    busy = now.children_user + now.children_system - used.children_user - used.children_system
    return name, build, f"{wall:.3f}", f"{busy:.3f}", str(status)


if __name__ == "__main__":
    sys.exit(main())
