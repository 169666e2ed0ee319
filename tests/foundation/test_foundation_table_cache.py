"""The table_cache program: its three builds have the layouts that the rest of the tests rely on."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

LINE = 64
PROGRAM = "testdata/programs/table_cache"
REFUSED = ["threads=0", "threads=65", "unknown=1", "scan_rows=x", "seconds", "table_count=0"]
Layout = dict[str, tuple[int, int]]  # name → address, size in bytes
Build = Callable[..., Path]


@pytest.fixture(scope="module")
def build(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Builds all three with a compiler and flags; returns their folder."""
    made: dict[tuple[str, str], Path] = {}

    def run(compiler: str = "g++", flags: str = "-O2 -g") -> Path:
        if (compiler, flags) not in made:
            missing = [tool for tool in (compiler, "make", "nm") if not shutil.which(tool)]
            if missing:
                pytest.skip(f"no {', '.join(missing)}")
            out = tmp_path_factory.mktemp("table_cache")
            variables = [f"OUT={out}", f"CXX={compiler}", f"CXXFLAGS={flags} -Wall -Wextra -Werror"]
            subprocess.run(["make", "-s", "-j2", "-C", str(repository / PROGRAM), *variables], check=True)
            made[compiler, flags] = out
        return made[compiler, flags]

    return run


def layout(program: Path) -> Layout:
    lines = subprocess.run(["nm", "-nS", str(program)], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}


def lines_of(address: int, size: int) -> set[int]:
    return set(range(address // LINE, (address + size - 1) // LINE + 1))


def test_slow_has_lock_and_list_head_on_one_line(build: Build) -> None:
    found = layout(build() / "slow")
    lock, list_head = found["LOCK_open"], found["unused_tables"]
    assert (lock[0] % LINE, lock[1]) == (0, 48)
    assert list_head == (lock[0] + 48, 8)


def test_fast_shares_only_the_static_tail_of_the_lock(build: Build) -> None:
    found = layout(build() / "fast")
    lock, list_head = found["LOCK_open"], found["unused_tables"]
    assert (lock[0] % LINE, lock[1]) == (0x20, 48)
    assert list_head == (lock[0] + 48, 8)
    # A lock is hot in its first 32 bytes at most; the rest are a list that only robust mutexes use, and m_psi.
    assert lines_of(lock[0], 32).isdisjoint(lines_of(*list_head))


def test_padded_gives_each_a_line_of_its_own(build: Build) -> None:
    found = layout(build() / "padded")
    for name in ("LOCK_open", "unused_tables"):
        mates = {other for other, place in found.items() if lines_of(*place) & lines_of(*found[name])}
        assert mates == {name}


def test_the_added_global_moves_both_by_the_distance_of_the_regression(build: Build) -> None:
    slow, fast = layout(build() / "slow"), layout(build() / "fast")
    assert set(slow) - set(fast) == {"buf"}
    assert slow["buf"][1] == 208
    assert slow["LOCK_open"][0] - fast["LOCK_open"][0] == 0xE0
    assert slow["unused_tables"][0] - fast["unused_tables"][0] == 0xE0


def test_nothing_but_the_pair_is_on_the_line_of_the_list_head(build: Build) -> None:
    """So that a finding about another pair on it is a false one."""
    for name in ("slow", "fast"):
        found = layout(build() / name)
        mates = {other for other, place in found.items() if lines_of(*place) & lines_of(*found["unused_tables"])}
        assert mates == {"LOCK_open", "unused_tables"}


@pytest.mark.parametrize(("compiler", "flags"), [("g++", "-O0 -g"), ("clang++-19", "-O2 -g")])
def test_in_order_compilers_put_the_list_head_first(build: Build, compiler: str, flags: str) -> None:
    """Same source, other line mates: these emit a unit's variables in order of definition."""
    found = layout(build(compiler, flags) / "slow")
    assert found["unused_tables"][0] < found["LOCK_open"][0]


def test_stripping_moves_nothing(build: Build, tmp_path: Path) -> None:
    program = build() / "slow"
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", str(stripped), str(program)], check=True)

    def sections(path: Path) -> list[str]:
        text = subprocess.run(["readelf", "-lW", str(path)], capture_output=True, text=True, check=True).stdout
        return [line for line in text.splitlines() if line.lstrip().startswith("LOAD")]

    assert sections(stripped) == sections(program)
    assert subprocess.run([str(stripped), "seconds=0.02"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["slow", "fast", "padded"])
def test_it_counts_operations(build: Build, name: str) -> None:
    done = subprocess.run(
        [str(build() / name), "seconds=0.05", "threads=2"], capture_output=True, text=True, check=True
    )
    figures = dict(line.split() for line in done.stdout.splitlines())
    assert int(figures["ops_per_s"]) > 1000


@pytest.mark.parametrize("argument", REFUSED)
def test_it_refuses_what_it_does_not_understand(build: Build, argument: str) -> None:
    done = subprocess.run([str(build() / "fast"), argument], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, f"table_cache: not understood: {argument}\n")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: threads do not run at the same time")
def test_it_has_no_data_race(build: Build) -> None:
    command = [str(build("g++", "-O1 -g -fsanitize=thread") / "slow"), "seconds=0.2", "table_cache_size=2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not run under this kernel's address layout")
    assert (done.returncode, done.stderr) == (0, "")
