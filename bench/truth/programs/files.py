"""Programs that work on files with several threads and end: compressors, sort, git, a linker.  Owns their rows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bench.truth.programs.program import Program, text, text_of


def repository(where: Path) -> None:
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


def disk(where: Path) -> None:
    """A sparse disk image with data in each of its parts."""
    with (where / "disk.raw").open("wb") as file:
        for part in range(24):
            file.seek(part << 20)
            file.write(text_of(600_000, part))


ROWS = (
    Program("pigz", "pigz", ("/usr/bin/pigz", "-p", "4", "-kf", "{where}/input"), prepare=text(3 << 20)),
    Program("pbzip2", "pbzip2", ("/usr/bin/pbzip2", "-p3", "-1", "-kf", "{where}/input"), prepare=text(1 << 20)),
    Program("zstd", "zstd", ("/usr/bin/zstd", "-T3", "-B512KB", "-q", "-f", "{where}/input"), prepare=text(4 << 20)),
    Program(
        "liblzma",
        "liblzma5",
        ("/usr/bin/xz", "-T3", "-1", "--block-size=512KiB", "-kf", "{where}/input"),
        prepare=text(2 << 20),
        judged=("/lib/x86_64-linux-gnu/liblzma.so.5",),
    ),
    Program(
        "sort",
        "coreutils",
        ("/usr/bin/sort", "--parallel=4", "-S", "64M", "{where}/input", "-o", "{where}/output"),
        prepare=text(16 << 20),
    ),
    Program(
        "git-grep",
        "git",
        ("/usr/bin/git", "-C", "{where}/tree", "grep", "--threads=4", "-c", "qx"),
        prepare=repository,
    ),
    Program(
        "git-index-pack",
        "git",
        ("/usr/bin/git", "index-pack", "--threads=3", "-o", "{where}/out.idx", "{where}/input.pack"),
        prepare=repository,
    ),
    Program(
        "lld",
        "lld-19",
        ("/usr/bin/ld.lld-19", "--threads=3", "--gc-sections", "-e", "main", "-o", "{where}/out", "@{where}/objects"),
        prepare=_objects,
    ),
    Program(
        "qemu-img",
        "qemu-utils",
        (
            *("/usr/bin/qemu-img", "convert", "-m", "6", "-W", "-c", "-f", "raw", "-O", "qcow2"),
            *("{where}/disk.raw", "{where}/disk.qcow2"),
        ),
        prepare=disk,
    ),
    Program(
        "gold",
        "binutils-x86-64-linux-gnu",
        (
            *("/usr/bin/ld.gold", "--threads", "--thread-count", "3", "--gc-sections", "-e", "main"),
            *("-o", "{where}/out", "@{where}/objects"),
        ),
        prepare=_objects,
    ),
)
