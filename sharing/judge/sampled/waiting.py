"""Lines that wait together: what fixing each of them gains alone, beside the others, and what all of them gain.

Owns which lines need each other's fix.  What a set of fixes gains is ``sharing.sampled.speedup.gain``'s estimate.

Threads that meet at a barrier run as fast as the slowest of them.  Where each waits for a line of its own, fixing one
line gains nothing, and fixing all of them much.  Judged alone, each would be talked down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sharing.judge import numbers
from sharing.model.plural import count
from sharing.rules.sampled.base import SampledLine, walks
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.speedup.gain import Gain

MAX_TRIED = 12  # lines, the costliest, that are tried with and without the others: a bound on time
Gains = Callable[[Sequence[tuple[LineUse, Sequence[Item]]]], Gain | None]


def estimated(lines: Sequence[SampledLine], gains: Gains | None) -> tuple[list[SampledLine], Gain | None]:
    """The lines with what fixing each gains, and what fixing all gains where several were measured."""
    if gains is None:
        return list(lines), None
    alone = [replace(line, gain=gain_of([line], gains)) for line in lines]
    tried = [
        i
        for i, line in enumerate(alone)
        if line.gain is not None and line.gain.measured and line.blame.false > 0 and not walks(line)
    ]
    tried = sorted(tried, key=lambda i: -alone[i].blame.cost)[:MAX_TRIED]
    if len(tried) < 2:
        return alone, None
    every = gain_of([alone[i] for i in tried], gains)
    if every is None or every.ratio is None or not every.surely_worth_fixing:
        return alone, None
    for i in tried:
        others = [alone[k] for k in tried if k != i]
        rest, own = gain_of(others, gains), alone[i].gain
        if rest is None or rest.ratio is None or own is None or own.ratio is None:
            continue
        last = every.ratio / rest.ratio
        if last < numbers.TOGETHER * own.ratio:
            continue
        # The set's own doubt, around what this line adds as the last one.
        low, high = max(last * every.low / every.ratio, 1.0), max(last * every.high / every.ratio, last)
        with_others = f"with {count(len(others), 'other line')} that it waits beside fixed as well"
        given = f"{with_others}; alone {own.text}"
        alone[i] = replace(alone[i], gain=Gain(last, low, high, every.how, own.ask, given, every.doubt))
    return alone, replace(every, given=f"for {len(tried)} lines at once")


def gain_of(lines: Sequence[SampledLine], gains: Gains) -> Gain | None:
    """What fixing some lines at once gains."""
    return gains([(line.use, line.items) for line in lines])
