"""One answer of a server into a file, over HTTP or HTTPS and nothing else.

Owns how much a server may send and how slowly, from the first byte of its status line on.  ``http.client`` bounds
lines, and the time between two bytes, but neither how many answers "continue" may come first, nor the text that
comes with a redirection, which it reads into memory as a whole, nor what follows the last chunk; and it takes an
answer that breaks off for one that ended.  Imported late: hardly any run talks to a server.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from pathlib import Path
from typing import Any, NoReturn
from urllib import request

from sharing.model.errors import LinemateError

_STEP_S = 10.0  # without any byte
_GRACE_S = 30.0  # to begin in; from then on it has to keep up the rate
_MIN_BYTES_PER_S = 16 << 10  # a line of 128 kbit/s
_MAX_HEAD_BYTES = 1 << 20  # everything before the file, and all of an answer that is not one
_BLOCK_BYTES = 1 << 20
_OK = 200
_FRAMING_PARTS = 64  # what is sent around a file may be this part of its greatest size
# ValueError: of an address that a server sends us on to, and that is none.
FAILURES = (OSError, http.client.HTTPException, ValueError, LinemateError)


def download(url: str, target: Path, *, most_bytes: int) -> None:
    """Write what is at ``url``.  Raises one of ``FAILURES``."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        _Http(most_bytes),
        _Https(most_bytes),
        request.HTTPRedirectHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    asked = request.Request(url, headers={"User-Agent": "linemate"})
    with opener.open(asked, timeout=_STEP_S) as answer, target.open("wb") as file:
        left = most_bytes
        # One piece at a time: to fill a block, a chunk of a hostile size is read as a whole.
        while block := answer.read1(_BLOCK_BYTES):
            left -= len(block)
            if left < 0:
                raise LinemateError(f"sends more than {_size(most_bytes)}")
            file.write(block)
        if answer.length:
            raise LinemateError(f"ended {answer.length:,} bytes before the end of the file")


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >> 30 else f"{count >> 20} MiB"


class _Paced(io.RawIOBase):
    """What a server sends, until it is too much or too slow."""

    def __init__(self, raw: Any) -> None:
        self._raw, self._began, self._bytes = raw, time.monotonic(), 0
        self.most_bytes = _MAX_HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._raw.readinto(buffer) or 0)
        self._bytes += count
        if self._bytes > self.most_bytes:
            self._hang_up(f"sends more than {_size(self.most_bytes)} around a file or in place of one")
        if time.monotonic() - self._began > _GRACE_S + self._bytes / _MIN_BYTES_PER_S:
            self._hang_up(f"sends less than {_MIN_BYTES_PER_S >> 10} KiB a second")
        return count

    def _hang_up(self, why: str) -> NoReturn:
        self._raw.close()  # whoever holds the answer may do so for long
        raise OSError(why)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    most_bytes = 0

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self._paced = _Paced(self.fp.detach())
        self.fp = io.BufferedReader(self._paced)

    def begin(self) -> None:
        super().begin()
        if self.status == _OK:
            self._paced.most_bytes = _MAX_HEAD_BYTES + self.most_bytes + self.most_bytes // _FRAMING_PARTS


def _bounded(most_bytes: int) -> type[_Response]:
    return type("_BoundedResponse", (_Response,), {"most_bytes": most_bytes})


class _Http(request.HTTPHandler):
    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._kind: Any = type("_Connection", (http.client.HTTPConnection,), {"response_class": _bounded(most_bytes)})

    def http_open(self, req: request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._kind, req)


class _Https(request.HTTPSHandler):
    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._kind: Any = type("_Connection", (http.client.HTTPSConnection,), {"response_class": _bounded(most_bytes)})

    def https_open(self, req: request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._kind, req, context=ssl.create_default_context())
