"""Tests that need every processor, beside others that run in parallel.

Owns two locks for all workers of a run: each test holds `running` shared, and what must have the machine for itself
(recordings of threads that have to meet) takes it for itself meanwhile. `next` is held while waiting for that, so that
no other test begins: with four workers there is hardly a moment at which none runs one. Other users of the machine do
not know the locks.
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
_held: dict[str, int] = {}


def _lock(name: str) -> int:
    """One open file a process and lock: taking it again changes how it is held."""
    if name not in _held:
        path = Path(tempfile.gettempdir()) / f"linemate-tests-{os.getuid()}-{_PLACE}-{name}.lock"
        _held[name] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    return _held[name]


@contextmanager
def among_others() -> Iterator[None]:
    """Held for each test."""
    fcntl.flock(_lock("next"), fcntl.LOCK_SH)
    fcntl.flock(_lock("running"), fcntl.LOCK_SH)
    fcntl.flock(_lock("next"), fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(_lock("running"), fcntl.LOCK_UN)


@contextmanager
def alone() -> Iterator[None]:
    """No other test runs meanwhile; called within a test or its fixtures, whose time does not pass while it waits."""
    left = signal.alarm(0)
    fcntl.flock(_lock("running"), fcntl.LOCK_UN)  # another one may be waiting for this test
    fcntl.flock(_lock("next"), fcntl.LOCK_EX)
    fcntl.flock(_lock("running"), fcntl.LOCK_EX)
    signal.alarm(left)
    try:
        yield
    finally:
        fcntl.flock(_lock("running"), fcntl.LOCK_SH)
        fcntl.flock(_lock("next"), fcntl.LOCK_UN)
