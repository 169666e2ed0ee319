"""What shared use costs, by how often it happens: the numbers, and the rates that follow from them.

Owns every number that turns executions into severity.  A use of a line that another thread has written since misses:
the line then comes from the other core.  Of ``r`` uses per million instructions that all miss, a thread loses the share

    r * TRANSFER_NS / (1,000,000 * INSTRUCTION_NS)

of its time.  That is the most that these uses can cost: how many of them miss depends on who runs when, which counts do
not show.
"""

from __future__ import annotations

from sharing.rules.numbers import LOW_FROM

# One line from another core of the same socket, in ns.  Tools that measure latency between cores show 50 to 100 on
# server processors of the last ten years, and two to three times that between sockets.
TRANSFER_NS = 70.0
# One instruction of a server program, in ns: one a cycle at 3.3 GHz.  Servers run at 0.5 to 2 instructions a cycle.
INSTRUCTION_NS = 0.3
PER_MILLION = 1e6

# Uses per million instructions from which a side of a pair is busy: together they may then cost LOW_FROM of the time.
BUSY_RATE = LOW_FROM * PER_MILLION * INSTRUCTION_NS / TRANSFER_NS
# A pair that met less often says nothing of how often it does so.
MIN_TRANSFERS = 100
# Of the run's time: what threads that hardly ran may cost each other is no more than a note.
NEGLIGIBLE = 0.001
# A thread whose uses of something are a hundredth of that takes no part in sharing it.
FAINT_RATE = BUSY_RATE / 100


def share_of_time(transfers: float, instructions: float) -> float:
    """The largest share of the time of so many instructions that so many misses can take."""
    work = instructions * INSTRUCTION_NS
    stalled = transfers * TRANSFER_NS
    return stalled / (work + stalled) if work + stalled else 0.0
