"""One recording: perf attached to a command, to a process, or to the machine, from ready to the finished file.

Owns perf's life during a recording, and what interrupts do.  Which event is ``pmu.perftool``'s business, which files
may be replaced ``pmu.profilefile``'s.  perf starts first and says when it samples; only then does the command go.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pmu.events import Candidate
from pmu.machine import Machine
from pmu.perftool import Perf, Sampling, reason, sampling_options
from pmu.workload import Ended, Processors, Workload, end, raise_priority
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch
from sharing.model.process.stopping import SIGNALS, Stopped
from sharing.model.process.table import descendants

# Pages of 4 KiB for each processor's buffer: 2 MiB holds some seconds of samples with registers.
BUFFER_PAGES = 512
# Without privileges mmap is limited by kernel.perf_event_mlock_kb, which is 129 pages a processor by default.
_PLAIN_BUFFER_PAGES = 128
_READY_S = 30.0
_FINISH_S = 120.0
_LOOK_S = 0.2
_ACKNOWLEDGED = b"ack"


def _nobody(_pid: int) -> contextlib.AbstractContextManager[object]:
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class Beside:
    """What else watches a command: by ``env`` in its environment, or from outside before its first instruction."""

    env: Mapping[str, str] | None = None
    watching: Callable[[int], contextlib.AbstractContextManager[object]] = _nobody


NOTHING = Beside()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to sample with.  ``priority``: perf and command at the highest that is allowed.

    ``clock``: what times of samples are of, "" perf's own clock; it must be one that the command can read as well where
    its times are compared.
    """

    perf: Perf
    machine: Machine
    candidate: Candidate
    sampling: Sampling
    priority: bool = False
    clock: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """``ended`` is None where there was no command; ``interrupted`` is the signal (Ctrl-C, SIGTERM, SIGHUP), 0 none.

    ``late``: it had not ended when its time was over, and was ended.
    """

    wall_s: float
    ended: Ended | None
    interrupted: int
    late: bool = False


def record_command(
    plan: Plan,
    command: Sequence[str],
    out: Path,
    *,
    on: Processors | None = None,
    capture: bool = False,
    within_s: float = math.inf,
    beside: Beside = NOTHING,
) -> Recorded:
    """Run the command under perf.  ``out`` is perf's to write.  Raises LinemateError where perf cannot."""
    with Workload(command, on=on, capture=capture, priority=plan.priority, env=beside.env) as work:
        target = ["-a"] if plan.candidate.choice.whole_machine else ["-p", str(work.pid)]
        with _perf(plan, target, out) as perf, watching_interrupts() as interrupted, beside.watching(work.pid):
            perf.ready()
            release(work, interrupted)
            ended = _wait(work, interrupted, within_s)
            late = ended is None and not interrupted()
            perf.stop()
            ended = ended or end(work)
            perf.finish()
    _decode(plan, out)
    return Recorded(ended.wall_s, ended, interrupted(), late)


def release(work: Workload, interrupted: Callable[[], int]) -> None:
    """Let the command go.  Raises Stopped where an interrupt came first: then there is nothing to keep."""
    try:
        if not interrupted():
            work.release()
            return
    except LinemateError:
        # From a terminal the child had it too, and ended before it was the command.
        if not interrupted():
            raise
    raise Stopped(interrupted())


def _wait(work: Workload, interrupted: Callable[[], int], within_s: float = math.inf) -> Ended | None:
    """How a released command ended; None where we were interrupted, or it has not within that time."""
    until = time.monotonic() + within_s
    ended = None
    while ended is None and not interrupted() and time.monotonic() < until:
        ended = work.wait(min(time.monotonic() + _LOOK_S, until))
    return ended


def run_command(command: Sequence[str], *, capture: bool = False, priority: bool = False) -> Ended:
    """The same without perf."""
    with Workload(command, capture=capture, priority=priority) as work:
        work.release()
        ended = work.wait()
    assert ended is not None
    return ended


def run_watched(
    command: Sequence[str],
    *,
    on: Processors | None = None,
    capture: bool = False,
    priority: bool = False,
    within_s: float = math.inf,
) -> Recorded:
    """A run without perf that an interrupt, or the end of its time, ends as it ends a recording."""
    with Workload(command, on=on, capture=capture, priority=priority) as work, watching_interrupts() as interrupted:
        release(work, interrupted)
        ended = _wait(work, interrupted, within_s)
        late = ended is None and not interrupted()
        ended = ended or end(work)
    return Recorded(ended.wall_s, ended, interrupted(), late)


