"""What shared use costs, by how often it happens: the rates that follow from the numbers.

Owns how executions become a share of time.  A use of a line that another thread has written since misses:
the line then comes from the other core.  Of ``r`` uses per million instructions that all miss, a thread loses the share

    r * TRANSFER_NS / (1,000,000 * INSTRUCTION_NS)

of its time.  That is the most that these uses can cost: how many of them miss depends on who runs when, which counts do
not show.
"""

from __future__ import annotations

from sharing.basics import numbers

PER_MILLION = 1e6


def busy_rate() -> float:
    """Uses per million instructions from which a side of a pair is busy: together they may then cost LOW_FROM."""
    return numbers.LOW_FROM * PER_MILLION * numbers.INSTRUCTION_NS / numbers.TRANSFER_NS


def share_of_time(transfers: float, instructions: float) -> float:
    """The largest share of the time of so many instructions that so many misses can take."""
    work = instructions * numbers.INSTRUCTION_NS
    stalled = transfers * numbers.TRANSFER_NS
    return stalled / (work + stalled) if work + stalled else 0.0
