"""Tests that need every processor, beside others that run in parallel.

Owns one lock for all workers of a run: each test holds it shared, and what must have the machine for itself
(recordings of threads that have to meet) takes it for itself meanwhile.  Other users of the machine do not know it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACE = hashlib.sha256(str(Path(__file__).resolve()).encode()).hexdigest()[:12]
_held: list[int] = []


def _lock() -> int:
    """One open file a process: taking the lock alone then turns what is held shared instead of waiting for it."""
    if not _held:
        path = Path(tempfile.gettempdir()) / f"linemate-tests-{os.getuid()}-{_PLACE}.lock"
        _held.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    return _held[0]


@contextmanager
def among_others() -> Iterator[None]:
    """Held for each test."""
    fcntl.flock(_lock(), fcntl.LOCK_SH)
    try:
        yield
    finally:
        fcntl.flock(_lock(), fcntl.LOCK_UN)


@contextmanager
def alone() -> Iterator[None]:
    """No other test runs meanwhile; called within a test or its fixtures, whose time does not pass while it waits."""
    left = signal.alarm(0)
    fcntl.flock(_lock(), fcntl.LOCK_EX)
    signal.alarm(left)
    try:
        yield
    finally:
        fcntl.flock(_lock(), fcntl.LOCK_SH)
