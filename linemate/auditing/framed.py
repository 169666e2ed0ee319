"""A child in Python that is asked and answers in frames: the length, then MessagePack.

Owns both ends: its start, the frames, and its end, for the parent and within the child.  What is asked and what is
answered is of the modules that use it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any, Generic, NoReturn, Self, TypeVar

import msgspec

from elfscan.tools import tool_path
from linemate.blas import ONE_THREAD
from reports.jsontext import without_surrogates
from sharing.model.errors import LinemateError
from sharing.model.process import children, scratch, stopping

_LENGTH = struct.Struct("=I")
_BLOCK_BYTES = 1 << 20  # a read takes memory for what it asks for, before it is known what there is

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Child(Generic[Answer]):
    """Runs ``module.main()``.  Started when it is first asked, and again after it ended.

    A context: leaving it ends the process.  The pipe holds a few dozen answers; a child that is ahead of whoever reads
    them waits.
    """

    def __init__(self, module: str, answer: type[Answer]) -> None:
        self._module = module
        self._decoder = msgspec.msgpack.Decoder(answer)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def descriptor(self) -> int:
        """Where its answer can be read from.  It must have been asked."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def ask(self, question: Any) -> None:
        """Hand over a question.  Raises LinemateError where no process can be started."""
        data = frame(question)
        for attempt in range(2):
            try:
                process = self._running()
                assert process.stdin is not None
                process.stdin.write(data)
                process.stdin.flush()
                return
            except OSError as error:  # it ended after its last answer
                self.close()
                if attempt:
                    raise LinemateError(f"no process to audit with: {error.strerror}") from error

    def answer(self) -> Answer | None:
        """The next, waiting for it; None where the process ended, or was never asked."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        body = read_frame(process.stdout)
        if body is None:
            self.close()
            return None
        return self._decoder.decode(body)

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
            code = f"import sys; sys.path[:] = {sys.path!a}; from {self._module} import main; main()"
            self._process = children.start(
                [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", code],
                children.Streams(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL),
                bond=children.WhenKilled.ALONE,
                group=True,  # Ctrl-C is this process' to act on
                env={**ONE_THREAD, **os.environ, "TMPDIR": scratch.folder()},
            )
        return self._process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(work: Callable[[], None]) -> NoReturn:
    """Within the child: ``work`` until it returns or fails.  What it fails of is not told: the parent sees it end."""
    gc.set_threshold(500_000, 50, 50)  # as in a run of the command
    with contextlib.suppress(Exception, stopping.Stopped):
        stopping.install()
        children.use_spawner(lambda: str(tool_path("linemate-spawn")))
        work()
        stopping.begin_ending()
    stopping.begin_ending()
    children.end_all()
    scratch.close()
    os._exit(0)


def questions(of: type[Question]) -> Iterator[Question]:
    """Within the child: what it is asked, until standard input ends."""
    decoder = msgspec.msgpack.Decoder(of)
    while (body := read_frame(sys.stdin.buffer)) is not None:
        yield decoder.decode(body)


def reply(answer: object) -> None:
    """Within the child: one answer."""
    sys.stdout.buffer.write(frame(answer))
    sys.stdout.buffer.flush()


def frame(value: object) -> bytes:
    """A value as it goes through a pipe, or into a file."""
    body = body_of(value)
    return _LENGTH.pack(len(body)) + body


def body_of(value: object) -> bytes:
    """A value as MessagePack.  Bytes of a name that are not UTF-8 become text, as reports show them in any case."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(without_surrogates(msgspec.to_builtins(value)))


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The body of the next frame; None at the end, also where that cuts one."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = bytearray()
    while len(body) < length and (part := stream.read(min(length - len(body), _BLOCK_BYTES))):
        body += part
    return bytes(body) if len(body) == length else None
