"""profiles: reading five million samples against perf script printing the same fields."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.measure import compare, peak_rss_bytes, seconds
from bench.places import WORK, tool
from bench.profile_files import KINDS, write
from bench.report import conditions, limit, ratio, table

SAMPLES = 5_000_000
_SHARE_LIMIT = 1 / 15
_MEMORY_LIMIT_GB = 0.6
# Without -I: the working folder is the checkout, and the command only reads.
_READ = "import sys; from pmu import read_samples; read_samples(sys.argv[1])"


def measure(rounds: int) -> list[str]:
    perf = tool("perf", "linux-perf")
    folder = WORK / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for kind in KINDS:
        path = folder / f"{kind.name}-{SAMPLES}.data"
        if not path.exists():
            part = Path(f"{path}.part")
            write(part, kind, SAMPLES)
            part.rename(path)
        reader = [sys.executable, "-c", _READ, str(path)]
        script = [perf, "script", "--ns", "-i", str(path), "-F", kind.script_fields]
        result = compare({"reader": seconds(reader), "perf script": seconds(script)}, max(1, rounds // 2))
        memory_gb = peak_rss_bytes(reader) / 1e9
        lines += [
            f"  {kind.name}: {SAMPLES} samples, {path.stat().st_size / 1e6:.0f} MB",
            *table(result, "s"),
            f"  {SAMPLES / result.series['reader'].median / 1e6:.1f} million samples/s",
            ratio(result, "perf script", "reader"),
            limit(result.ratios("reader", "perf script").median, _SHARE_LIMIT, "wall time, reader over perf script", 3),
            limit(memory_gb, _MEMORY_LIMIT_GB, "peak memory of the reader in GB"),
            conditions(result, max(1, rounds // 2)),
        ]
    return lines
