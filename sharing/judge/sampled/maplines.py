"""Sampled lines of static storage for the map of a page: their share of the time, who touched what, what a fix gains.

Owns the choice of what is told of a line.  Verdicts are made before.
"""

from __future__ import annotations

from collections import Counter

from sharing.judge.sampled.verdict import Verdicts
from sharing.model.memorymap import SampledMapLine, SampledTouch, Verb
from sharing.rules.sampled.base import SampledLine
from sharing.sampled.lineuse.use import Provenance, Totals, Touch

MAX_TOUCHES = 200  # of a line


def sampled_map_lines(verdicts: Verdicts, totals: Totals) -> list[SampledMapLine]:
    """Lines of the judged binary's own data, costliest first."""
    lines = [judged.line for judged in verdicts.judged if judged.line.use.target and judged.line.use.link >= 0]
    return [_line(line, totals) for line in lines]


def _line(line: SampledLine, totals: Totals) -> SampledMapLine:
    use = line.use
    samples: Counter[tuple[str, str, int, int]] = Counter()
    verbs: Counter[tuple[str, str, int, int]] = Counter()
    for touch in use.touches:
        key = (use.threads[touch.thread].text, touch.function, touch.start, touch.end)
        verbs[key] |= int(_verb(touch))
        samples[key] += touch.samples if touch.provenance is Provenance.SAMPLE else 0
    keys = sorted(verbs, key=lambda key: (-samples[key], key))[:MAX_TOUCHES]
    return SampledMapLine(
        address=f"{use.link:#x}",
        share=round(totals.share(use.cost).value, 6),
        gain=line.gain.sentence if line.gain is not None else "",
        touches=[SampledTouch(*key, verbs[key], samples[key]) for key in keys],
    )


def _verb(touch: Touch) -> Verb:
    if touch.lock_call:
        return Verb.LOCKS
    verb = Verb(0)
    for holds, named in ((touch.reads, Verb.READS), (touch.writes, Verb.WRITES), (touch.atomic, Verb.ATOMIC)):
        verb |= named if holds else Verb(0)
    return verb
