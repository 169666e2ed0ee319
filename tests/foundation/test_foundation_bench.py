"""The protocol of the benchmarks: turns, repeats, figures, and what happens where one cannot run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.__main__ import BENCHMARKS
from bench.corpus import unit_source
from bench.database import commands
from bench.facts import heavy_source
from bench.measure import Series, Unavailable, compare, peak_rss_bytes, run, seconds
from bench.report import limit
from bench.scaling import exponent


def contender(name: str, log: list[str], runs: Iterator[tuple[float, bool]]) -> Callable[[], tuple[float, bool]]:
    def measure() -> tuple[float, bool]:
        log.append(name)
        return next(runs)

    return measure


def always(value: float) -> Iterator[tuple[float, bool]]:
    while True:
        yield value, False


def test_contenders_take_turns_in_alternating_order() -> None:
    log: list[str] = []
    compare({"a": contender("a", log, always(1.0)), "b": contender("b", log, always(2.0))}, rounds=3)
    assert log == ["a", "b", "a", "b", "b", "a", "a", "b"]  # the first of each warms up


def test_a_disturbed_round_is_measured_again() -> None:
    log: list[str] = []
    runs = iter([(9.0, False), (1.0, False), (7.0, True), (2.0, False)])
    result = compare({"a": contender("a", log, runs), "b": contender("b", log, always(1.0))}, rounds=2)
    assert result.series["a"].values == [1.0, 2.0]
    assert (result.repeated, result.disturbed) == (1, 0)


def test_a_machine_that_is_never_quiet_ends_and_is_told() -> None:
    def busy() -> Iterator[tuple[float, bool]]:
        while True:
            yield 1.0, True

    result = compare({"a": contender("a", [], busy())}, rounds=4)
    assert (len(result.series["a"].values), result.repeated, result.disturbed) == (4, 4, 4)


def test_ratios_are_taken_round_by_round() -> None:
    runs = iter([(0.0, False), (2.0, False), (30.0, False)])
    base = iter([(0.0, False), (1.0, False), (10.0, False)])
    result = compare({"a": contender("a", [], runs), "b": contender("b", [], base)}, rounds=2)
    assert result.ratios("a", "b") == Series([2.0, 3.0])


@given(st.floats(0.3, 3), st.floats(1e-3, 10), st.sets(st.integers(1, 10_000), min_size=2, max_size=8))
def test_the_exponent_of_a_power_law_is_found(power: float, factor: float, sizes: set[int]) -> None:
    assert exponent([(size, factor * size**power) for size in sizes]) == pytest.approx(power, abs=1e-6)


def test_a_command_that_fails_is_unavailable_with_its_reason() -> None:
    with pytest.raises(Unavailable, match=r"ended with 3: second$"):
        seconds(["sh", "-c", "echo first >&2; echo second >&2; exit 3"])()


def test_accepted_exit_codes_are_measured() -> None:
    assert seconds(["sh", "-c", "exit 1"], accept=frozenset({0, 1}))()[0] > 0


def test_processor_time_of_the_command_is_its_own() -> None:
    done = run([sys.executable, "-c", "x = 0\nfor i in range(3_000_000): x += i"])
    assert 0.05 < done.own_s <= done.wall_s * 1.2 + 0.05


def test_memory_counts_descendants_together() -> None:
    """Two processes with 60 MB each, at the same time, are 120 MB."""
    hold = "import time; x = bytearray(60_000_000); time.sleep(0.4)"
    pair = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {hold!r}]); {hold}; p.wait()"
    assert 120e6 < peak_rss_bytes([sys.executable, "-c", pair]) < 250e6


def test_limits_say_whether_they_held() -> None:
    assert limit(0.9, 1.0, "ratio").endswith("held")
    assert limit(1.1, 1.0, "ratio").endswith("MISSED")


def test_the_generated_unit_is_the_same_every_time_and_compiles(tmp_path: Path) -> None:
    assert unit_source() == unit_source()
    (tmp_path / "unit.c").write_text(unit_source())
    subprocess.run(["gcc", "-fsyntax-only", "-Wall", "-Werror", str(tmp_path / "unit.c")], check=True)


DRY_RUN = """\
make: Entering directory '/src/redis'
cd src && make all
make[1]: Entering directory '/src/redis/src'
printf '%b' CC; cc -O2 -DNAME='"a b"' -c -o one.o one.c
cc -MM one.c two.c > Makefile.dep
cc -O2 -o redis-server one.o two.o
c++ -c two.cpp && true
echo 'unclosed
make[1]: Leaving directory '/src/redis/src'
cc -c three.c
"""


def test_a_dry_run_becomes_a_compile_database() -> None:
    assert commands(DRY_RUN, Path("/src/redis")) == [
        {
            "directory": "/src/redis/src",
            "file": "/src/redis/src/one.c",
            "arguments": ["cc", "-O2", '-DNAME="a b"', "-c", "-o", "one.o", "one.c"],
        },
        {"directory": "/src/redis/src", "file": "/src/redis/src/two.cpp", "arguments": ["c++", "-c", "two.cpp"]},
        {"directory": "/src/redis", "file": "/src/redis/three.c", "arguments": ["cc", "-c", "three.c"]},
    ]


def test_the_heavy_unit_compiles(tmp_path: Path) -> None:
    (tmp_path / "heavy.cpp").write_text(heavy_source())
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", str(tmp_path / "heavy.cpp")], check=True)


def bench(repository: Path, *args: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *args],
        capture_output=True,
        text=True,
        cwd=repository,
        env={"PATH": path} if path is not None else None,
        check=False,
    )


def test_names_are_unique_and_listed(repository: Path) -> None:
    names = [benchmark.name for benchmark in BENCHMARKS]
    assert len(set(names)) == len(names)
    assert [line.split()[0] for line in bench(repository, "--list").stdout.splitlines()] == names


def test_an_unknown_name_is_a_usage_error(repository: Path) -> None:
    done = bench(repository, "tabel_cache")
    assert (done.returncode, "no benchmark called tabel_cache" in done.stderr) == (2, True)


def test_a_missing_tool_is_said_and_fails(repository: Path, tmp_path: Path) -> None:
    done = bench(repository, "table_cache", path=str(tmp_path))
    assert done.returncode == 1
    assert "skipped: no make: install Debian's make" in done.stdout
