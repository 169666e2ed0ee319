"""What a program of the corpus is, and what its loads are made of.

Owns the row and the pieces that several rows need: running clients, text to work on, a place to listen.
"""

from __future__ import annotations

import glob
import http.server
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

Load = Callable[[Path, int], None]  # (scratch folder, round): 0 to warm up, 1 to be counted

DRIVERS = Path(__file__).parent / "drivers"  # what makes a load of a library
BUILT = Path(__file__).parents[3] / "build" / "truth" / "built"  # programs that are not Debian's, a folder each
PORT = 47311  # the program's; loads have those above for what it talks to
LOAD_S = 600.0  # after which a load is given up


@dataclass(frozen=True, slots=True)
class Program:
    """``command`` and ``environment`` have {port}, {where} (the scratch folder), {built} and {drivers}.

    ``load`` None: the program runs to its end by itself.  ``judged`` are the files whose counts are kept (patterns of
    shells), where that is not only the command.  ``needs`` are Debian packages besides its own that the load is made
    with; ``beside`` runs as long as the program.  ``files``: descriptors it may open.  ``forks``: what serves is its
    child.  ``user``: who it runs as, for what refuses to be root.  ``version``: of what is not Debian's package.
    """

    name: str
    package: str
    command: tuple[str, ...]
    load: Load | None = None
    prepare: Callable[[Path], None] | None = None
    judged: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    beside: Callable[[Path], AbstractContextManager[None]] = lambda where: nullcontext()
    files: int = 0
    forks: bool = False
    user: str = ""
    version: str = ""

    def kept(self) -> dict[str, str]:
        """What is judged, by the name under which its counts are kept."""
        judged = [path for pattern in self.judged for path in sorted(glob.glob(pattern))[-1:] or [pattern]]
        if len(judged) < 2:
            return {self.name: judged[0] if judged else self.command[0]}
        return {f"{self.name}-{os.path.basename(path).split('-')[0].split('.')[0]}": path for path in judged}


def wheel(name: str, version: str) -> Callable[[Path], None]:
    """Prepares a library of PyPI, unless it is here."""

    def prepare(where: Path) -> None:
        if not (BUILT / name).exists():
            into = ("--no-deps", "--target", str(BUILT / name))
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", *into, f"{name}=={version}"], check=True)

    return prepare


def run(*command: str, stdin: bytes | None = None, cwd: Path | None = None) -> None:
    """A client, in silence; whether it was served shows in the counts."""
    subprocess.run(
        command, input=stdin, check=False, timeout=LOAD_S, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def together(*works: Callable[[], None]) -> None:
    """Several clients at once."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LOAD_S)


def text_of(size: int, seed: int = 1) -> bytes:
    """Words in an order that compresses like prose; the same every time."""
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(4000)]
    out = bytearray()
    while len(out) < size:
        out += b" ".join(draw.choices(words, k=12)) + b"\n"
    return bytes(out[:size])


def text(size: int) -> Callable[[Path], None]:
    """Prepares a file of so many bytes."""

    def prepare(where: Path) -> None:
        (where / "input").write_bytes(text_of(size))

    return prepare


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Also a part of a file, which the library does not know."""
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        whole = path.read_bytes()
        first, last = int(asked[1]), min(int(asked[2] or len(whole) - 1), len(whole) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(whole)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(whole[first : last + 1])

    def log_message(self, format: str, *args: object) -> None:
        return


@contextmanager
def web_server(folder: Path, port: int) -> Iterator[None]:
    """Files of a folder over HTTP, for what fetches or caches them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
