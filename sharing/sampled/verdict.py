"""From lines as they were used to verdicts: every line that is worth it, through the rules of samples.

Owns the order of the passes over a line and the choice among rules that exclude each other.  Patterns are in
``sharing.rules``, words of a report in ``sharing.sampled.findings``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sharing.model.attribution import Region
from sharing.model.finding import Severity
from sharing.model.profile import Actor
from sharing.rules import RULES, Scope
from sharing.rules.sampled_base import SampledContext, SampledDraft, SampledLine
from sharing.sampled.blame import Blame, Item, blame, items_of
from sharing.sampled.gain import Gain
from sharing.sampled.names import Names
from sharing.sampled.use import LineUse, Meeting, SampledRun

MIN_LINE_SAMPLES = 10  # below, nothing is said of who does what
Gains = Callable[[LineUse, Sequence[Item]], Gain | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on a line.  ``drafts`` is empty where there is nothing wrong: ``why`` says what it is instead."""

    line: SampledLine
    drafts: tuple[SampledDraft, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All lines, costliest first, and how many of each kind."""

    judged: tuple[Judged, ...]
    counts: dict[str, int] = field(default_factory=dict)


def judge_lines(
    run: SampledRun, names: Names, line_size: int, *, rules: Sequence[str] = (), gains: Gains | None = None
) -> Verdicts:
    """1. items; 2. blame; 3. names; 4. rules.  ``rules`` are ids, empty for all; ``gains`` estimates a speed-up."""
    context = SampledContext(line_size, run.totals)
    chosen = [r for r in RULES if r.scope is Scope.SAMPLED and (not rules or r.id in rules)]
    counts: Counter[str] = Counter()
    judged: list[Judged] = []
    for use in run.lines:
        items = items_of(use, names.together(use))
        result = blame(use, items)
        actors = tuple(names.actor(item, use) for item in items)
        why = _nothing_wrong(use, result)
        if why:
            counts[f"sampled lines, {why}"] += 1
            judged.append(Judged(SampledLine(use, result, actors), (), why))
            continue
        gain = gains(use, items) if gains is not None else None
        line = SampledLine(use, result, actors, _under_locks(items, actors), gain)
        drafts: list[SampledDraft] = []
        taken = False
        for rule in chosen:
            assert rule.check_samples is not None
            if taken and rule.exclusive:
                continue
            for draft in rule.check_samples(line, context):
                drafts.append(draft)
                taken |= rule.exclusive
        if not drafts:
            why = "not disturbed"
            counts[f"sampled lines, {why}"] += 1
        judged.append(Judged(line, tuple(drafts), why))
    counts["sampled lines"] = len(run.lines)
    return Verdicts(tuple(judged), dict(counts))


def _nothing_wrong(use: LineUse, result: Blame) -> str:
    """Why a line needs no rule, "" where it does."""
    if use.region in (Region.TLS, Region.KERNEL, Region.CODE):
        return "not judged"
    threads = {t.thread for t in use.touches}
    if use.splits and any(s.atomic or len(s.threads) > 1 for s in use.splits):
        return ""
    if len(threads) < 2:
        return "one thread"
    if not any(t.writes for t in use.touches):
        return "only read"
    if use.samples < MIN_LINE_SAMPLES:
        return "too few samples"
    if result.meeting is Meeting.PHASED:
        return "phased"
    if result.true + result.false <= 0:
        return "not disturbed"
    return ""


def _under_locks(items: tuple[Item, ...], actors: Sequence[Actor]) -> dict[tuple[int, int], float]:
    """For each lock and other item of a line: the share of the item's cost in functions that take the lock."""
    out: dict[tuple[int, int], float] = {}
    for i, lock in enumerate(actors):
        if not lock.is_lock:
            continue
        takers = {a.function for a in lock.lockers} | {t.function for t in items[i].touches if not t.lock_call}
        for j, item in enumerate(items):
            if j != i and item.cost > 0:
                out[(i, j)] = sum(t.cost for t in item.touches if t.function in takers) / item.cost
    return out


def worst_severity(drafts: Sequence[SampledDraft]) -> Severity:
    return max((d.severity for d in drafts), key=lambda s: s.rank, default=Severity.NOTE)
