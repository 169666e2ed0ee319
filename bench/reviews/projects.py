"""Projects whose commits are reviewed: which files count, and how their compile database is made without a build."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.database import commands
from bench.measure import Unavailable

# Automake: the source is here or in the folder of the sources.
_EITHER_FOLDER = re.compile(r"`test -f '([^']+)' \|\| echo '[^']*'`\1")


@dataclass(frozen=True, slots=True)
class Project:
    """``sources`` are what a commit has to touch to count; ``configure`` makes the database in a checkout."""

    repository: str  # OWNER/NAME
    sources: tuple[str, ...]
    configure: Callable[[Path], None]


def _redis(tree: Path) -> None:
    if not (tree / "src" / "release.h").exists():
        _run(["sh", "mkreleasehdr.sh"], tree / "src")
    _dry_run(tree, ["make", "-C", "src", "V=1", "MALLOC=libc", "redis-server"])


def _memcached(tree: Path) -> None:
    if not (tree / "Makefile").exists():
        _run(["sh", "autogen.sh"], tree)
        _run(["./configure", "--quiet"], tree)
    _dry_run(tree, ["make", "V=1", "memcached"])


def _dry_run(tree: Path, make: list[str]) -> None:
    done = _run([*make, "--dry-run", "--print-directory"], tree)
    plain = _EITHER_FOLDER.sub(r"\1", done)
    entries = [e for e in commands(plain, tree) if Path(str(e["file"])).is_file()]
    if not entries:
        raise Unavailable(f"{tree}: make would compile nothing")
    (tree / "compile_commands.json").write_text(json.dumps(entries, indent=1))


def _cmake(*flags: str) -> Callable[[Path], None]:
    def configure(tree: Path) -> None:
        _run(["cmake", "-S", ".", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *flags], tree)
        (tree / "compile_commands.json").write_bytes((tree / "build" / "compile_commands.json").read_bytes())

    return configure


def _run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "LC_ALL": "C"}  # what make says is read
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", env=environment)
    if done.returncode and "--dry-run" not in command:
        raise Unavailable(f"{folder}: {command[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


PROJECTS = {
    "redis": Project("redis/redis", ("src/*.c", "src/*.h"), _redis),
    "memcached": Project("memcached/memcached", ("*.c", "*.h"), _memcached),
    "libuv": Project("libuv/libuv", ("src/*.c", "src/*.h", "include/*.h"), _cmake("-DBUILD_TESTING=OFF")),
    "onetbb": Project(
        "uxlfoundation/oneTBB",
        ("src/tbb/*.cpp", "src/tbb/*.h", "src/tbbmalloc/*.cpp", "src/tbbmalloc/*.h", "include/oneapi/tbb/*.h"),
        _cmake("-DTBB_TEST=OFF"),
    ),
    "mimalloc": Project("microsoft/mimalloc", ("src/*.c", "include/*.h"), _cmake("-DMI_BUILD_TESTS=OFF")),
}
