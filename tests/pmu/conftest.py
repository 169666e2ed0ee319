"""What tests of profile readers share: recordings made here, and the builder of those that cannot be made here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

# Two threads write one line; without an argument a child process also executes something else.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long counters[32];
static long count = 12000000;
static void *work(void *at) {
  prctl(PR_SET_NAME, "worker thread");
  volatile long *mine = at;
  for (long i = 0; i < count; i++) (*mine)++;
  return 0;
}
int main(int argc, char **argv) {
  if (argc > 1) count = atol(argv[1]);
  pthread_t t;
  pthread_create(&t, 0, work, (void *)&counters[0]);
  pid_t child = argc > 1 ? 0 : fork();
  if (!child && argc <= 1) {
    for (long i = 0; i < 4000000; i++) counters[2]++;
    execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", (char *)0);
    _exit(1);
  }
  work((void *)&counters[1]);
  char *memory = malloc(1 << 21);
  memset(memory, 1, 1 << 21);
  pthread_join(t, 0);
  if (child) waitpid(child, 0, 0);
  return 0;
}
"""

Record = Callable[..., Path]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small threaded program, linked at a fixed address so that breakpoints can be put on its data."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    where = tmp_path_factory.mktemp("program")
    (where / "shared line.c").write_text(PROGRAM)
    out = where / "shared line"
    subprocess.run(["gcc", "-O2", "-no-pie", "-pthread", str(where / "shared line.c"), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="session")
def counters(program: Path) -> int:
    """Address of the program's hot variable."""
    lines = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(line.split()[0], 16) for line in lines if line.endswith(" counters"))


@pytest.fixture(scope="session")
def record(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Runs perf record with the given options on the program; skips where perf cannot."""
    made: dict[tuple[str, ...], Path] = {}

    def run(*options: str, to_pipe: bool = False, command: tuple[str, ...] = ()) -> Path:
        key = (*options, str(to_pipe), *command)
        if key not in made:
            if not shutil.which("perf"):
                pytest.skip("no perf")
            out = tmp_path_factory.mktemp("recording") / "perf.data"
            line = ["perf", "record", *options, "-o", "-" if to_pipe else str(out), "--", *(command or [str(program)])]
            done = subprocess.run(line, capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=False)
            if done.returncode:
                pytest.skip(f"perf record {' '.join(options)}: {done.stderr.decode().strip()[-200:]}")
            if to_pipe:
                out.write_bytes(done.stdout)
            made[key] = out
        return made[key]

    return run
