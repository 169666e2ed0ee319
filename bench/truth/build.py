"""Programs of the corpus built here from Debian's source, so that their source and their symbols can be judged as well.

Owns how they are fetched and compiled: ``apt-get source``, the project's own makefile with ``-g -O2``, and a compiler
in front of gcc that writes the compile database.  Paths are mapped, so that the same source and compiler give the
same file, which the kept counts belong to.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from bench.truth.programs import PROGRAMS
from bench.truth.programs.program import BUILT, Program
from linemate.options import FactsRequest
from linemate.source import gather_facts
from sharing.model.errors import LinemateError
from sharing.model.project import ProjectConfig

SUFFIX = "-built"  # of the name that counts of such a program are kept under
JOBS = "2"
WRAPPER = """#!{python}
import json, os, sys
command = ["{compiler}", *sys.argv[1:]]
sources = [a for a in sys.argv[1:] if a.endswith((".c", ".cc", ".cpp")) and os.path.isfile(a)]
if sources and "-E" not in command:
    rows = [dict(directory=os.getcwd(), arguments=command, file=os.path.abspath(s)) for s in sources]
    with open("{database}", "a") as out:
        out.write("".join(json.dumps(row) + "\\n" for row in rows))
os.execvp(command[0], [*command, "-ffile-prefix-map={source}=."])
"""


@dataclass(frozen=True, slots=True)
class Build:
    """``commands`` run in the source's folder; {cc}, {cxx} and {flags} are filled in.  ``needs``: Debian packages."""

    name: str  # of the program's row
    source: str  # Debian's source package
    binary: str
    commands: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()  # without the compiler that writes the database


MAKE = ("make", f"-j{JOBS}")
BUILDS = (
    Build("pigz", "pigz", "pigz", ((*MAKE, "CC={cc}", "CFLAGS={flags}", "pigz"),), ("zlib1g-dev", "libzopfli-dev")),
    Build("pbzip2", "pbzip2", "pbzip2", ((*MAKE, "CXX={cxx}", "CXXFLAGS={flags}", "pbzip2"),), ("libbz2-dev",)),
    Build(
        "memcached",
        "memcached",
        "memcached",
        ((*MAKE, "CC={cc}", "CFLAGS={flags} -pthread", "memcached"),),
        ("libevent-dev",),
        (("./configure", "CFLAGS={flags}"),),
    ),
    Build(
        "redis-server",
        "redis",
        "src/redis-server",
        (
            (
                *(*MAKE, "-C", "src", "CC={cc}", "OPTIMIZATION=-O2", "DEBUG={flags}", "MALLOC=libc"),
                *("USE_SYSTEMD=no", "redis-server"),
            ),
        ),
    ),
    Build(
        "zstd",
        "libzstd",
        "programs/zstd",
        ((*MAKE, "-C", "programs", "CC={cc}", "CFLAGS={flags}", "BUILD_DIR=obj", "zstd"),),
        ("zlib1g-dev", "liblzma-dev", "liblz4-dev"),
    ),
    Build(
        "liblzma",  # within the program that uses it
        "xz-utils",
        "src/xz/xz",
        ((*MAKE, "CC={cc}"),),
        (),
        (("./configure", "--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts", "CFLAGS={flags}"),),
    ),
    Build(
        "mosquitto",
        "mosquitto",
        "src/mosquitto",
        (
            (
                *(*MAKE, "-C", "src", "CC={cc}", "CXX={cxx}", "CFLAGS={flags} -I. -I.. -I../include -I../lib -I../src"),
                *("WITH_TLS=no", "WITH_DOCS=no", "WITH_CJSON=no", "WITH_SYSTEMD=no", "WITH_STRIP=no", "mosquitto"),
            ),
        ),
    ),
)


def built_programs() -> tuple[Program, ...]:
    """Rows of the corpus with the program that was built here in the place of Debian's."""
    rows = {program.name: program for program in PROGRAMS}
    return tuple(
        replace(
            row, name=f"{row.name}{SUFFIX}", command=("{built}/" + f"{one.name}/{name}", *row.command[1:]), judged=()
        )
        for one in BUILDS
        for row, name in [(rows[one.name], program_of(one).name)]
    )


def program_of(build: Build) -> Path:
    """Where the built program lies; beside it are a stripped copy and its facts."""
    return BUILT / build.name / Path(build.binary).name


def build(one: Build) -> None:
    """Fetch, compile, strip, gather facts.  Raises LinemateError, or CalledProcessError with what failed."""
    where = BUILT / one.name
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    _run(("apt-get", "-qq", "source", one.source), where, {})
    found = [p for p in where.iterdir() if p.is_dir()]
    if len(found) != 1:
        raise LinemateError(f"{where}: {len(found)} folders of source, and one was to be fetched")
    source = found[0].rename(where / "source")
    database = where / "compile_commands.jsonl"
    cc, cxx = (wrapper(where / name, name, database) for name in ("gcc", "g++"))
    flags = f"-g -O2 -ffile-prefix-map={source}=."
    environment = same_everywhere(where)
    for command in one.before:
        _run(tuple(part.format(flags=flags) for part in command), source, environment)
    for command in one.commands:
        _run(tuple(part.format(cc=cc, cxx=cxx, flags=flags) for part in command), source, environment)
    program = program_of(one)
    shutil.copy2(source / one.binary, program)
    _run(("strip", "--strip-all", str(program), "-o", f"{program}.stripped"), where, {})
    rows = [json.loads(line) for line in database.read_text().splitlines()]
    listed = where / "compile_commands.json"
    listed.write_text(json.dumps(list({row["file"]: row for row in rows}.values()), indent=1))
    facts = gather_facts(FactsRequest(database=str(listed)), ProjectConfig(), where)
    shutil.copy2(facts, f"{program}.facts")


def same_everywhere(where: Path) -> dict[str, str]:
    """An environment in which makefiles write the same day, machine and git repository into a program."""
    return {"SOURCE_DATE_EPOCH": "1700000000", "HOSTNAME": "here", "GIT_CEILING_DIRECTORIES": str(where)}


def wrapper(path: Path, compiler: str, database: Path) -> Path:
    """A compiler that adds a row to the database, one JSON object a line, for each unit that it compiles.

    It maps paths itself as well: what a program brings of others' code is not always compiled with its flags.
    """
    source = database.parent / "source"
    path.write_text(WRAPPER.format(python=sys.executable, compiler=compiler, database=database, source=source))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _run(command: tuple[str, ...], where: Path, environment: dict[str, str]) -> None:
    with (where / "build.log").open("ab") as log:
        done = subprocess.run(
            command, cwd=where, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    if done.returncode:
        raise LinemateError(f"{' '.join(command)[:80]}: ended with {done.returncode}: see {where}/build.log")
