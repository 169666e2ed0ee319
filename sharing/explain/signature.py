"""What the machine did while it was slow: whether processors were busy with lines, or idle with threads asleep.

Owns the reading of system-wide figures (vmstat's columns) as evidence for or against contended cache lines.  A core
that waits for a line is busy as far as the kernel can tell; a sleeping thread leaves its core idle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sharing.explain import numbers
from sharing.explain.tables.base import Measurement


class Reading(StrEnum):
    AGAINST_BOUNCING = "against contended cache lines"
    LIKE_BOUNCING = "as with contended cache lines"
    CONTENDED = "as with contended locks"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Signature:
    reading: Reading
    why: str


def read_signature(fast: Mapping[str, float], slow: Mapping[str, float]) -> Signature:
    """From vmstat's ``id`` (percent), ``in`` and ``cs`` (per second) of a fast and a slow run.

    Threads that wait for a line keep their cores: idle time stays low, and what interrupts and switches them goes on.
    Where processors fall idle and interrupts and context switches collapse together, threads are asleep.
    """
    missing = [name for name in ("id", "in", "cs") if name not in fast or name not in slow]
    if missing:
        return Signature(Reading.UNCLEAR, f"vmstat's {', '.join(missing)} are not known of both runs")
    idle = slow["id"] - fast["id"]
    share = {name: slow[name] / fast[name] if fast[name] else float("inf") for name in ("in", "cs")}
    figures = (
        f"idle {fast['id']:g} % to {slow['id']:g} %, interrupts {fast['in']:,.0f} to {slow['in']:,.0f}/s, "
        f"context switches {fast['cs']:,.0f} to {slow['cs']:,.0f}/s"
    )
    if idle >= numbers.IDLE_ROSE and max(share.values()) < numbers.COLLAPSED:
        return Signature(
            Reading.AGAINST_BOUNCING,
            f"{figures}: processors are idle and nothing wakes them, so threads sleep; with contended lines, "
            "interrupts and context switches would go on",
        )
    if idle >= numbers.IDLE_SAME and share["cs"] >= numbers.SWITCHES_ROSE:
        return Signature(Reading.CONTENDED, f"{figures}: threads give up processors more often, which are idle")
    if idle < numbers.IDLE_SAME and min(share.values()) >= numbers.COLLAPSED:
        return Signature(Reading.LIKE_BOUNCING, f"{figures}: processors are as busy as before and do less")
    return Signature(Reading.UNCLEAR, figures)


def medians(measurements: Iterable[Measurement]) -> dict[str, float]:
    """The median of every metric."""
    values: dict[str, list[float]] = {}
    for measured in measurements:
        values.setdefault(measured.metric, []).append(measured.value)
    return {name: float(np.median(found)) for name, found in values.items()}
