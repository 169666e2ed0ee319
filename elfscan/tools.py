"""Running the native helpers: where they are, and one helper as a bounded child process.

Owns the bounds (time, memory, output) and the translation of every way a child can fail into one
``LinemateError``.  Knows nothing of what a helper reads or writes.  Helpers are separate processes because
their input is hostile: a crash or a hang in there must be one line here.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import msgspec

from sharing.model import LinemateError
from sharing.model.native import native_file
from sharing.model.process import children, scratch

_MAX_REASON_BYTES = 64 << 10  # of the helper's stderr, which a hostile file can make long
_MAX_REASON_CHARS = 300
_SPARE_S = 30.0  # after which a helper ends itself, beyond the time that it is waited for


def tool_path(name: str) -> Path:
    """The native helper called ``name``: ``$LINEMATE_NATIVE_DIR``, the build tree, then the installed package."""
    found = native_file(name)
    if found is not None and os.access(found, os.X_OK):
        return found
    raise LinemateError(
        f"{name}: the native helper is not built; run scripts/linemate once, or "
        "`cmake --preset release && cmake --build --preset release`"
    )


def helper_environment(limit_s: float | None = None) -> dict[str, str]:
    """What a helper is told of its starter: whose end is its own, also where that came before it could ask the kernel
    for it, and after how long it ends by itself.  The thread that starts a helper has to outlive it.
    """
    told = {**os.environ, "LINEMATE_PARENT_PID": str(os.getpid())}
    if limit_s is not None:
        told["LINEMATE_LIMIT_S"] = str(lifetime_s(limit_s))
    return told


def lifetime_s(limit_s: float) -> int:
    """After how many seconds a helper ends by itself that is waited for that long."""
    return math.ceil(max(limit_s, 0.0) + _SPARE_S)


class Bounds(msgspec.Struct, frozen=True):
    """What one helper may take.

    ``memory_bytes`` bounds what it allocates; pages of the files that it maps for reading are not counted, since the
    kernel can drop those.
    """

    timeout_s: float = 60.0
    memory_bytes: int = 1 << 30
    output_bytes: int = 1 << 30


USUAL = Bounds()


class Starter(Protocol):
    """What starts a helper: a process for each (``ToolJob``), or one that stays loaded (``toolserver.ToolServers``)."""

    def start(self, args: list[str], *, stdin: bytes | None = None, bounds: Bounds = USUAL) -> ToolJob:
        """As ``ToolJob.start``."""


def helper_confinement() -> str:
    """How this machine confines the helpers, in words.  Raises LinemateError where none can be run."""
    with ToolJob.start([str(tool_path("linemate-access")), "--confinement"]) as job:
        return job.result().decode("utf-8", "replace").strip()


class ToolJob:
    """One running native helper.  Use as a context manager, or call ``result`` or ``close``: both reap it.

    Output goes to an anonymous file in memory and not to a pipe, so that several helpers run to their end
    while Python does other work.
    """

    def __init__(self, process: subprocess.Popen[bytes], stdout: int, stderr: int, deadline: float) -> None:
        self._process = process
        self._stdout = stdout
        self._stderr = stderr
        self._deadline = deadline
        self._name = Path(str(process.args[0]) if isinstance(process.args, list) else str(process.args)).name

    @classmethod
    def start(cls, args: list[str], *, stdin: bytes | None = None, bounds: Bounds = USUAL) -> ToolJob:
        """Start ``args`` (``args[0]``: a path from ``tool_path``) and return at once; its time counts from here."""
        deadline = time.monotonic() + bounds.timeout_s
        out = anonymous_file("stdout")
        err = anonymous_file("stderr")
        source = subprocess.DEVNULL
        try:
            if stdin is not None:
                source = anonymous_file("stdin")
                write_all(source, stdin)
                os.lseek(source, 0, os.SEEK_SET)
            streams = children.Streams(stdin=source, stdout=out, stderr=err)
            process = children.start(args, streams, env=helper_environment(bounds.timeout_s))
        except OSError as error:
            os.close(out)
            os.close(err)
            raise LinemateError(f"{args[0]}: {error.strerror or error}") from error
        finally:
            if source >= 0:
                os.close(source)
        _limit(process.pid, bounds)
        return cls(process, out, err, deadline)

    def result(self) -> bytes:
        """Wait for the end and return standard output.  Raises ``LinemateError`` with one line when it failed."""
        try:
            code = self._wait()
            if code != 0:
                raise LinemateError(self._failure(code))
            return _read_all(self._stdout)
        finally:
            self.close()

    def close(self) -> None:
        """Stop the helper if it still runs and give back its files.  Harmless when repeated."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._close_files()

    def _close_files(self) -> None:
        for descriptor in (self._stdout, self._stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self._stdout = self._stderr = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def _wait(self) -> int:
        """The exit code, negative for a signal."""
        # Popen.wait(timeout) sleeps in steps of up to 50 ms; a pidfd wakes at once.
        if self._process.poll() is not None:
            return int(self._process.returncode)
        descriptor = os.pidfd_open(self._process.pid)
        try:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            left = self._deadline - time.monotonic()
            ended = poller.poll(max(left, 0.0) * 1000)
        finally:
            os.close(descriptor)
        if not ended:
            self._process.kill()
            self._process.wait()
            raise LinemateError(f"{self._name}: gave no answer in time and was stopped")
        return self._process.wait()

    def _failure(self, code: int) -> str:
        text = _read_all(self._stderr, _MAX_REASON_BYTES).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if code > 0:
            reason = lines[-1] if lines else f"{self._name}: failed with status {code}"
            return reason[:_MAX_REASON_CHARS]
        if -code in (signal.SIGALRM, signal.SIGXCPU):
            return f"{self._name}: gave no answer in time and ended"
        if -code == signal.SIGXFSZ:
            return f"{self._name}: its output exceeds the bound"
        if -code == signal.SIGBUS:
            return f"{self._name}: the file was truncated while it was read"
        try:
            what = signal.Signals(-code).name
        except ValueError:
            what = f"signal {-code}"
        return f"{self._name}: crashed ({what}); the file is probably damaged"


def anonymous_file(name: str) -> int:
    """A descriptor of a file without a name."""
    try:
        return os.memfd_create(f"linemate-{name}", os.MFD_CLOEXEC)
    except OSError:
        with tempfile.TemporaryFile(dir=scratch.folder()) as file:  # kernels and sandboxes without memfd
            return os.dup(file.fileno())


def _limit(pid: int, bounds: Bounds) -> None:
    # Set from outside rather than by preexec_fn: that would forbid vfork and copy this process' page tables.
    # RLIMIT_DATA and not RLIMIT_AS: it leaves out read-only file mappings, and the input may be gigabytes.
    # A sanitizer's shadow memory cannot live under any limit, hence the switch.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (bounds.output_bytes, bounds.output_bytes))
        if not os.environ.get("LINEMATE_NATIVE_UNLIMITED"):
            resource.prlimit(pid, resource.RLIMIT_DATA, (bounds.memory_bytes, bounds.memory_bytes))


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, however much the kernel takes at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_all(descriptor: int, limit: int | None = None) -> bytes:
    """The whole file, whatever its offset is."""
    size = os.fstat(descriptor).st_size
    if limit is not None:
        size = min(size, limit)
    chunks: list[bytes] = []
    offset = 0
    while offset < size:
        chunk = os.pread(descriptor, size - offset, offset)
        if not chunk:
            break
        chunks.append(chunk)
        offset += len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
