"""From lines as they were used to verdicts: every line that is worth it, through the rules of samples.

Owns the order of the passes over a line and the choice among rules that exclude each other.  Patterns are in
``sharing.rules``, words of a report in ``sharing.judge.sampled.findings``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from sharing.judge import numbers
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.pooling import own_elements, pooled, pools
from sharing.judge.sampled.waiting import Gains, estimated, gain_of
from sharing.model.attribution import Region
from sharing.rules import SAMPLED_RULES
from sharing.rules import numbers as rule_numbers
from sharing.rules.sampled.base import SampledContext, SampledDraft, SampledLine, SampledRule, walks
from sharing.sampled import numbers as sampled_numbers
from sharing.sampled.lineuse.blame import Blame, blame, items_of
from sharing.sampled.lineuse.handmadelocks import as_locks
from sharing.sampled.lineuse.use import Concurrency, LineUse, SampledRun
from sharing.sampled.speedup.gain import Gain

_ELEMENT = re.compile(r"\[|\+0x")  # where the name of an element goes on behind that of its array


class Outcome(StrEnum):
    """What became of a line; the values are the words of reports."""

    DISTURBED = "disturbed"  # the rules have something to say
    NOT_DISTURBED = "not disturbed"
    NOT_JUDGED = "not judged"  # thread-local, the kernel's, code
    ONE_THREAD = "one thread"
    ONLY_READ = "only read"
    TOO_FEW = "too few samples"
    PHASED = Concurrency.PHASED.value
    ONE_PROCESSOR = Concurrency.TIME_SLICED.value

    @property
    def counter(self) -> str:
        """The name of the count of such lines."""
        return f"sampled lines, {self.value}"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on a line.  ``drafts`` is empty where it is not disturbed."""

    line: SampledLine
    drafts: tuple[SampledDraft, ...]
    outcome: Outcome = Outcome.DISTURBED
    lines: int = 1  # that are judged as this one


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All lines, costliest first, and how many of each kind; ``together`` is what fixing all of them gains."""

    judged: tuple[Judged, ...]
    counts: dict[str, int] = field(default_factory=dict)
    together: Gain | None = None


def judge_lines(
    run: SampledRun, names: Names, line_size: int, *, rules: Sequence[str] = (), gains: Gains | None = None
) -> Verdicts:
    """1. items; 2. blame; 3. names; 4. gains; 5. rules.  ``rules`` are ids, empty for all; ``gains`` estimates a
    speed-up.
    """
    context = SampledContext(line_size, run.totals)
    chosen = [r for r in SAMPLED_RULES if not rules or r.id in rules]
    counts: Counter[str] = Counter({"sampled lines": len(run.lines)})
    wrong: list[Judged] = []
    fine: list[Judged] = []
    disturbed: list[SampledLine] = []
    for use in run.lines:
        items = items_of(use, names.together(use))
        blamed = blame(use, items)
        line = SampledLine(use, blamed, as_locks([names.actor(item, use) for item in items], blamed))
        outcome = _outcome(use, line.blame)
        if outcome is Outcome.DISTURBED:
            under = _under_locks(line)
            line = _with_memory(line, names)
            disturbed.append(replace(line, blame=_in_company(line.blame, under), under_lock=under))
            continue
        counts[outcome.counter] += 1
        fine.append(Judged(line, (), outcome))
    disturbed, together = estimated(disturbed, gains)
    for line in disturbed:
        if drafts := _drafts(line, context, chosen):
            wrong.append(Judged(line, drafts))
            continue
        counts[Outcome.NOT_DISTURBED.counter] += 1
        fine.append(Judged(line, (), Outcome.NOT_DISTURBED))
    thin = [one.line for one in fine if one.outcome is Outcome.TOO_FEW]
    for group in pools(thin):
        line = _with_memory(pooled(group), names)
        drafts = _drafts(line, context, chosen)
        if drafts:
            wrong.append(Judged(line, tuple(replace(d, alike=len(group) - 1) for d in drafts), lines=len(group)))
            counts["sampled lines, pooled"] += len(group)
            counts[Outcome.TOO_FEW.counter] -= len(group)
            fine = [one for one in fine if one.line not in group]
    folded = _folded(wrong, context, chosen, gains)
    return Verdicts((*folded, *fine), {name: n for name, n in counts.items() if n}, together)


def _with_memory(line: SampledLine, names: Names) -> SampledLine:
    """The line with where its items were allocated, and the objects that they are of."""
    blocks = tuple(names.allocation(item, line.use) for item in line.items)
    objects = tuple(names.object(item, line.use) for item in line.items)
    return replace(line, blocks=blocks if any(blocks) else (), objects=objects if any(objects) else ())


def _drafts(line: SampledLine, context: SampledContext, rules: Sequence[SampledRule]) -> tuple[SampledDraft, ...]:
    """What the rules say; of those that exclude each other, the first that says something."""
    drafts: list[SampledDraft] = []
    taken = False
    for rule in rules:
        if taken and rule.exclusive:
            continue
        found = list(rule.check(line, context))
        drafts += found
        taken |= rule.exclusive and bool(found)
    return tuple(drafts)


def _folded(
    judged: list[Judged], context: SampledContext, rules: Sequence[SampledRule], gains: Gains | None
) -> list[Judged]:
    """Lines of one array, and many lines of one kind of object, as one: its costliest with the cost of all."""
    groups: dict[tuple[object, ...], list[Judged]] = {}
    for one in judged:
        groups.setdefault(_kind(one), []).append(one)
    out: list[Judged] = []
    for group in groups.values():
        first = group[0].line
        if len(group) < (numbers.MIN_NAMED if first.use.link >= 0 else numbers.MIN_NAMELESS):
            out += group
            continue
        mine, whole = first.blame.cost, sum(one.line.blame.cost for one in group)
        # Judged again as if the line had it all, so that severity and words are those of the whole.
        first = replace(first, gain=gain_of([one.line for one in group], gains) if gains is not None else None)
        dealt = walks(first) and own_elements([one.line for one in group])
        line = replace(first, blame=first.blame.scaled(whole / mine if mine > 0 else 1.0), dealt=dealt)
        drafts = _drafts(line, context, rules)
        count = sum(one.lines for one in group)
        out.append(Judged(replace(first, dealt=dealt), tuple(replace(d, alike=count - 1) for d in drafts), lines=count))
    out.sort(key=lambda one: -max(d.cost for d in one.drafts))
    return out


def _kind(one: Judged) -> tuple[object, ...]:
    """What makes two lines the same thing: rule, and the array, or the functions that touch it.

    Members of one struct that lie on several lines are several things.
    """
    draft, line = one.drafts[0], one.line
    if line.use.link >= 0:
        arrays = frozenset(_ELEMENT.split(line.actors[i].name)[0] for i in draft.items)
        return (draft.rule, line.use.module, arrays if len(arrays) == 1 else line.use.link)
    functions = frozenset(t.function for i in draft.items[:2] for t in line.items[i].touches if t.cost > 0)
    if walks(line):
        return (line.use.region, line.use.space, functions)  # nodes differ in what happened to be seen of them
    return (draft.rule, line.use.region, line.use.space, functions)


def _outcome(use: LineUse, result: Blame) -> Outcome:
    """Why a line needs no rule, DISTURBED where it does."""
    if use.region in (Region.TLS, Region.KERNEL, Region.CODE):
        return Outcome.NOT_JUDGED
    threads = {t.thread for t in use.touches}
    if use.splits and any(s.atomic or len(s.threads) > 1 for s in use.splits):
        return Outcome.DISTURBED
    if len(threads) < 2:
        return Outcome.ONE_THREAD
    if not any(t.writes for t in use.touches):
        return Outcome.ONLY_READ
    if use.samples < sampled_numbers.FEW_SAMPLES:
        return Outcome.TOO_FEW
    if result.concurrency.apart:
        return Outcome(result.concurrency.value)
    if result.true + result.false + result.late <= 0:
        return Outcome.NOT_DISTURBED
    return Outcome.DISTURBED


def _under_locks(line: SampledLine) -> dict[tuple[int, int], float]:
    """For each lock and other item of a line: the share of the item's cost in functions that take the lock."""
    items, actors = line.items, line.actors
    out: dict[tuple[int, int], float] = {}
    costly = [item.cost > 0 for item in items]
    for i, lock in enumerate(actors):
        if not lock.is_lock:
            continue
        takers = {a.function for a in lock.lockers} | {t.function for t in items[i].touches if not t.lock_call}
        for j, item in enumerate(items):
            if j == i or j in line.blame.picked or not item.threads <= items[i].threads:
                continue  # some of its users were never seen at the lock
            # A store seldom costs anything itself: then what was near sampled instructions counts.
            seen = [
                (t.cost if costly[j] else max(t.samples, sampled_numbers.CODE_WEIGHT), t.function) for t in item.touches
            ]
            out[(i, j)] = sum(weight for weight, f in seen if f in takers) / sum(weight for weight, _ in seen)
    return out


def _in_company(result: Blame, under: Mapping[tuple[int, int], float]) -> Blame:
    """Time between a lock and what it guards is the lock's: who comes for the data has the lock, wherever both are."""
    guarded = {data: lock for (lock, data), share in under.items() if share >= rule_numbers.OWN_DATA}
    pairs: dict[tuple[int, int], float] = {}
    moved = 0.0
    for (a, b), cost in result.pairs.items():
        lock = guarded.get(a, a)
        if a != b and lock == guarded.get(b, b):
            moved += cost
            a = b = lock
        pairs[(a, b)] = pairs.get((a, b), 0.0) + cost
    late = result.late * (1 - moved / result.false) if moved > 0 else result.late
    return replace(result, true=result.true + moved, false=result.false - moved, late=late, pairs=pairs)
