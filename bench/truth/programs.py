"""The programs of the corpus: how each is started, what load it is given, which file is judged.

Owns this table.  Everything runs on the loopback interface or on files made here, bounded in time; programs are
Debian's, without symbols.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Load = Callable[[Path, int], None]  # (scratch folder, round): 0 to warm up, 1 to be counted

PORT = 47311
LOAD_S = 240.0  # after which a load is given up


@dataclass(frozen=True, slots=True)
class Program:
    """``command`` has {port} and {where} (the scratch folder).  ``load`` None: the program runs to its end by itself.

    ``judged`` are the files whose counts are kept, where that is not only the command.  ``files``: descriptors it may
    open.
    """

    name: str
    package: str
    command: tuple[str, ...]
    load: Load | None = None
    prepare: Callable[[Path], None] | None = None
    judged: tuple[str, ...] = ()
    files: int = 0

    def kept(self) -> dict[str, str]:
        """What is judged, by the name under which its counts are kept."""
        if len(self.judged) < 2:
            return {self.name: self.judged[0] if self.judged else self.command[0]}
        return {f"{self.name}-{os.path.basename(path).split('-')[0].split('.')[0]}": path for path in self.judged}


def _run(*command: str, stdin: bytes | None = None, cwd: Path | None = None) -> None:
    subprocess.run(
        command, input=stdin, check=False, timeout=LOAD_S, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _redis(where: Path, turn: int) -> None:
    requests, port = ("300", "6000")[turn], str(PORT)
    tests = "set,get,incr,lpush,lrange_100,hset,zadd,mset"
    _run("redis-benchmark", "-p", port, "-n", requests, "-c", "40", "-P", "8", "-d", "200", "-q", "-t", tests)
    if turn:
        for command in ("BGREWRITEAOF", "FLUSHALL ASYNC"):
            _run("redis-cli", "-p", port, *command.split())


def _memcached(where: Path, turn: int) -> None:
    test, each = ("set", "20") if not turn else ("set", "150")
    _run("memcslap", f"--servers=127.0.0.1:{PORT}", "--concurrency=16", f"--execute-number={each}", f"--test={test}")
    if turn:
        _run("memcslap", f"--servers=127.0.0.1:{PORT}", "--concurrency=16", "--execute-number=150", "--test=get")
        _run("memcstat", f"--servers=127.0.0.1:{PORT}")


def text_of(size: int, seed: int = 1) -> bytes:
    """Words in an order that compresses like prose; the same every time."""
    draw = random.Random(seed)
    words = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(4000)]
    out = bytearray()
    while len(out) < size:
        out += b" ".join(draw.choices(words, k=12)) + b"\n"
    return bytes(out[:size])


def _text(size: int) -> Callable[[Path], None]:
    def prepare(where: Path) -> None:
        (where / "input").write_bytes(text_of(size))

    return prepare


def _repository(where: Path) -> None:
    """A repository with 400 files that are much alike, and its pack, for git to search and to index."""
    tree = where / "tree"
    tree.mkdir()
    base = text_of(8000)
    for number in range(400):
        (tree / f"file{number}.c").write_bytes(base[: number * 20] + text_of(200, number) + base[number * 20 :])
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(where)}
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "one"), ("repack", "-adq", "--depth=50")):
        subprocess.run(["git", *command], cwd=tree, check=True, env=environment)
    pack = next((tree / ".git/objects/pack").glob("*.pack"))
    (where / "input.pack").write_bytes(pack.read_bytes())


def _objects(where: Path) -> None:
    """Object files with many functions and calls between them, for a linker."""
    for unit in range(24):
        functions = [
            f"int f{unit}_{n}(int x) {{ extern int f{(unit + 1) % 24}_{n}(int); "
            f"return x > {n} ? f{(unit + 1) % 24}_{n}(x - 1) : x * {n}; }}"
            for n in range(120)
        ]
        main = "int main(void) { return f0_1(3); }" if not unit else ""
        source = where / f"u{unit}.c"
        source.write_text("\n".join([*functions, main]))
        subprocess.run(["gcc", "-g", "-ffunction-sections", "-c", str(source), "-o", f"{source}.o"], check=True)
    (where / "objects").write_text("\n".join(f"{where}/u{unit}.c.o" for unit in range(24)))


def _picture(where: Path) -> None:
    """24 frames of moving noise, 320 by 180, in the format that x264 reads."""
    draw = random.Random(2)
    base = bytes(draw.choices(range(256), k=320 * 180 * 2))
    with (where / "input.y4m").open("wb") as file:
        file.write(b"YUV4MPEG2 W320 H180 F25:1 C420jpeg\n")
        for frame in range(24):
            file.write(b"FRAME\n" + base[frame * 97 :][: 320 * 180] + b"\x80" * (320 * 180 // 2))


PROGRAMS = (
    Program(
        "redis-server",
        "redis-tools",
        (
            *("/usr/bin/redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{where}"),
            *("--appendonly", "yes", "--io-threads", "2", "--io-threads-do-reads", "yes"),
        ),
        _redis,
    ),
    Program(
        "memcached",
        "memcached",
        ("/usr/bin/memcached", "-u", "root", "-p", "{port}", "-l", "127.0.0.1", "-t", "4", "-m", "16", "-U", "0"),
        _memcached,
        files=1024,
    ),
    Program("pigz", "pigz", ("/usr/bin/pigz", "-p", "4", "-kf", "{where}/input"), prepare=_text(3 << 20)),
    Program("pbzip2", "pbzip2", ("/usr/bin/pbzip2", "-p3", "-1", "-kf", "{where}/input"), prepare=_text(1 << 20)),
    Program("zstd", "zstd", ("/usr/bin/zstd", "-T3", "-B512KB", "-q", "-f", "{where}/input"), prepare=_text(4 << 20)),
    Program(
        "liblzma",
        "liblzma5",
        ("/usr/bin/xz", "-T3", "-1", "--block-size=512KiB", "-kf", "{where}/input"),
        prepare=_text(2 << 20),
        judged=("/lib/x86_64-linux-gnu/liblzma.so.5",),
    ),
    Program(
        "sort",
        "coreutils",
        ("/usr/bin/sort", "--parallel=4", "-S", "64M", "{where}/input", "-o", "{where}/output"),
        prepare=_text(16 << 20),
    ),
    Program(
        "git-grep",
        "git",
        ("/usr/bin/git", "-C", "{where}/tree", "grep", "--threads=4", "-c", "qx"),
        prepare=_repository,
    ),
    Program(
        "git-index-pack",
        "git",
        ("/usr/bin/git", "index-pack", "--threads=3", "-o", "{where}/out.idx", "{where}/input.pack"),
        prepare=_repository,
    ),
    Program(
        "lld",
        "lld-19",
        ("/usr/bin/ld.lld-19", "--threads=3", "--gc-sections", "-e", "main", "-o", "{where}/out", "@{where}/objects"),
        prepare=_objects,
    ),
    Program(
        "libx264",
        "libx264-164",
        ("/usr/bin/x264", "--threads", "3", "--preset", "veryfast", "-o", "{where}/out.264", "{where}/input.y4m"),
        prepare=_picture,
        judged=("/lib/x86_64-linux-gnu/libx264.so.164",),
    ),
)
