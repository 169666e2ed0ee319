"""How long a cache line takes from one processor to another at this moment.

Owns running ``linemate-transfer`` and which pairs of processors are tried.  What it means for a gain is
``sharing.sampled.speedup``'s.

On a virtual machine it changes while programs run: the host moves processors, at one time to cores with a common cache,
at another to cores without.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Sequence

from pmu.workload import raise_priority
from sharing.model.native import native_file
from sharing.model.process import children

TOOL = "linemate-transfer"
MOST_OTHERS = 3  # processors that are tried with the first: each takes some milliseconds
_WAIT_S = 5.0


def transfer_ns(processors: Sequence[int]) -> float:
    """Nanoseconds one way, the median of a few pairs; 0 where it is not known, or there is only one processor."""
    tool = native_file(TOOL)
    if tool is None or len(processors) < 2:
        return 0.0
    others = list(processors)[1:]
    line = [str(tool), str(processors[0]), *map(str, others[:: -(-len(others) // MOST_OTHERS)])]
    streams = children.Streams(stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process = children.start(line, streams, bond=children.WhenKilled.ALONE, group=True, before_exec=raise_priority)
    except OSError:
        return 0.0
    try:
        said, _ = process.communicate(timeout=_WAIT_S)
    except subprocess.TimeoutExpired:
        return 0.0
    finally:
        children.end(process)
    return statistics.median([float(word) for word in said.split() if word != b"-"] or [0.0])
