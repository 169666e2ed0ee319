"""The recipes of docs/gates.md for build systems, taken from the page: a build that fails where lines are shared."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.documented.commands import blocks_of
from tests.gates.conftest import Forge

RULE = "hot-lock-shares-line"
MESON = """\
project('cache_server', 'c', default_options: ['buildtype=debugoptimized'])
server = executable('server', 'src/settings.c', 'src/cache.c', 'src/main.c',
  dependencies: dependency('threads'))
"""


def recipe(repository: Path, language: str) -> str:
    (block,) = [b for b in blocks_of(repository / "docs/gates.md", repository) if b.language == language]
    return "\n".join(block.lines) + "\n"


@pytest.fixture
def tree(forge: Forge, tmp_path: Path) -> Forge:
    """The sources without the variable that moves the lock, in a folder of their own."""
    forge.ok("git", "checkout", "--quiet", "--force", "main")
    shutil.copytree(forge.top / "src", tmp_path / "tree/src")
    for name in ("CMakeLists.txt", "Makefile"):
        shutil.copy(forge.top / name, tmp_path / "tree")
    return Forge(tmp_path / "tree", forge.environment)


def move_the_lock(tree: Forge) -> None:
    with (tree.top / "src/settings.c").open("a") as settings:
        settings.write("char banner[32] = {1};\n")


def test_cmake(tree: Forge, repository: Path) -> None:
    with (tree.top / "CMakeLists.txt").open("a") as lists:
        lists.write(recipe(repository, "cmake"))
    package = f"-Dlinemate_DIR={repository}/packaging/cmake"
    tree.ok("cmake", "-S", ".", "-B", "build", "-G", "Ninja", package)
    tree.ok("cmake", "--build", "build", "--target", "linemate-check")
    move_the_lock(tree)
    done = tree.run("cmake", "--build", "build")
    assert done.returncode != 0
    assert RULE in done.stdout
    again = tree.run("cmake", "--build", "build")
    assert (again.returncode != 0, RULE in again.stdout) == (True, True), "what failed once is not taken for built"


def test_cmake_with_options(tree: Forge, repository: Path) -> None:
    """A limit that nothing reaches, and a word too many."""
    move_the_lock(tree)
    lists = tree.top / "CMakeLists.txt"
    before = lists.read_text() + "find_package(linemate REQUIRED)\n"
    package = f"-Dlinemate_DIR={repository}/packaging/cmake"
    lists.write_text(before + "linemate_audit(server FAIL_ON critical OPTIONS --symbol LOCK_open)\n")
    tree.ok("cmake", "-S", ".", "-B", "build", "-G", "Ninja", package)
    assert RULE in tree.ok("cmake", "--build", "build")
    lists.write_text(before + "linemate_check(server LINKED TWICE)\n")
    done = tree.run("cmake", "-S", ".", "-B", "build")
    assert (done.returncode, "linemate_check: not understood: TWICE" in done.stderr) == (1, True)


def test_meson(tree: Forge, repository: Path) -> None:
    meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
    (tree.top / "meson.build").write_text(MESON + recipe(repository, "meson"))
    tree.ok(*meson, "setup", "build")
    tree.ok("ninja", "-C", "build")
    tree.ok("ninja", "-C", "build", "linemate-check")
    move_the_lock(tree)
    done = tree.run("ninja", "-C", "build")
    assert (done.returncode != 0, RULE in done.stdout) == (True, True)


def test_make(tree: Forge, repository: Path) -> None:
    makefile = tree.top / "Makefile"
    link = "\t$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^\n"
    assert link in makefile.read_text()
    makefile.write_text(makefile.read_text().replace(link, link + recipe(repository, "make")))
    tree.ok("make", "-s")
    move_the_lock(tree)
    done = tree.run("make")
    assert (done.returncode != 0, RULE in done.stdout) == (True, True)
    assert not (tree.top / "server").exists()
