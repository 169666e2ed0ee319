"""A process that audits one file after another.  Owns its start, the questions and answers in frames, and its end."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys

import msgspec

from linemate.options import AuditOptions
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.process import children, scratch

FRAME = struct.Struct("=I")


class Answer(msgspec.Struct, frozen=True):
    """What became of a file: its report, or the line that says why there is none."""

    report: Report | None = None
    error: str = ""


class AuditingProcess:
    """Started when it is first asked, and again after it ended.  A context: leaving it ends the process."""

    def __init__(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def descriptor(self) -> int:
        """Where its answer can be read from.  It must have been asked."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def ask(self, options: AuditOptions) -> None:
        """Hand over the next file.  Raises LinemateError where no process can be started."""
        question = msgspec.msgpack.encode(options)
        frame = FRAME.pack(len(question)) + question
        for attempt in range(2):
            process = self._running()
            try:
                assert process.stdin is not None
                process.stdin.write(frame)
                process.stdin.flush()
                return
            except OSError as error:  # it ended after its last answer
                self.close()
                if attempt:
                    raise LinemateError(f"no process to audit with: {error.strerror}") from error

    def answer(self) -> Answer | None:
        """The answer, waiting for it; None where the process ended."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        head = process.stdout.read(FRAME.size)
        if len(head) == FRAME.size:
            (length,) = FRAME.unpack(head)
            body = process.stdout.read(length)
            if len(body) == length:
                return self._decoder.decode(body)
        self.close()
        return None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # what it was not yet told
                        pipe.close()
            children.end(process)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # The path of this process first: an installed linemate, a checkout and a test find different ones.
            code = f"import sys; sys.path[:] = {sys.path!a}; from {__package__}.answering import main; main()"
            self._process = children.start(
                [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", code],
                children.Streams(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL),
                bond=children.Bond.ALONE,
                group=True,  # Ctrl-C is this process' to act on
                env={**os.environ, "TMPDIR": scratch.folder()},
            )
        return self._process

    def __enter__(self) -> AuditingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
