"""table_cache: what the false sharing of the fixture costs, slow : fast : padded."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.measure import Unavailable, compare, run
from bench.places import REPOSITORY, WORK, tool
from bench.report import conditions, table

LAYOUTS = ("slow", "fast", "padded")
_THREADS = 2


def measure(rounds: int) -> list[str]:
    make, _ = tool("make", "make"), tool("g++", "g++")
    out = WORK / "table_cache"
    source = REPOSITORY / "testdata/programs/table_cache"
    built = subprocess.run(
        [make, "-s", "-C", str(source), f"OUT={out}", "CXX=g++"], capture_output=True, text=True, check=False
    )
    if built.returncode:
        raise Unavailable(f"table_cache does not build: {built.stderr.strip().splitlines()[-1:]}")
    result = compare({name: _operations(out / name) for name in LAYOUTS}, rounds)
    medians = [result.series[name].median for name in LAYOUTS]
    ratios = " : ".join(f"{median / medians[0]:.2f}" for median in medians)
    fast, padded = (result.ratios(name, "slow") for name in LAYOUTS[1:])
    return [
        *table(result, "M statements/s", 1e-6, 2),
        f"  {' : '.join(LAYOUTS)} = {ratios}",
        f"  by round: fast/slow {fast.spread[0]:.2f}–{fast.spread[1]:.2f},"
        f" padded/slow {padded.spread[0]:.2f}–{padded.spread[1]:.2f}",
        conditions(result, rounds),
    ]


def _operations(program: Path) -> Callable[[], tuple[float, bool]]:
    def measure_once() -> tuple[float, bool]:
        done = run([str(program), f"threads={_THREADS}", "seconds=0.5"], keep_output=True)
        if done.returncode:
            raise Unavailable(f"{program.name} ended with {done.returncode}")
        return float(dict(line.split() for line in done.stdout.splitlines())["ops_per_s"]), done.disturbed

    return measure_once
