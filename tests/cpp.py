"""Compiles programs of C++ for tests: the library's headers once a run for each compiler and its options.

Owns which headers are compiled beforehand.  Reading them takes most of the time that a small program of threads costs,
and hundreds of tests have one.  What they bring beyond what a program includes declares only: code, data and debug
information of the program stay the same, since compilers leave out what is not used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

# None of them defines a variable, as <iostream> does.
_BEFORE = """
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
#if __cplusplus > 201703L
#include <latch>
#include <semaphore>
#include <stop_token>
#endif
"""
# Others are read as fast as what was compiled beforehand.
_SLOW = re.compile(
    "^ *# *include *<("
    "condition_variable|deque|functional|future|map|memory|mutex|random|shared_mutex|string|thread|vector)>",
    re.MULTILINE,
)
# Other sources, the words of the program, and what is for the linker or for one of several outputs.
_OF_THE_PROGRAM = re.compile("[^-]|-c$|-shared$|-Wl,|-[lL]|-D[A-Za-z]")


def compiler(name: str) -> str:
    """Where it is; skips where it is not."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def build(tool: str, source: Path, program: Path, *flags: str) -> Path:
    """Makes ``program`` of ``source``, with the compiler ``tool`` and its options; skips where there is none."""
    compiler(tool)
    beforehand = _headers(tool, flags) if _SLOW.search(source.read_text()) else ()
    command = [tool, *flags, *beforehand, "-o", str(program), str(source)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{' '.join(command)}\n{made.stderr}"
    return program


def _headers(tool: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Options that bring the headers, which are compiled where no other worker has done so."""
    flags = tuple(flag for flag in flags if not _OF_THE_PROGRAM.match(flag))
    key = hashlib.sha256("\0".join((tool, *flags)).encode()).hexdigest()[:16]
    folder = Path(os.environ.get("LINEMATE_TESTS_PLACES", tempfile.gettempdir())) / "headers" / key
    folder.mkdir(parents=True, exist_ok=True)
    header, is_clang = folder / "headers.h", "clang" in tool
    made = folder / ("headers.h.pch" if is_clang else "headers.h.gch")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            header.write_text(_BEFORE)
            unfinished = folder / "unfinished"
            command = [tool, *flags, "-x", "c++-header", "-o", str(unfinished), str(header)]
            subprocess.run(command, check=True, capture_output=True)
            unfinished.rename(made)
    return ("-include-pch", str(made)) if is_clang else ("-include", str(header), "-Winvalid-pch")
