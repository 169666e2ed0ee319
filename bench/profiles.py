"""profiles: five million samples, read and judged, against perf script printing the same fields and names.

Processor time decides: the machine may have others to serve.  LINEMATE_PROFILES names kinds of recordings, all
without it.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

from bench.measure import Unavailable, compare, peak_rss_bytes, processor_seconds
from bench.places import AUDIT_EXITS, WORK, linemate, tool
from bench.profile_code import code
from bench.profile_files import KINDS, write
from bench.report import conditions, limit, ratio, table

SAMPLES = 5_000_000
_SHARE_LIMIT = 1 / 10
_MEMORY_LIMIT_GB = 1.0
# Without -I: the working folder is the checkout, and the command only reads.
_READ = "import sys; from pmu import read_samples; read_samples(sys.argv[1])"


def measure(rounds: int) -> list[str]:
    """The reader alone, which decodes every sample, and the whole audit take turns with perf script."""
    perf = tool("perf", "linux-perf")
    folder = WORK / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    names = os.environ.get("LINEMATE_PROFILES", "").split() or [kind.name for kind in KINDS]
    if unknown := set(names) - {kind.name for kind in KINDS}:
        raise Unavailable(f"no kind is called {', '.join(sorted(unknown))}")
    of = code()
    rounds = max(1, rounds // 4)  # perf script takes half a minute
    lines = []
    for kind in (one for one in KINDS if one.name in names):
        # The name says of what: another build of the program has its instructions elsewhere.
        path = folder / f"{kind.name}-{SAMPLES}-{of.digest}.data"
        if not path.exists():
            part = Path(f"{path}.part")
            write(part, kind, SAMPLES, of)
            part.rename(path)
        reader = [sys.executable, "-c", _READ, str(path)]
        audit = linemate("audit", str(of.program), "--samples", str(path))
        # Without the frames of call chains, which nobody here reads: with them perf takes many times as long.
        script = [perf, "script", "-G", "--ns", "-i", str(path), "-F", kind.script_fields]
        walls: dict[str, list[float]] = {"reader": [], "audit": [], "perf script": []}
        contenders = {
            "reader": processor_seconds(reader, wall_s=walls["reader"]),
            "audit": processor_seconds(audit, accept=AUDIT_EXITS, wall_s=walls["audit"]),
            "perf script": processor_seconds(script, wall_s=walls["perf script"]),
        }
        result = compare(contenders, rounds)
        memory_gb = {"reader": peak_rss_bytes(reader) / 1e9, "audit": peak_rss_bytes(audit) / 1e9}
        lines += [
            f"  {kind.name}: {SAMPLES} samples, {path.stat().st_size / 1e6:.0f} MB",
            *table(result, "processor s"),
        ]
        lines.append(
            f"  {SAMPLES / result.series['reader'].median / 1e6:.1f} million samples read in a processor's second"
        )
        # The first turn of each filled the page cache.
        elapsed = ", ".join(f"{name} {statistics.median(wall_s[1:]):.1f}" for name, wall_s in walls.items())
        lines.append(f"  wall time in s: {elapsed}")
        for name, gb in memory_gb.items():
            share = result.ratios(name, "perf script").median
            lines.append(ratio(result, "perf script", name))
            lines.append(limit(share, _SHARE_LIMIT, f"processor time, {name} over perf script", 3))
            lines.append(limit(gb, _MEMORY_LIMIT_GB, f"peak memory of the {name} in GB"))
        lines.append(conditions(result, rounds))
    return lines
