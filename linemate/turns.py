"""Two contenders that take turns: the protocol of every comparison of speed.

Owns alternation, what counts as a disturbed round, what is done and said about it, and reading a figure out of what a
command prints.  What a contender is, and how it runs, is the caller's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from sharing.model.errors import LinemateError
from sharing.model.recorded import RESOLUTION_S

# What background load may take of one processor before a run counts as disturbed.
DISTURBED_SHARE = 0.05
_MOST_ROUNDS = 3  # times the rounds asked for
_CLEAR = 0.1  # a difference that background load does not explain, if all rounds agree on it
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_NUMBER = r"[=:\s]*([-+]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"


class BackgroundLoad:
    """Processor time that neither we nor our children, waited for, have used since this was made."""

    def __init__(self) -> None:
        self._own_s, self._busy_s = _own_s(), _busy_s()

    def seconds(self) -> float:
        return max(0.0, (_busy_s() - self._busy_s) - (_own_s() - self._own_s))


def background_share(background_s: float, wall_s: float) -> float:
    """Of one processor; what is below the resolution of the figure is none."""
    return 0.0 if background_s <= RESOLUTION_S else background_s / max(wall_s, RESOLUTION_S)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one run gave: its figures, and the share of one processor that background load took meanwhile."""

    figures: tuple[float, ...]
    background: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds that count, figures of each.

    ``repeated`` rounds were left out because of background load, ``disturbed`` ones count all the same.
    """

    first: tuple[tuple[float, ...], ...]
    second: tuple[tuple[float, ...], ...]
    repeated: int
    disturbed: int


def take_turns(first: Callable[[], Turn], second: Callable[[], Turn], rounds: int) -> Rounds:
    """Run both that many times, in an order that changes every round.

    Rounds that background load disturbed are measured again, up to twice the rounds more; of all, the least disturbed
    count.
    """
    rows: list[tuple[float, int, Turn, Turn]] = []
    quiet = 0
    while quiet < rounds and len(rows) < _MOST_ROUNDS * rounds:
        if len(rows) % 2 == 0:
            one, other = first(), second()
        else:
            other, one = second(), first()
        worst = max(one.background, other.background)
        quiet += worst <= DISTURBED_SHARE
        rows.append((worst, len(rows), one, other))
    kept = sorted(sorted(rows, key=lambda row: row[:2])[:rounds], key=lambda row: row[1])
    return Rounds(
        tuple(row[2].figures for row in kept),
        tuple(row[3].figures for row in kept),
        len(rows) - len(kept),
        sum(row[0] > DISTURBED_SHARE for row in kept),
    )


def rounds_in_words(rounds: str, repeated: int, disturbed: int) -> str:
    """What figures are medians of: ``9 alternating pairs``, and what became of those that background load disturbed."""
    text = rounds
    if repeated:
        text += f" ({repeated} more left out: background load)"
    if disturbed:
        text += f", {disturbed} of them disturbed by background load: better measured on a quiet machine"
    return text


def inconclusive(difference: float, rounds: int, disturbed: int) -> bool:
    """Whether a relative difference may come from background load: most rounds disturbed, and none that is clear."""
    return 2 * disturbed > rounds and abs(difference) < _CLEAR


def metric_of(output: str, metric: str, command: str) -> float:
    """The last number behind that word.  Raises LinemateError where the command prints none."""
    found = re.findall(rf"(?<!\w){re.escape(metric)}{_NUMBER}", output)
    if not found:
        raise LinemateError(f"`{command}` prints no number behind '{metric}'")
    return float(found[-1].replace(",", "").replace("_", ""))


def _own_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _busy_s() -> float:
    """Processor seconds spent on anything since boot, steal included; 0 where the system does not say."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S
