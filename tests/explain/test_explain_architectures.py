"""Builds for processors whose code is not read, of either byte order: what moved is said, nothing is judged."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.traits import read_traits
from linemate.explaining.run import ExplainRequest, explain
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.errors import LinemateError

# The sizes of seed layouts: a variable of 208 bytes in front of a lock and a list head.
SOURCE = """
char in_front[16] __attribute__((section(".hot"), aligned(64))) = {1};
%s
char lock[48] __attribute__((section(".hot"), aligned(32))) = {1};
char unused_tables[8] __attribute__((section(".hot"), aligned(8))) = {1};
int _start(void) { return lock[0]; }
"""
ADDED = 'char added[208] __attribute__((section(".hot"), aligned(32))) = {1};'
TARGETS = [
    ("sparc64-linux-gnu", "sparc64"),
    ("sparc-linux-gnu", "sparc"),
    ("powerpc64-linux-gnu", "ppc64"),
    ("powerpc-linux-gnu", "ppc"),
    ("s390x-linux-gnu", "s390x"),
    ("aarch64_be-linux-gnu", "aarch64"),
]
Build = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    def run(target: str, extra: str) -> Path:
        folder = tmp_path_factory.mktemp("built")
        (folder / "a.c").write_text(SOURCE % extra)
        command = ["clang-19", f"--target={target}", "-O1", "-ffreestanding", "-fno-pic", "-c", "a.c", "-o", "a.o"]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no clang-19 for {target}: {error}")
        return folder / "a.o"

    return run


def compared(old: Path, new: Path) -> Comparison:
    return explain(ExplainRequest(str(old), str(new)))


@pytest.mark.parametrize(("target", "name"), TARGETS)
def test_the_added_variable_and_what_it_moved(build: Build, target: str, name: str) -> None:
    found = compared(build(target, ""), build(target, ADDED))
    assert [t.arch for t in found.targets] == [name, name]
    assert [(c.kind.value, c.name, c.new_size) for c in found.changes] == [("added", "added", 208)]
    shifts = {run.first: run.shift for run in found.runs}
    assert shifts == {"lock": 0xE0}  # 208 bytes, and what aligns the lock to 32
    assert all(c.confidence.value == "layout" for c in found.causes)


@pytest.mark.parametrize(("target", "name"), TARGETS)
def test_without_code_that_is_read_nothing_is_ruled_out_by_it(build: Build, target: str, name: str) -> None:
    found = compared(build(target, ""), build(target, ADDED))
    assert CauseKind.CODE not in {r.kind for r in found.ruled_out}
    assert any(note.startswith("old and new: accesses are not known") for note in found.coverage.notes)


def test_the_same_source_for_two_processors_is_refused(build: Build) -> None:
    with pytest.raises(LinemateError, match=r"sparc64 .* ppc64: their layouts cannot be compared"):
        compared(build("sparc64-linux-gnu", ""), build("powerpc64-linux-gnu", ""))


@pytest.mark.parametrize("target", ["sparc64-linux-gnu", "powerpc-linux-gnu"])
def test_traits_are_read_in_the_byte_order_of_the_file(build: Build, target: str) -> None:
    assert any("clang" in comment for comment in read_traits(str(build(target, ""))).comments)
