"""Running a program of the corpus under callgrind: started, warmed up, counted under its load, stopped.

Owns valgrind's and callgrind_control's command lines.  Reads no counts (``bench.truth.store`` keeps them).
"""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

from bench.truth.programs.program import BUILT, DRIVERS, PORT, Program

RUN = ("valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--separate-threads=yes", "--fair-sched=yes")
# Of a program that has no warm-up, or a child that nobody can ask for a dump: each thread's counts begin where it has
# started the last of its threads.
STEADY = ("--zero-before=pthread_create*",)
RESERVED_FILES = 12
START_S, STOP_S, BATCH_S = 400.0, 60.0, 420.0


class NotRun(Exception):
    """A program did not start, or did not end, as it should."""


def count(program: Program, where: Path) -> list[Path]:
    """Run it once; the files that callgrind wrote of what is to be counted."""
    if program.prepare is not None:
        program.prepare(where)
    counts = where / ("counts.%p" if program.forks else "counts")
    places = {"port": PORT, "where": where, "built": BUILT, "drivers": DRIVERS}
    command = [part.format(**places) for part in program.command]
    environment = {name: value.format(**places) for name, value in program.environment}
    steady = () if program.load is not None and not program.forks else STEADY
    with (where / "log").open("wb") as log, program.beside(where):
        started = subprocess.Popen(
            ["nice", "-n", "10", *RUN, *steady, f"--callgrind-out-file={counts}", *command],
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            preexec_fn=(lambda: _raise_files(program.files)) if program.files else None,
            start_new_session=True,
            user=program.user or None,
        )
        try:
            if program.load is None:
                started.wait(timeout=BATCH_S)
                return _parts(where, "counts-")
            wait_for_port(started)
            if program.forks:
                serving = _child(started.pid)
                program.load(where, 1)
                started.terminate()
                started.wait(timeout=STOP_S)
                return _parts(where, rf"counts\.{serving}-")
            program.load(where, 0)
            _control("--zero", started.pid, program.user)
            program.load(where, 1)
            _control("--dump", started.pid, program.user)
            return _parts(where, r"counts\.1-")
        except subprocess.TimeoutExpired as late:
            raise NotRun(f"{program.name}: did not end in {late.timeout:.0f} s") from late
        finally:
            stop(started)


def _raise_files(count: int) -> None:
    # valgrind keeps twelve for itself, and lets a program set the limit to what is left and to nothing else.
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count + RESERVED_FILES))


def wait_for_port(started: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if started.poll() is not None:
            raise NotRun(f"ended with {started.returncode} before it listened")
        try:
            with socket.create_connection(("127.0.0.1", PORT), timeout=1.0):
                return
        except OSError:
            time.sleep(0.5)
    raise NotRun(f"did not listen on port {PORT} in {START_S:.0f} s")


def _child(pid: int) -> int:
    """The only child of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if len(children) != 1:
        raise NotRun(f"has {len(children)} children, and one was to serve")
    return int(children[0])


def _control(what: str, pid: int, user: str) -> None:
    command = ["callgrind_control", what, str(pid)]
    done = subprocess.run(command, timeout=START_S, stdout=subprocess.DEVNULL, check=False, user=user or None)
    if done.returncode:
        raise NotRun(f"{' '.join(command)}: ended with {done.returncode}")


def _parts(where: Path, beginning: str) -> list[Path]:
    """Files of counts whose names begin so."""
    found = sorted(p for p in where.iterdir() if re.match(beginning, p.name))
    if not found:
        there = ", ".join(sorted(p.name for p in where.iterdir() if p.name.startswith("counts"))[:9])
        said = (where / "log").read_text(errors="replace")[-300:]
        raise NotRun(f"callgrind wrote no file {beginning}… but {there or 'nothing'}: {said}")
    return found


def stop(started: subprocess.Popen[bytes]) -> None:
    """Its whole session, so that nothing of it is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if started.poll() is not None:
            return
        os.killpg(started.pid, number)
        try:
            started.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            continue
