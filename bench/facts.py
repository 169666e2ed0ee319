"""Facts from source against Clang that only checks the same units: time, memory, and a second run from the cache.

``clang -fsyntax-only`` reads as much and reports nothing: what the tool spends beyond reading shows in the ratio.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from bench.database import redis
from bench.measure import Unavailable, compare, peak_rss_bytes, seconds
from bench.places import REPOSITORY, WORK, tool
from bench.report import conditions, limit, ratio, table

_REDIS_BOUND, _MEMORY_LIMIT_MB, _CACHED_BOUND, _HEAVY_BOUND = 0.4, 600.0, 0.05, 0.7
_HEADERS = """
algorithm any array atomic bitset charconv chrono complex condition_variable deque exception filesystem forward_list
fstream functional future initializer_list iomanip iostream iterator limits list locale map memory mutex numeric
optional ostream queue random ratio regex scoped_allocator set shared_mutex sstream stack stdexcept string string_view
system_error thread tuple type_traits typeindex unordered_map unordered_set utility valarray variant vector
"""


def heavy_source() -> str:
    """A small C++ unit that includes most of the standard library."""
    return "\n".join(
        [
            *(f"#include <{name}>" for name in _HEADERS.split()),
            "static std::mutex lock;",
            "static std::map<std::string, std::vector<int>> table;",
            "static std::atomic<long> hits;",
            "void put(const std::string &key, int value) {",
            "  std::lock_guard<std::mutex> guard(lock);",
            "  table[key].push_back(value);",
            "  hits.fetch_add(1, std::memory_order_relaxed);",
            "}",
            "int main() { std::thread worker(put, std::string(), 1); worker.join(); return (int)hits; }",
            "",
        ]
    )


def _facts() -> list[str]:
    folders = [os.environ.get("LINEMATE_NATIVE_DIR", ""), str(REPOSITORY / "build" / "release" / "bin")]
    found = next((str(Path(f, "linemate-facts")) for f in folders if f and Path(f, "linemate-facts").is_file()), None)
    if found is None:
        raise Unavailable("no linemate-facts: run scripts/linemate once")
    return [found, "--knowledge", str(REPOSITORY / "sharing" / "knowledge")]


def _clang(name: str) -> str:
    found = shutil.which(f"{name}-19") or shutil.which(name)
    return found if found else tool(f"{name}-19", "clang-19")


def _syntax_only(database: Path, jobs: int, folder: Path) -> list[str]:
    """One command that checks every unit of a database, ``jobs`` at once."""
    clang = _clang("clang")
    lines = []
    for entry in json.loads(database.read_text()):
        words = [w for w in entry["arguments"][1:] if w not in ("-c", "-MMD", "-MD")]
        while "-o" in words:
            at = words.index("-o")
            del words[at : at + 2]
        check = [clang, "-w", "-Wno-unknown-warning-option", "-Qunused-arguments", "-fsyntax-only", *words]
        lines.append(f"cd {shlex.quote(entry['directory'])} && exec {shlex.join(check)}")
    listing = folder / "syntax-only"
    listing.write_text("\n".join(lines) + "\n")
    return ["xargs", "-a", str(listing), "-d", "\\n", "-P", str(jobs), "-n", "1", "sh", "-c", 'eval "$0"']


def measure_redis(rounds: int) -> list[str]:
    """Redis: every unit, with as many jobs as processors."""
    tool("xargs", "findutils")
    database = redis()
    jobs = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as scratch:
        command = [*_facts(), "-p", str(database), "-j", str(jobs)]
        peer = _syntax_only(database, jobs, Path(scratch))
        result = compare({"facts": seconds(command), "clang -fsyntax-only": seconds(peer)}, rounds)
        memory_mb = peak_rss_bytes(command) / 1e6
        cached = [*command, "--cache", str(Path(scratch, "cache"))]
        fresh = compare({"facts": seconds(command), "facts, cached": seconds(cached)}, rounds)
    return [
        f"  Redis, {len(json.loads(database.read_text()))} units, {jobs} jobs",
        *table(result, "s"),
        ratio(result, "facts", "clang -fsyntax-only"),
        limit(result.ratios("facts", "clang -fsyntax-only").median, _REDIS_BOUND, "wall time, facts over clang"),
        limit(memory_mb, _MEMORY_LIMIT_MB, "peak memory of all processes in MB", 0),
        *table(fresh, "s"),
        limit(fresh.ratios("facts, cached", "facts").median, _CACHED_BOUND, "wall time, cached over fresh", 3),
        conditions(result, rounds),
    ]


def measure_heavy(rounds: int) -> list[str]:
    """One C++ unit with most of the standard headers."""
    clang = _clang("clang++")
    WORK.mkdir(parents=True, exist_ok=True)
    source = WORK / "heavy.cpp"
    source.write_text(heavy_source())
    command = [*_facts(), str(source), "--", "-std=c++17"]
    peer = [clang, "-std=c++17", "-fsyntax-only", str(source)]
    result = compare({"facts": seconds(command), "clang++ -fsyntax-only": seconds(peer)}, rounds)
    return [
        f"  a unit with {len(_HEADERS.split())} standard headers",
        *table(result, "s"),
        ratio(result, "facts", "clang++ -fsyntax-only"),
        limit(result.ratios("facts", "clang++ -fsyntax-only").median, _HEAVY_BOUND, "wall time, facts over clang"),
        conditions(result, rounds),
    ]
