"""Programs that are built and run under callgrind here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
RUN = ("--tool=callgrind", "--dump-instr=yes", "--separate-threads=yes", "--fair-sched=yes")


@dataclass(frozen=True)
class Run:
    """A program and the name that callgrind was given for its counts."""

    binary: Path
    counts: Path


Counted = Callable[..., Run]


@pytest.fixture(scope="session")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Counted:
    """``counted("pair.c", "-DPAD")`` is one run of that program; ``strip`` removes its symbols first.

    ``arguments`` are the program's.
    """
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind")
    where = tmp_path_factory.mktemp("counted")
    known: dict[tuple[object, ...], Run] = {}

    def run(name: str, *flags: str, strip: bool = False, arguments: tuple[str, ...] = ()) -> Run:
        key = (name, flags, strip, arguments)
        if key not in known:
            folder = where / str(len(known))
            folder.mkdir()
            made = Run(folder / "program", folder / "counts")
            build = ["gcc", "-O1", "-pthread", *flags, str(PROGRAMS / name), "-o", str(made.binary)]
            subprocess.run(build, check=True)
            if strip:
                subprocess.run(["strip", str(made.binary)], check=True)
            command = ["valgrind", "-q", *RUN, f"--callgrind-out-file={made.counts}", str(made.binary), *arguments]
            subprocess.run(command, check=True, timeout=60, cwd=folder)
            known[key] = made
        return known[key]

    return run
