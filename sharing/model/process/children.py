"""Child processes that end with the run, however it ends.

Owns starting them, the list of those that run, and their end.  ``linemate-spawn``, where its place is known, makes the
kernel end a child when this process is killed, together with everything that the child has started.  The command that
``record`` measures is the user's and none of these.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import msgspec

from sharing.model.process.stopping import at_stop, held
from sharing.model.process.table import processes

GRACE_S = 3.0  # between SIGTERM and SIGKILL; linemate-spawn takes less for what it ends
_LOOK_S = 0.01


class WhenKilled(enum.Enum):
    """What becomes of a child when this process is killed.  A helper that sees to it itself needs nothing."""

    OWN = ""
    ALONE = "alone"  # the one process gets SIGTERM
    TREE = "tree"  # everything that it started, and its own processes that left its group, is ended


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """What a child reads and writes, as ``subprocess`` takes it; ``others`` are descriptors that it keeps besides."""

    stdin: int | IO[Any] = subprocess.DEVNULL
    stdout: int | IO[Any] | None = None
    stderr: int | IO[Any] | None = None
    others: Sequence[int] = ()


_running: dict[int, tuple[subprocess.Popen[Any], bool]] = {}
_spawner: list[Callable[[], str]] = []


def use_spawner(find: Callable[[], str]) -> None:
    """Where ``linemate-spawn`` is; asked when it is needed.  Without, only an orderly end ends children."""
    _spawner[:] = [find]


def start(
    arguments: Sequence[str],
    streams: Streams,
    *,
    bond: WhenKilled = WhenKilled.OWN,
    group: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    before_exec: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """A child that the end of the run ends.  ``group``: in a session of its own, which is ended as a whole.

    Raises OSError where it cannot be started.
    """
    line = list(arguments)
    if bond is not WhenKilled.OWN and _spawner:
        found = shutil.which(line[0])
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), line[0])
        line = [_spawner[0](), bond.value, str(os.getpid()), os.path.abspath(found), *line]
    with held():
        process = subprocess.Popen(
            line,
            cwd=cwd,
            env=env,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            pass_fds=streams.others,
            start_new_session=group,
            preexec_fn=before_exec,
        )
        # Copied in one step: other threads start children too.
        for pid in [pid for pid, (other, _) in list(_running.items()) if other.returncode is not None]:
            _running.pop(pid, None)
        _running[process.pid] = (process, group)
    return process


def run(
    arguments: Sequence[str],
    *,
    timeout_s: float | None,
    bond: WhenKilled = WhenKilled.ALONE,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    limits: Mapping[int, int] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run to the end and take what it says.  Whatever comes between ends the child, and is raised on.

    ``limits``: resources (setrlimit(2)) and how much of each the child may have.
    Raises OSError where it cannot be started, subprocess.TimeoutExpired.
    """
    pipes = Streams(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process = start(arguments, pipes, bond=bond, group=True, cwd=cwd, env=env)
    try:
        for resource_number, most in (limits or {}).items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                resource.prlimit(process.pid, resource_number, (most, most))
        out, err = process.communicate(timeout=timeout_s)
    except BaseException:
        end(process)
        raise
    finally:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    return subprocess.CompletedProcess(list(arguments), process.returncode, out, err)


def end(process: subprocess.Popen[Any]) -> None:
    """Ask a child (of a session of its own: all in it) to end, then insist.  Harmless when it has ended."""
    _end([(process, _running.get(process.pid, (process, False))[1])])


def end_all() -> None:
    """End every child that still runs."""
    _end([row for row in list(_running.values()) if row[0].returncode is None])


def _end_helpers() -> None:
    """Threads wait for helpers, and the end of the run would wait for the threads."""
    for process, group in list(_running.values()):
        if not group:
            with contextlib.suppress(OSError):
                process.kill()


at_stop(_end_helpers)


def _end(rows: Sequence[tuple[subprocess.Popen[Any], bool]]) -> None:
    for number, grace_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        for process, group in rows:
            # A group may go on without its first process; its number is not given away before it has ended.
            if process.poll() is None or group:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    (os.killpg if group else os.kill)(process.pid, number)
        until = time.monotonic() + grace_s
        while any(_goes_on(*row) for row in rows):
            if time.monotonic() > until:
                break
            time.sleep(_LOOK_S)
        else:
            return


def _goes_on(process: subprocess.Popen[Any], group: bool) -> bool:
    if process.poll() is None:
        return True
    if not group:
        return False
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return _lives(process.pid)


def _lives(group: int) -> bool:
    """Whether a process of the group is more than a zombie that nobody waits for."""
    return any(process.group == group and process.lives for process in processes())
