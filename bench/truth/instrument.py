"""Programs of the corpus built so that every access is counted, and run under their loads.

Owns how they are compiled (gcc's ``-fsanitize=thread`` for its calls before each access, and nothing else of it), what
is linked in its place (``native``), and how a run is driven.  Sizes, alignment and the allocator are those of
the normal build; what is slower are the accesses, so that counted are accesses and transfers, and not time.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.truth.build import Build, program_of, same_everywhere
from bench.truth.drive import STOP_S, NotRun, stop, wait_for_port
from bench.truth.programs.program import BUILT, DRIVERS, PORT, Program
from sharing.model.errors import LinemateError

NATIVE = Path(__file__).parent / "native"
RECORDER = "gcc -fsanitize=thread with bench/truth/native"
COUNTED = "counted"  # the folder of such a build, below that of the normal one
LIMIT_S = 420.0
POLL_S = 0.05
# Without the macro that tells programs of it, which some then do things differently for.
GCC = ("-fsanitize=thread", "-U__SANITIZE_THREAD__", "--param=tsan-instrument-func-entry-exit=0")
CLANG = ("-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0")
_LOCKS = ("mutex_lock", "mutex_trylock", "mutex_unlock", "cond_wait", "cond_timedwait", "cond_signal", "cond_broadcast")
_OTHERS = ("rwlock_rdlock", "rwlock_wrlock", "rwlock_tryrdlock", "rwlock_trywrlock", "rwlock_unlock")
_SPINS = ("spin_lock", "spin_trylock", "spin_unlock", "create")
WRAPPED = (
    *("memcpy", "memmove", "memset", "sem_wait", "sem_trywait", "sem_post"),
    *(f"pthread_{name}" for name in (*_LOCKS, *_OTHERS, *_SPINS)),
)
LINKED = tuple(f"-Wl,--wrap={name}" for name in WRAPPED)
WRAPPER = """#!{python}
import os, subprocess, sys
command = ["{compiler}", *sys.argv[1:], "-ffile-prefix-map={source}=."]
sources = [a for a in sys.argv[1:] if a.endswith((".c", ".cc", ".cpp")) and os.path.isfile(a)]
objects = [a for a in sys.argv[1:] if a.endswith((".o", ".a")) and os.path.isfile(a)]
only = {{"-c", "-S", "-E", "-M", "-MM"}}.intersection(sys.argv[1:])
if only:
    command += {flags} if sources else []
elif sources or objects:
    rest = [a for a in command if a not in sources]
    for source in sources:
        made = os.path.abspath(source) + ".counted.o"
        out = [a for a in rest if not a.endswith((".o", ".a")) and not a.startswith(("-l", "-Wl"))]
        if "-o" in out:
            del out[out.index("-o") : out.index("-o") + 2]
        subprocess.run([*out, *{flags}, "-c", source, "-o", made], check=True)
        rest.insert(1, made)
    command = [*rest, "{counter}", *{linked}, "-pthread"]
os.execvp(command[0], command)
"""


def counted_program(one: Build) -> Path:
    """Where a program that counts its accesses is."""
    return BUILT / one.name / COUNTED / program_of(one).name


def build_counted(one: Build) -> Path:
    """Compile the source that is there already once more.  Raises LinemateError."""
    where = BUILT / one.name / COUNTED
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    described = next((BUILT / one.name).glob("*.dsc"), None)
    if described is None:
        raise LinemateError(f"{BUILT / one.name}: has no source: build {one.name} first")
    source = where / "source"
    _run(("dpkg-source", "-q", "-x", str(described), str(source)), where)
    counter = compile_counter(where)
    cc, cxx = (wrapper(where / name, name, source, counter) for name in ("gcc", "g++"))
    flags = f"-g -O2 -ffile-prefix-map={source}=."
    for command in one.before:
        _run(tuple(part.format(flags=flags) for part in command), source)
    for command in one.commands:
        _run(tuple(part.format(cc=cc, cxx=cxx, flags=flags) for part in command), source)
    made = counted_program(one)
    shutil.copy2(source / one.binary, made)
    return made


def compile_counter(where: Path) -> Path:
    """The run-time, which is not counted itself, as one object file."""
    made = where / "counter.o"
    subprocess.run(
        ["gcc", "-O2", "-r", "-nostdlib", *map(str, sorted(NATIVE.glob("*.c"))), "-o", str(made)], check=True
    )
    return made


def wrapper(path: Path, compiler: str, source: Path, counter: Path) -> Path:
    """A compiler that makes accesses calls, and links what is called."""
    flags = CLANG if "clang" in compiler else GCC
    text = WRAPPER.format(
        python=sys.executable,
        compiler=compiler,
        source=source,
        counter=counter,
        flags=list(flags),
        linked=list(LINKED),
    )
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def counting(program: Program, one: Build) -> Program:
    """The program of a row, that counts."""
    name = program_of(one).name
    return replace(program, command=("{built}/" + f"{one.name}/{COUNTED}/{name}", *program.command[1:]))


def count_accesses(program: Program, where: Path) -> Path:
    """Run it once under its load; the file that it wrote."""
    if program.prepare is not None:
        program.prepare(where)
    out = where / "accesses"
    places = {"port": PORT, "where": where, "built": BUILT, "drivers": DRIVERS}
    environment = {**os.environ, "COUNTER_OUT": str(out)}
    if program.load is None:
        environment["COUNTER_STEADY"] = "1"
    with (where / "log").open("wb") as log, program.beside(where):
        started = subprocess.Popen(
            [part.format(**places) for part in program.command],
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            if program.load is None:
                started.wait(timeout=LIMIT_S)
            else:
                wait_for_port(started)
                program.load(where, 0)
                _ask(out, "zero", started)
                program.load(where, 1)
                _ask(out, "dump", started)
        except subprocess.TimeoutExpired as late:
            raise NotRun(f"{program.name}: did not end in {late.timeout:.0f} s") from late
        finally:
            stop(started)
    if not out.exists():
        raise NotRun(f"{program.name}: wrote no counts: {(where / 'log').read_text(errors='replace')[-300:]}")
    return out


def _ask(out: Path, what: str, started: subprocess.Popen[bytes]) -> None:
    """Have it done by the program, which removes the file when it is."""
    asked = out.with_name(f"{out.name}.{what}")
    asked.touch()
    _until(lambda: not asked.exists() or started.poll() is not None)
    if asked.exists():
        raise NotRun(f"ended with {started.returncode} before {what}")


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + STOP_S
    while not done():
        if time.monotonic() > end:
            raise NotRun(f"no answer in {STOP_S:.0f} s")
        time.sleep(POLL_S)


def _run(command: tuple[str, ...], where: Path) -> None:
    environment = {**os.environ, **same_everywhere(where)}
    with (where / "build.log").open("ab") as log:
        done = subprocess.run(command, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    if done.returncode:
        raise LinemateError(f"{' '.join(command)[:80]}: ended with {done.returncode}: see {where}/build.log")
