"""Repositories made for histories: table_cache with one commit that adds a global, and one whose builds are copies."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from linemate.history.options import HistoryOptions
from linemate.history.run import history_of
from sharing.model.history import History

PROGRAM = "testdata/programs/table_cache"
CULPRIT = 7  # of the twelve commits
GUARDED = """#ifdef EXTRA_SYSVAR
// The harmless-looking addition: a global as large as one more variable.
char buf[sizeof(Sys_var)];
#endif
"""
BUILD = (
    "g++ -std=c++17 -O2 -g -fno-rtti -fno-exceptions -pthread -o server "
    "table_share.cc sys_vars.cc table_cache.cc main.cc"
)
# A figure that hangs on the binary and the sources alone: a tenth less with the global in, some tenths of a percent by
# commit, and more at higher levels.
BENCH = """\
level=$1
noise=$(($(cksum < main.cc | cut -d' ' -f1) % 40))
figure=$((100000 - 10 * noise))
if nm server | grep -q ' buf$'; then figure=$((figure * 9 / 10)); fi
echo "ops_per_s $((figure * level))"
"""


@dataclass(frozen=True)
class Repository:
    path: Path

    def git(self, *arguments: str) -> str:
        """One call of git, with a name for the author."""
        command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, cwd=self.path, check=True, capture_output=True, text=True).stdout

    def commit(self, subject: str, **files: str) -> None:
        for name, text in files.items():
            (self.path / name.replace("__", ".")).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)

    def state(self) -> tuple[str, ...]:
        """What a run must leave alone: files, index, branches, worktrees, configuration."""
        listed = sorted(str(p.relative_to(self.path)) for p in self.path.rglob("*") if "objects" not in p.parts)
        asked = (("status", "--short"), ("worktree", "list"), ("for-each-ref",), ("config", "--local", "--list"))
        return (*listed, *(self.git(*question) for question in asked))


def repository_at(path: Path) -> Repository:
    path.mkdir()
    made = Repository(path)
    made.git("init", "--quiet", "--initial-branch=main")
    return made


@pytest.fixture(scope="session")
def program(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """table_cache in twelve commits; the eighth adds 208 bytes to sys_vars.cc, the others change comments."""
    made = repository_at(tmp_path_factory.mktemp("program") / "repository")
    for file in sorted((repository / PROGRAM).glob("*.[ch]*")):
        shutil.copy(file, made.path)
    variables = made.path / "sys_vars.cc"
    assert variables.read_text().count(GUARDED) == 1
    variables.write_text(variables.read_text().replace(GUARDED, ""))
    made.commit("Begin")
    for number in range(1, 12):
        if number == CULPRIT:
            text = variables.read_text()
            place = "static Sys_var Sys_scan_rows("
            assert text.count(place) == 1
            variables.write_text(text.replace(place, f"char buf[sizeof(Sys_var)];\n\n{place}"))
            made.commit("Keep a buffer for names")
        else:
            main = made.path / "main.cc"
            main.write_text(f"{main.read_text()}// Note {number}.\n")
            made.commit(f"Note {number}")
    return made


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A benchmark that prints the same every time."""
    script = tmp_path_factory.mktemp("bench") / "bench.sh"
    script.write_text(BENCH)
    return f"sh {script} {{level}}"


@pytest.fixture
def copies(tmp_path: Path) -> Repository:
    """Six commits whose build is a copy of a program: a build costs nothing.  ``broken`` in the tree makes it fail."""
    made = repository_at(tmp_path / "copies")
    for number in range(6):
        made.commit(f"Note {number}", note=f"{number}\n")
    return made


COPY = 'echo built >> "$BUILDS"; test ! -e broken || { echo "something is broken"; exit 3; }; cp "$PROGRAM" server'


@pytest.fixture(scope="session")
def small_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with two variables side by side."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.c").write_text("int one[4], two[4];\nint main(int n, char **a) { one[n] = two[n]; return 0; }\n")
    subprocess.run(["gcc", "-O1", "-fno-toplevel-reorder", "-o", "small", "small.c"], cwd=folder, check=True)
    return folder / "small"


@pytest.fixture
def cache(tmp_path: Path, small_program: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a file that counts builds."""
    monkeypatch.setenv("PROGRAM", str(small_program))
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    return tmp_path / "cache"


def builds_made() -> int:
    try:
        return len(Path(os.environ["BUILDS"]).read_text().splitlines())
    except FileNotFoundError:
        return 0


@pytest.fixture
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run counts as disturbed: what else runs on the machine of the tests is not their matter."""
    monkeypatch.setattr("linemate.history.bench.background_share", lambda background_s, wall_s: 0.0)


RunHistory = Callable[..., History]


@pytest.fixture
def run_history(tmp_path: Path, cache: Path, quiet_machine: None) -> RunHistory:
    """``run_history(repository, "HEAD~5..HEAD", bench=...)`` with a store and a cache of the test's own."""

    def run(made: Repository, revisions: str, **options: object) -> History:
        chosen: dict[str, object] = {"build": COPY, "binary": "server", "store": str(tmp_path / "store.sqlite")}
        asked = HistoryOptions(
            repo=str(made.path),
            revisions=revisions,
            **(chosen | options),  # type: ignore[arg-type]  # each test names what it asks
        )
        return history_of(asked)

    return run
