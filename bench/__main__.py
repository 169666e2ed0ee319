"""Entry of scripts/bench: which benchmarks there are, and running them one after the other.

Exit code 0: every benchmark asked for ran; 1: some did not, or a limit was missed under --check; 2: usage.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass

from bench import facts, gain, heapcost, many, pages, peers, profiles, scaling, starts, steps, table_cache, trees
from bench.measure import Unavailable


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark: ``measure`` takes the number of rounds and returns the lines to print."""

    name: str
    about: str
    measure: Callable[[int], list[str]]


BENCHMARKS = (
    Benchmark("table_cache", "statements/s of the fixture's three layouts", table_cache.measure),
    Benchmark("gain", "predicted gain of separating data against the measured one", gain.measure),
    Benchmark("objdump", "audit of mariadbd against objdump -d", peers.measure_objdump),
    Benchmark("pahole", "audit of vmlinux against pahole -F dwarf -j2", peers.measure_pahole),
    Benchmark("facts", "facts of Redis against clang -fsyntax-only, and from the cache", facts.measure_redis),
    Benchmark("heavy", "facts of a heavy C++ unit against clang++ -fsyntax-only", facts.measure_heavy),
    Benchmark("heap", "what noting allocations costs, by how often a program allocates", heapcost.measure),
    Benchmark("profiles", "reading five million samples against perf script", profiles.measure),
    Benchmark("startup", "linemate --version", starts.measure_startup),
    Benchmark("scaling", "audit time over file size, 1 to 600 MB", scaling.measure),
    Benchmark("members", "audit of an archive of 10,000 members against nm", many.measure_members),
    Benchmark("tree", "audit of sixty small files, processor time against objdump -d", trees.measure),
    Benchmark("symbols", "lines of one of two million symbols against the audit and nm", many.measure_symbols),
    Benchmark("page", "opening and scrolling a page of 100,000 variables in Chromium", pages.measure),
    Benchmark("steps", "steps in simulated series against PELT and E-divisive", steps.measure),
    Benchmark("launcher", "what scripts/linemate adds to a start", starts.measure_launcher),
)


def main() -> int:
    """Run the benchmarks named on the command line, or all."""
    by_name = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(by_name)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="measured turns of each contender (default: 5)")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is missed")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and stop")
    options = parser.parse_args()
    if options.list:
        for benchmark in BENCHMARKS:
            print(f"{benchmark.name:<12} {benchmark.about}")
        return 0
    unknown = [name for name in options.names if name not in by_name]
    # The table of gains is also made of the rounds that a file holds.
    least = 0 if options.names == ["gain"] else 1
    if unknown or options.rounds < least:
        parser.error(f"no benchmark called {', '.join(unknown)}" if unknown else f"--rounds has to be {least} or more")

    print(f"{os.cpu_count()} processors, Python {platform.python_version()}, Linux {platform.release()}")
    failed = missed = False
    for name in options.names or by_name:
        print(f"{name}: {by_name[name].about}", flush=True)
        try:
            lines = by_name[name].measure(options.rounds)
        except Unavailable as reason:
            print(f"  skipped: {reason}", flush=True)
            failed = True
            continue
        missed |= any("MISSED" in line for line in lines)
        print("\n".join(lines), flush=True)
    return 1 if failed or (missed and options.check) else 0


if __name__ == "__main__":
    sys.exit(main())
