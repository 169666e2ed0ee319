"""A folder in which the commands of the documentation can run: a project with its builds, recordings and history.

Owns the names that the pages use (``server``, ``BINARY``, ``build``, ``p.data`` ...) and what stands behind them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.served import own_environment, served

FINDING = re.compile(r"\bID\b|\bhot-lock-[a-z-]+-[0-9a-f]{10,16}\b")

# What a benchmark prints.
BENCH = "#!/bin/sh\nset -e\n[ -x ./server ]\necho qps 100.5\necho ops_per_s 100.5\n"

REPORT = """\
the difference:
64 threads, time spent: 60s, queries executed: 9326530, qps: 155442, 1 thread qps: 2428
vs
64 threads, time spent: 60s, queries executed: 9879031, qps: 164650, 1 thread qps: 2572
(fast)
LOCK_open: 0x1074120, size= 48
unused_tables: 0x1074150, size= 8
(slow)
LOCK_open: 0x1074200, size= 48
unused_tables: 0x1074230, size= 8
"""
MEASURED = "revision,qps\n" + "".join(f"r{at},{100 + at % 3 if at < 9 else 70 + at % 3}\n" for at in range(18))


@dataclass(frozen=True, slots=True)
class Call:
    """A command that ran: its arguments and exit code."""

    arguments: list[str]
    code: int


@dataclass(frozen=True, slots=True)
class World:
    """``top`` is the project's working tree, ``finding`` the id of its finding, ``serving`` where the tool is."""

    top: Path
    finding: str
    serving: Path
    environment: dict[str, str]

    def run(self, script: str) -> tuple[int, str, list[Call]]:
        """Run a script at the top: its exit code, all output, and the calls of linemate; then the tree is as before."""
        log = self.serving / "calls"
        log.write_text("")
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.top,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
        )
        calls = [Call(row["arguments"], row["code"]) for row in map(json.loads, log.read_text().splitlines())]
        for command in (["checkout", "--quiet", "--", "."], ["clean", "--quiet", "-fd"]):
            subprocess.run(["git", *command], cwd=self.top, env=self.environment, check=True)
        return done.returncode, done.stdout, calls


@pytest.fixture(scope="module")
def world(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The project, and linemate on the PATH."""
    base = tmp_path_factory.mktemp("documented")
    serving = base / "bin"
    environment = {**own_environment(base, serving), "base": "v1.0"}  # the revision that a recipe has found before
    top = base / "project"
    with served(serving, repository):
        _make(repository, top, base, environment)
        (top / "scripts").mkdir()
        (top / "scripts/linemate").symlink_to(serving / "linemate")
        shown = subprocess.run(
            ["linemate", "audit", "server", "-o", "out.json"], cwd=top, env=environment, capture_output=True, text=True
        )
        assert shown.returncode == 1, shown.stderr
        found = json.loads((top / "out.json").read_text())["findings"]
        (top / "out.json").unlink()
        yield World(top, found[0]["id"], serving, environment)


def _make(repository: Path, top: Path, base: Path, environment: dict[str, str]) -> None:
    """Two revisions, v1.0 without and HEAD with the variable that moves the lock, and builds of both."""

    def do(*command: str) -> None:
        subprocess.run(command, cwd=top, env=environment, check=True, capture_output=True, text=True, timeout=100)

    shutil.copytree(repository / "testdata/programs/cache_server", top)
    for name in ("bench", "bench.sh", "run"):
        (top / name).write_text(BENCH)
        (top / name).chmod(0o755)
    (top / "fixes").mkdir()
    (top / "fixes/README").write_text("for clang-apply-replacements\n")
    ignored = "*.data *.gc* counts* *.cut *.txt *.csv *.json *.jsonl *.o mysql drizzle a.out "
    ignored += "build made server fast slow tc scripts BINARY OLD NEW FILE"
    (top / ".gitignore").write_text("\n".join(["!CMakeLists.txt", *ignored.split()]) + "\n")
    do("git", "init", "--quiet")
    do("git", "add", "-f", ".")
    do("git", "commit", "--quiet", "-m", "One lock, one list")
    do("git", "tag", "v1.0")
    do("git", "clone", "--quiet", "--bare", ".", str(base / "origin.git"))
    do("git", "remote", "add", "origin", str(base / "origin.git"))
    do("git", "fetch", "--quiet", "origin")
    do("make", "-s")
    shutil.move(top / "server", top / "fast")
    settings = top / "src/settings.c"
    text = settings.read_text()
    settings.write_text(text.replace("#ifdef EXTRA_SETTING\n", "").replace("#endif\n", ""))
    do("git", "commit", "--quiet", "-am", "Add a banner")
    do("cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    do("cmake", "--build", "build")
    shutil.copy(top / "build/server", top / "server")
    for name in ("slow", "BINARY", "NEW"):
        (top / name).symlink_to("server")
    (top / "OLD").symlink_to("fast")
    (top / "tc").mkdir()
    for name in ("fast", "slow"):
        (top / "tc" / name).symlink_to(f"../{name}")
    whole = (top / "server").read_bytes()
    (top / "server.cut").write_bytes(whole[: len(whole) * 3 // 4])
    listing = subprocess.run(["nm", "server"], cwd=top, check=True, capture_output=True, text=True).stdout
    starts = {row.split()[2]: row.split()[0] for row in listing.splitlines() if row.split()[-2] == "T"}
    samples = [f"0x{starts[s]},{s},{4 + at % 2},{at * 1000}" for at in range(400) for s in ("cache_take", "cache_put")]
    (top / "p.data").write_text("\n".join(["ip,symbol,tid,time", *samples]) + "\n")
    (top / "results.csv").write_text(MEASURED)
    cases = repository / "tests/explain/data"
    shutil.copy(cases / "oprofile_three_builds.txt", top / "oprofile.txt")
    shutil.copy(cases / "two_machines.txt", top / "table.txt")
    (top / "report.txt").write_text(REPORT + (cases / "oprofile_three_builds.txt").read_text())
    for name, build in (("mysql", "fast"), ("drizzle", "slow")):
        (top / name).symlink_to(build)
    units = ("settings", "cache", "main")
    for name in units:
        do("gcc", "--coverage", "-O0", "-g", "-c", "-o", f"{name}.o", f"src/{name}.c")
    do("gcc", "--coverage", "-pthread", *(f"{name}.o" for name in units))
    do("./a.out")
