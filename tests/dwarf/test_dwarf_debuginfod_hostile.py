"""A server that sends without end, too slowly, or less than it said: one line, nothing kept, bounded memory."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from elfscan.debug.debugfile import build_id_of
from linemate import debuginfod, fetching
from linemate.debuginfod import find_debug_files

BODY = b"\x7fELF" + bytes(5000)
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
Serve = Callable[[Iterable[bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that sends these pieces, whatever it is asked, until they or its reader are gone."""
    with contextlib.ExitStack() as open_ones:

        def started(pieces: Iterable[bytes]) -> str:
            listening = open_ones.enter_context(socket.create_server(("127.0.0.1", 0)))

            def answer() -> None:
                with contextlib.suppress(OSError):
                    reader, _ = listening.accept()
                    with reader:
                        reader.recv(1 << 16)
                        for piece in pieces:
                            reader.sendall(piece)

            thread = threading.Thread(target=answer)
            thread.start()
            open_ones.callback(thread.join)
            return f"http://127.0.0.1:{listening.getsockname()[1]}/file"

        yield started


def endless(first: bytes, piece: bytes) -> Iterable[bytes]:
    return itertools.chain([first], itertools.repeat(piece * (1 + (1 << 16) // len(piece))))


HOSTILE = {
    "endless text of a redirection": endless(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", b"x"),
    "endless 'continue'": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "an endless status line": endless(b"HTTP/1.1 200 ", b"x"),
    "endless text behind the last chunk": endless(CHUNKED + CHUNK + b"0\r\n", b"Name: text\r\n"),
    "a chunk of negative size": endless(CHUNKED + b"-5\r\n", b"x"),
    "endless chunks of one byte": endless(CHUNKED, b"1\r\nx\r\n"),
    "an endless chunk": endless(CHUNKED + b"ffffffffffff\r\n", b"x"),
    "an endless body": endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    "less than it said": [PLAIN % (len(BODY) + 1) + BODY],
    "a chunk that breaks off": [CHUNKED + CHUNK[:-100]],
    "no last chunk": [CHUNKED + CHUNK],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_does_not_end_as_it_should_is_an_error(serve: Serve, tmp_path: Path, what: str) -> None:
    url = serve(HOSTILE[what])
    with pytest.raises(fetching.FAILURES) as failed:
        fetching.download(url, tmp_path / "file", most_bytes=4 << 20)
    assert str(failed.value)
    assert not (tmp_path / "file").exists() or (tmp_path / "file").stat().st_size <= 5 << 20


@pytest.mark.parametrize(
    "where",
    ["http://[", "http://\xff\xfe/", "http://127.0.0.1:x/", "ftp://127.0.0.1/", "file:///etc/passwd", "//", "\x1b"],
)
def test_an_address_that_is_none_leads_nowhere(serve: Serve, tmp_path: Path, where: str) -> None:
    head = f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(fetching.FAILURES) as failed:
        fetching.download(serve([head.encode("latin-1")]), tmp_path / "file", most_bytes=1 << 20)
    assert str(failed.value)
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    "pieces",
    [
        [PLAIN % len(BODY) + BODY],
        [CHUNKED + CHUNK + b"0\r\n\r\n"],
        [b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN % len(BODY) + BODY],
        [b"HTTP/1.0 200 OK\r\n\r\n", BODY],  # ends with the connection
    ],
    ids=["with its length", "in chunks", "behind a continue", "until the end"],
)
def test_what_ends_as_it_should_is_taken(serve: Serve, tmp_path: Path, pieces: list[bytes]) -> None:
    fetching.download(serve(pieces), tmp_path / "file", most_bytes=len(BODY))
    assert (tmp_path / "file").read_bytes() == BODY


@pytest.mark.parametrize(("a_look_s", "kept"), [(0.01, True), (40.0, False)])
def test_a_server_keeps_up_a_rate(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, a_look_s: float, kept: bool
) -> None:
    """The clock goes on by so much each time that it is looked at."""
    clock = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(clock) * a_look_s)
    url = serve([PLAIN % len(BODY) + BODY])
    if kept:
        fetching.download(url, tmp_path / "file", most_bytes=1 << 20)
    else:
        with pytest.raises(OSError, match="less than 16 KiB a second"):
            fetching.download(url, tmp_path / "file", most_bytes=1 << 20)


def test_a_file_that_breaks_off_is_not_kept_though_it_begins_with_the_build_id(
    serve: Serve, build: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = build("gcc", "c", "int main(void) { return 0; }\n", "-Wl,--build-id")
    stripped = tmp_path / "stripped"
    stripped.write_bytes(program.read_bytes())
    whole = program.read_bytes()
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(debuginfod, "missing_debug", lambda _path: build_id_of(str(program)))
    monkeypatch.setenv(debuginfod.URLS, serve([PLAIN % (len(whole) + 1) + whole]).removesuffix("/file"))
    said: list[str] = []
    find_debug_files([str(stripped)], asked=False, say=said.append)
    assert "ended 1 bytes before" in said[0]
    assert [path for path in (tmp_path / "cache/debug").rglob("*") if path.is_file()] == []


def test_a_server_writes_no_control_characters_into_a_terminal(
    serve: Serve, build: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: object
) -> None:
    from linemate.cli import main

    program = build("gcc", "c", "int main(void) { return 0; }\n", "-Wl,--build-id", "-s")
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    reason = "HTTP/1.1 500 \x1b]0;owned\x07\u202e\r\nContent-Length: 0\r\n\r\n".encode()
    monkeypatch.setenv(debuginfod.URLS, serve([reason]).removesuffix("/file"))
    main(["audit", str(program), "--debuginfod", "--fail-on", "never", "-o", str(tmp_path / "report.txt")])
    shown = capfd.readouterr()  # type: ignore[attr-defined]
    text = shown.out + shown.err + (tmp_path / "report.txt").read_text()
    assert "owned" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
