"""One input judged: whether the reader read it, refused it in one line, or has a fault.

Owns the limits of time and memory.  Time is what the process computes, so that a busy machine finds no fault; a reader
that sleeps is found by the limit that the guided loop has on the clock.
"""

from __future__ import annotations

import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fuzz.python.engine.target import Target
from sharing.model.errors import LinemateError

ROOT = Path(__file__).resolve().parents[3]
OWN = str(ROOT / "fuzz")
ADDRESS_SPACE_BYTES = 3 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one input."""

    cpu_s: float = 1.0
    memory_bytes: int = 256 << 20


@dataclass(frozen=True, slots=True)
class Fault:
    """What no input may do to a reader.  ``signature`` tells faults apart, ``detail`` is for people."""

    kind: str  # traceback, hang, memory or message
    signature: str
    detail: str


class _TooSlow(BaseException):
    """Not an Exception: no reader may take it for a fault of its input."""


@contextmanager
def limited_address_space() -> Iterator[None]:
    """Allocations beyond any measure fail at once rather than fill the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES + _virtual_bytes(), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def fault_of(target: Target, data: bytes, limits: Limits) -> Fault | None:
    """None where the target passes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGVTALRM, _too_slow)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limits.cpu_s)
        try:
            target.one(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except LinemateError as error:
        if not str(error).strip():
            return Fault("message", f"an empty message at {_place(error)}", _traceback(error))
    except _TooSlow as error:
        return Fault("hang", f"more than {limits.cpu_s:g} s in {_place(error)}", _traceback(error))
    except MemoryError as error:
        return Fault("memory", f"MemoryError at {_place(error)}", _traceback(error))
    except (Exception, SystemExit) as error:
        return Fault("traceback", f"{type(error).__name__} at {_place(error)}", _traceback(error))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    if grown > limits.memory_bytes:
        return Fault("memory", f"{grown >> 20} MiB for {len(data)} bytes of input", "")
    return None


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise _TooSlow


def _place(error: BaseException) -> str:
    """The innermost line of ours, which is what a fault is known by."""
    steps = traceback.extract_tb(error.__traceback__)
    ours = [step for step in steps if step.filename.startswith(str(ROOT)) and "/.venv/" not in step.filename]
    readers = [step for step in ours if not step.filename.startswith(OWN)]
    if not ours:
        return "an unknown place"
    step = (readers or ours)[-1]
    return f"{Path(step.filename).relative_to(ROOT)}:{step.lineno} ({step.name})"


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]


def _virtual_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
