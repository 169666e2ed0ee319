"""objdump and pahole: a whole audit against the tools that read as much of the same file.

``objdump -d`` decodes every instruction of mariadbd and prints it; ``pahole`` reads every type of a kernel
with debug information.
"""

from __future__ import annotations

from pathlib import Path

from bench.measure import compare, peak_rss_bytes, seconds
from bench.places import AUDIT_EXITS, audit, mariadbd, tool, vmlinux
from bench.report import conditions, limit, ratio, table

_MEMORY_LIMIT_GB = 1.0


def _against(name: str, peer: list[str], binary: Path, bound: float, rounds: int) -> list[str]:
    command = audit(binary)
    result = compare({"audit": seconds(command, accept=AUDIT_EXITS), name: seconds(peer)}, rounds)
    memory_gb = {"audit": peak_rss_bytes(command) / 1e9, name: peak_rss_bytes(peer) / 1e9}
    return [
        f"  {binary.name}, {binary.stat().st_size / 1e6:.0f} MB",
        *table(result, "s"),
        ratio(result, "audit", name),
        limit(result.ratios("audit", name).median, bound, f"wall time, audit over {name}"),
        f"  peak memory: audit {memory_gb['audit']:.2f} GB, {name} {memory_gb[name]:.2f} GB",
        limit(memory_gb["audit"], _MEMORY_LIMIT_GB, "peak memory of the audit in GB"),
        conditions(result, rounds),
    ]


def measure_objdump(rounds: int) -> list[str]:
    binary = mariadbd()
    return _against("objdump -d", [tool("objdump", "binutils"), "-d", str(binary)], binary, 1.0, rounds)


def measure_pahole(rounds: int) -> list[str]:
    binary = vmlinux()
    peer = [tool("pahole", "dwarves"), "-F", "dwarf", "-j2", str(binary)]
    return _against("pahole -F dwarf -j2", peer, binary, 0.5, max(2, rounds // 2))