def record_running(plan: Plan, out: Path, *, pid: int | None, duration_s: float | None) -> Recorded:
    """Record a process with those that came from it, or the machine, until the time is over or we are interrupted.

    Of a process also until it ends.  perf follows what its threads start from now on, and nothing that is there.
    """
    whole = pid is None or plan.candidate.choice.whole_machine
    target = ["-a"] if whole or pid is None else ["-p", ",".join(map(str, [pid, *descendants(pid)]))]
    with _perf(plan, target, out) as perf, watching_interrupts() as interrupted:
        perf.ready()
        started = time.monotonic()
        until = None if duration_s is None else started + duration_s
        while not interrupted() and perf.runs() and (until is None or time.monotonic() < until):
            if pid is not None and not _alive(pid):
                break
            left = 0.05 if until is None else min(0.05, max(until - time.monotonic(), 0))
            time.sleep(left)
        wall_s = time.monotonic() - started
        perf.stop()
        perf.finish()
    _decode(plan, out)
    return Recorded(wall_s, None, interrupted())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _decode(plan: Plan, out: Path) -> None:
    """Turn what the event wrote into samples, where it writes something else."""
    choice = plan.candidate.choice
    if not choice.decode:
        return
    decoded = out.with_name(out.name + ".decoded")
    line = [plan.perf.path, "inject", *choice.decode, "-i", str(out), "-o", str(decoded)]
    try:
        done = children.run(line, timeout_s=None)
        if done.returncode != 0:
            raise LinemateError(f"perf inject: {reason((done.stderr + done.stdout).decode('utf-8', 'replace'))}")
        os.replace(decoded, out)
    finally:
        decoded.unlink(missing_ok=True)


@contextlib.contextmanager
def watching_interrupts() -> Iterator[Callable[[], int]]:
    """Meanwhile SIGINT, SIGTERM and SIGHUP are only noted; gives which came first, 0 for none."""
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    # What a shell made us ignore, as it does for jobs in the background, stays ignored.
    heard = [n for n in SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield lambda: came[0] if came else 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _perf(plan: Plan, target: Sequence[str], out: Path) -> PerfRun:
    options = sampling_options(plan.candidate, plan.machine, plan.sampling)
    options += ["-k", plan.clock] if plan.clock else []
    return PerfRun(plan.perf, plan.machine, options, target, out, priority=plan.priority)


class PerfRun:
    """perf record as a child in a session of its own, so that a terminal's interrupt does not reach it twice."""

    def __init__(
        self,
        perf: Perf,
        machine: Machine,
        options: Sequence[str],
        target: Sequence[str],
        out: Path,
        *,
        priority: bool = False,
    ) -> None:
        control_read, self._control = os.pipe()
        self._answers, answers_write = os.pipe()
        pages = BUFFER_PAGES if "cap_ipc_lock" in machine.capabilities else _PLAIN_BUFFER_PAGES
        # -N: nothing is copied to ~/.debug.  The build-ids are in the file, with the mappings or in its header.
        line = [perf.path, "record", "-N", "-m", str(pages), "-o", str(out)]
        line += ["--buildid-mmap"] if perf.buildid_mmap else []
        line += options
        # Disabled until told, so that nothing of the start is sampled.
        line += ["-D", "-1", f"--control=fd:{control_read},{answers_write}", *target]
        self._said = tempfile.TemporaryFile(dir=scratch.folder())  # noqa: SIM115 (closed in __exit__)
        try:
            self._process = children.start(
                line,
                children.Streams(stdout=self._said, stderr=self._said, others=(control_read, answers_write)),
                bond=children.WhenKilled.ALONE,
                group=True,
                env={**os.environ, "LC_ALL": "C"},
                before_exec=raise_priority if priority else None,
            )
        except OSError as error:
            raise LinemateError(f"{perf.path}: {error.strerror}") from error
        finally:
            os.close(control_read)
            os.close(answers_write)

    def __enter__(self) -> PerfRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for descriptor in (self._control, self._answers):
            os.close(descriptor)
        self._said.close()

    def ready(self) -> None:
        """Start sampling; comes back when it has.  Raises LinemateError with perf's reason."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, b"enable\n")
        os.set_blocking(self._answers, False)
        deadline = time.monotonic() + _READY_S
        answer = b""
        while _ACKNOWLEDGED not in answer:
            with contextlib.suppress(BlockingIOError):
                if data := os.read(self._answers, 64):
                    answer += data
                    continue
                break  # perf has closed its end
            if time.monotonic() > deadline:
                raise LinemateError(f"perf did not start within {_READY_S:.0f} s")
            time.sleep(0.002)
        if _ACKNOWLEDGED not in answer:
            self._process.wait(_FINISH_S)
            raise LinemateError(f"perf record: {self._reason()}")

    def runs(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """No more samples; perf writes what it has."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGINT)

    def finish(self) -> None:
        """The file is whole.  Raises LinemateError where perf failed."""
        try:
            code = self._process.wait(_FINISH_S)
        except subprocess.TimeoutExpired:
            raise LinemateError(f"perf did not finish within {_FINISH_S:.0f} s") from None
        if code not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            raise LinemateError(f"perf record: {self._reason()}")

    def _reason(self) -> str:
        self._said.seek(0)
        return reason(self._said.read(1 << 16).decode("utf-8", "replace"))
