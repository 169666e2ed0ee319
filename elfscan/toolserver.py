"""Helpers that stay loaded for many inputs: loading one takes longer than reading a member of an archive.

Owns the socket protocol of ``HELPER --serve`` (``native/serve/Serve.h``).  The helper forks for each request, so
bounds and isolation are those of ``ToolJob``.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from elfscan.tools import USUAL, Bounds, ToolJob, anonymous_file, helper_environment, lifetime_s, write_all
from sharing.model import LinemateError
from sharing.model.process import children

_LIMITS = struct.Struct("=QQQ")
_STATUS = struct.Struct("=i")
_MAX_REQUEST_BYTES = 1 << 15  # of limits and arguments; a longer one gets a process of its own


class ToolServers:
    """One loaded helper of each kind.  A context: leaving it ends them."""

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}

    def start(self, args: list[str], *, stdin: bytes | None = None, bounds: Bounds = USUAL) -> ToolJob:
        """As ``ToolJob.start``, by the loaded helper unless it is at work for another."""
        deadline = time.monotonic() + bounds.timeout_s
        memory_bytes = 0 if os.environ.get("LINEMATE_NATIVE_UNLIMITED") else bounds.memory_bytes
        arguments = b"".join(os.fsencode(argument) + b"\0" for argument in args[1:])
        request = _LIMITS.pack(memory_bytes, bounds.output_bytes, lifetime_s(bounds.timeout_s)) + arguments
        server = self._servers.get(args[0])
        if server is None or server.process.poll() is not None:
            if server is not None:
                server.stop()
            server = self._servers[args[0]] = _Server(args[0])
        if server.busy or len(request) > _MAX_REQUEST_BYTES:
            return ToolJob.start(args, stdin=stdin, bounds=bounds)
        return _ServedJob(server, request, stdin, deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers.values():
            server.stop()


class _Server:
    def __init__(self, tool: str) -> None:
        self.busy = False
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            quiet = subprocess.DEVNULL
            streams = children.Streams(stdin=theirs.fileno(), stdout=quiet, stderr=quiet)
            self.process = children.start([tool, "--serve"], streams, env=helper_environment())
        except OSError as error:
            self.socket.close()
            raise LinemateError(f"{tool}: {error.strerror or error}") from error
        finally:
            theirs.close()

    def stop(self) -> None:
        """End the helper, and with it the child that it runs."""
        self.socket.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class _ServedJob(ToolJob):
    """One request to a loaded helper."""

    def __init__(self, server: _Server, request: bytes, stdin: bytes | None, deadline: float) -> None:
        super().__init__(server.process, anonymous_file("stdout"), anonymous_file("stderr"), deadline)
        self._server = server
        source = anonymous_file("stdin")
        try:
            if stdin is not None:
                write_all(source, stdin)
                os.lseek(source, 0, os.SEEK_SET)
            server.busy = True
            socket.send_fds(server.socket, [request], [source, self._stdout, self._stderr])
        except OSError as error:
            self.close()
            raise LinemateError(f"{Path(str(server.process.args)).name}: {error.strerror or error}") from error
        finally:
            os.close(source)

    def close(self) -> None:
        """Stop the helper where it still works on this request.  Harmless when repeated."""
        if self._stdout >= 0 and self._server.busy:
            self._server.stop()
        self._close_files()

    def _wait(self) -> int:
        poller = select.poll()
        poller.register(self._server.socket, select.POLLIN)
        left = self._deadline - time.monotonic()
        if not poller.poll(max(left, 0.0) * 1000):
            raise LinemateError(f"{self._name}: gave no answer in time and was stopped")
        answer = b""
        with contextlib.suppress(OSError):
            answer = self._server.socket.recv(_STATUS.size)
        if len(answer) != _STATUS.size:
            raise LinemateError(f"{self._name}: ended before it gave an answer")
        self._server.busy = False
        return os.waitstatus_to_exitcode(_STATUS.unpack(answer)[0])
