"""A command as a child that waits for its start: held before exec until what watches it is ready.

Owns starting, confining, waiting, and the child's own use of time.  Its standard input and output are ours, unless its
output is wanted.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shutil import which

from pmu.staying import AffinityFilter
from sharing.model.errors import LinemateError
from sharing.model.process.stopping import SIGNALS
from sharing.model.process.table import descendants

MAX_OUTPUT_BYTES = 4 << 20  # the last ones are kept
HIGHEST_PRIORITY = -20
_POLL_S = 0.02
_EXEC_FAILED = 127
_GRACE_S = 2.0
_GROUP = "/proc/self/autogroup"


@dataclass(frozen=True, slots=True)
class Ended:
    """One run.  ``status`` is the exit code, or minus the signal that ended it."""

    status: int
    wall_s: float
    user_s: float
    system_s: float
    output: str = ""


@dataclass(frozen=True, slots=True)
class Processors:
    """Where a command may run.  ``stays``: it does not leave them by binding its threads to others."""

    cpus: tuple[int, ...]
    stays: bool = False


def find_command(command: Sequence[str]) -> str:
    """The file that will be executed.  Raises LinemateError where there is none."""
    if not command or not command[0]:
        raise LinemateError("no command to run")
    found = which(command[0])
    if found is None:
        exists = os.sep in command[0] and os.path.exists(command[0])
        raise LinemateError(f"{command[0]}: {'not executable' if exists else 'no such command'}")
    return found


class Workload:
    """A child that ``release`` lets go, with ``env`` in its environment.

    Use as a context: a child that was never released is ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        on: Processors | None = None,
        capture: bool = False,
        priority: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> None:
        path = find_command(command)
        staying = AffinityFilter() if on is not None and on.stays else None
        gate_read, self._gate = os.pipe()
        self._errors, errors_write = os.pipe()
        self._output, output_write = os.pipe() if capture else (-1, -1)
        self._kept = bytearray()
        self._started = 0.0
        self._ended: Ended | None = None
        # The child is of our session, and so of our group: what it raises stays raised when it ends.
        self._group = _group_priority() if priority else None
        # Our handlers are not the child's: a signal that it gets ends it, and raises nothing in a copy of us.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self.pid = os.fork()
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        if self.pid == 0:
            try:
                _use_default_signals(before)
                _prepare(gate_read, self._gate, output_write, on, staying, priority)
                os.execve(path, list(command), {**os.environ, **(env or {})})
            except BaseException as error:
                os.write(errors_write, (getattr(error, "strerror", None) or str(error) or "failed").encode()[:200])
            finally:
                os._exit(_EXEC_FAILED)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for descriptor in (gate_read, errors_write, output_write):
            if descriptor >= 0:
                os.close(descriptor)

    def __enter__(self) -> Workload:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended is None:
            self.signal(signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
        if self._group is not None:
            _set_group_priority(self._group)
        for descriptor in (self._gate, self._errors, self._output):
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def release(self) -> None:
        """Let it execute.  Raises LinemateError where that fails."""
        self._started = time.monotonic()
        try:
            os.write(self._gate, b"x")
        except BrokenPipeError:
            raise LinemateError("the command was ended before it could start") from None
        os.close(self._gate)
        self._gate = -1
        # The other end closes with exec.
        if said := os.read(self._errors, 256):
            raise LinemateError(f"the command could not be started: {said.decode('utf-8', 'replace')}")

    def signal(self, number: int) -> None:
        """Sent unless it has ended."""
        if self._ended is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.pid, number)

    def wait(self, until: float | None = None) -> Ended | None:
        """How it ended; None where it has not at ``until`` of the monotonic clock."""
        while self._ended is None:
            self._collect(_POLL_S)
            pid, status, used = os.wait4(self.pid, os.WNOHANG)
            if pid:
                wall_s = time.monotonic() - self._started
                self._collect(0)
                code = os.waitstatus_to_exitcode(status)
                text = self._kept.decode("utf-8", "replace")
                self._ended = Ended(code, wall_s, used.ru_utime, used.ru_stime, text)
            elif until is not None and time.monotonic() >= until:
                return None
        return self._ended

    def _collect(self, for_s: float) -> None:
        """Take output for that long, or sleep."""
        if self._output < 0:
            if for_s:
                _wait_for_child(self.pid, for_s)
            return
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            while selector.select(for_s):
                data = os.read(self._output, 1 << 16)
                if not data:
                    os.close(self._output)
                    self._output = -1
                    return
                self._kept += data
                del self._kept[: max(0, len(self._kept) - MAX_OUTPUT_BYTES)]


def _wait_for_child(pid: int, for_s: float) -> None:
    """Until the child ends, at most that long: without a busy loop, and without taking its status."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        time.sleep(for_s)
        return
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            selector.select(for_s)
    finally:
        os.close(descriptor)


def _prepare(
    gate_read: int,
    gate_write: int,
    output_write: int,
    on: Processors | None,
    staying: AffinityFilter | None,
    priority: bool,
) -> None:
    """In the child: everything before exec, and the wait for the start."""
    os.close(gate_write)
    if on is not None:
        os.sched_setaffinity(0, on.cpus)
    if staying is not None:
        staying.apply()
    if priority:
        raise_priority()
    if output_write >= 0:
        os.dup2(output_write, 1)
    if os.read(gate_read, 1) != b"x":
        raise OSError(0, "never released")


def _use_default_signals(mask: Iterable[int]) -> None:
    """What we handle, and what Python ignores, which exec would keep; what we were told to ignore stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end(work: Workload) -> Ended:
    """How an interrupted command ends.  From a terminal it had the interrupt too, else it learns of it here.

    So do the processes that it started: a shell, or a server that forks, would leave them running.
    """
    with contextlib.ExitStack() as started:
        others: list[int] = []
        for number in (signal.SIGTERM, signal.SIGKILL):
            if ended := work.wait(time.monotonic() + _GRACE_S):
                return ended
            others += _held(descendants(work.pid), started)
            work.signal(number)
            for other in others:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(other, number)
        ended = work.wait()
    assert ended is not None
    return ended


def _held(pids: Sequence[int], stack: contextlib.ExitStack) -> list[int]:
    """Descriptors of processes, which stay theirs when the numbers are given to others."""
    out = []
    for pid in pids:
        with contextlib.suppress(OSError):
            out.append(os.pidfd_open(pid))
            stack.callback(os.close, out[-1])
    return out


def raise_priority() -> None:
    """The highest that this process may have; not everyone may have any."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)
    _set_group_priority(HIGHEST_PRIORITY)


# Where sessions share the processors (sched(7), autogroup), niceness only counts within one.
def _group_priority() -> int | None:
    """That of our session's group, None where there is none: ``/autogroup-25 nice 0``."""
    try:
        with open(_GROUP) as file:
            return int(file.read().rpartition(" ")[2])
    except (OSError, ValueError):
        return None


def _set_group_priority(nice: int) -> None:
    with contextlib.suppress(OSError), open(_GROUP, "w") as file:
        file.write(str(nice))
