"""How the estimates of the code compare with what was counted, for one program.

Owns the measures.  True is what was counted and nothing else: two threads use different bytes of a line, one of them
writes, both as often as ``sharing.counted.costs`` says, and it can cost a thousandth of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import numpy as np

from elfscan.demangle import demangle
from elfscan.image import read_images
from linemate.pipeline import line_sizes
from sharing.counted.costs import NEGLIGIBLE
from sharing.counted.meet import Meeting, Place, busy, meeting
from sharing.counted.weigh import Counted, Weighed, weigh
from sharing.judge.passes import Passes, run_passes
from sharing.judge.static import JudgeOptions, judge_passes
from sharing.knowledge import default_knowledge
from sharing.model.executions import Executions
from sharing.model.finding import Finding, Severity, Verdict
from sharing.model.profile import Actor, Heat
from sharing.static.callgraph import function_name

MOST_USED = 30
FIRST = 10
SHARING = frozenset({Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED, Verdict.LOCK_CONTENTION})


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of ``whole``; shares of several programs add up."""

    part: int = 0
    whole: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)


@dataclass(frozen=True, slots=True)
class Score:
    """One program's figures, and the misses by name."""

    hot_of_most_used: Share
    used_of_hot: Share
    shared_of_hot: Share
    rank_correlation: float  # Spearman's, of estimated weight and counted uses of everything that code names
    precision: dict[str, Share]  # by severity, "first" of the first ten
    recall: Share  # of truly shared lines, by findings of low and more
    reached: Share  # functions that ran on a thread, by whether the code said so
    entries: Share  # thread entries that the code has, by whether a thread was in them
    threads: int
    unknown_threads: int  # no entry known to the code
    misses: dict[str, list[str]] = field(default_factory=dict)


def score(path: str, executions: Executions) -> Score:
    """Judge a file by its code alone, and hold that against the counts."""
    (image,) = read_images(path)
    size, pair = line_sizes(None, image)
    passes = run_passes(image, default_knowledge(), demangle)
    weighed = weigh(passes, Counted(executions.table, executions.threads))
    actors = _actors(passes)
    misses: dict[str, list[str]] = {}
    hot, used, shared, correlation = _heat(actors, weighed, misses)
    findings = judge_passes(passes, JudgeOptions(size, pair, demangle=demangle)).findings
    precision, recall = _findings(findings, actors, weighed, size, misses)
    reached, entries, unknown = _reach(passes, weighed, misses)
    threads = sum(t.instructions > 0 for t in executions.threads)
    return Score(hot, used, shared, correlation, precision, recall, reached, entries, threads, unknown, misses)


def _actors(passes: Passes) -> list[Actor]:
    """Everything in static storage that code names, as the static judgement sees it."""
    if not len(passes.accesses.sites):
        return []
    profiler = passes.profiled().profiler
    rows = np.unique(passes.accesses.variable)
    return [actor for row in rows[rows >= 0].tolist() for actor in profiler.actors(row)]


def _heat(actors: Sequence[Actor], weighed: Weighed, misses: dict[str, list[str]]) -> tuple[Share, Share, Share, float]:
    places = [Place(a.name, a.span) for a in actors]
    between = [meeting(weighed, [place]) for place in places]
    uses = np.array([weighed.uses(place.span)[1].sum() for place in places])
    crossing = sorted((at for at, m in enumerate(between) if m is not None), key=lambda at: -_rate(between[at]))
    most = crossing[:MOST_USED]
    hot = [at for at, a in enumerate(actors) if a.heat is Heat.HOT]
    misses["used by several threads, not hot"] = [
        f"{actors[at].name} ({_rate(between[at]):,.0f})" for at in most if actors[at].heat is not Heat.HOT
    ]
    misses["hot, and not used"] = [actors[at].name for at in hot if not uses[at]]
    return (
        Share(sum(actors[at].heat is Heat.HOT for at in most), len(most)),
        Share(sum(bool(uses[at]) for at in hot), len(hot)),
        Share(sum(between[at] is not None for at in hot), len(hot)),
        _spearman(np.array([a.weight for a in actors]), uses),
    )


def _rate(found: Meeting | None) -> float:
    return found.rate if found is not None else 0.0


def _spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Rank correlation, ties with their mean rank; 0 where there is nothing to rank."""
    if len(a) < 3 or not np.ptp(a) or not np.ptp(b):
        return 0.0
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    end = np.cumsum(counts)
    mean: np.ndarray = ((end - counts + end - 1) / 2.0)[inverse]
    return mean


def _findings(
    findings: Sequence[Finding], actors: Sequence[Actor], weighed: Weighed, size: int, misses: dict[str, list[str]]
) -> tuple[dict[str, Share], Share]:
    sharing = [f for f in findings if f.verdict in SHARING]
    truth = {f.id: _true(meeting(weighed, _places(f))) for f in sharing}
    precision = {s.value: Share() for s in reversed(Severity)}
    for finding in sharing:
        precision[finding.severity.value] += Share(int(truth[finding.id]), 1)
    first = [f for f in sharing if f.severity is not Severity.NOTE][:FIRST]
    precision["first"] = Share(sum(truth[f.id] for f in first), len(first))
    misses["among the first ten, and not so"] = [
        f"{f.severity.value} {f.rule}: {' / '.join(p.full_name for p in f.participants[:2])}"
        for f in first
        if not truth[f.id]
    ]
    lines = _true_lines(actors, weighed, size)
    said = [f for f in sharing if f.severity is not Severity.NOTE]
    missed = {
        line: found
        for line, found in lines.items()
        if not any(int(f.line.address, 16) <= line < int(f.line.address, 16) + f.line.size for f in said)
    }
    worst = sorted(missed.items(), key=lambda item: -item[1].share)
    misses["shared, and not found"] = [
        f"line {line:#x}: {m.written.name} / {m.used.name} ({m.rate:,.0f})" for line, m in worst
    ]
    return precision, Share(len(lines) - len(missed), len(lines))


def _true(found: Meeting | None) -> TypeGuard[Meeting]:
    return busy(found) and found.share >= NEGLIGIBLE


def _places(finding: Finding) -> list[Place]:
    line = int(finding.line.address, 16)
    places = []
    for p in finding.participants:
        parts = [(line + a, line + b) for a, b in (p.hot or p.bytes) if b > a]
        start = int(p.address, 16)
        span = (min(a for a, _ in parts), max(b for _, b in parts)) if parts else (start, start + max(p.size, 1))
        places.append(Place(p.full_name, span))
    return places


def _true_lines(actors: Sequence[Actor], weighed: Weighed, size: int) -> dict[int, Meeting]:
    """Lines on which two threads use bytes of different things, one of them writing."""
    on: dict[int, list[Place]] = defaultdict(list)
    for actor in actors:
        for start, end in actor.hot + actor.read_hot:
            for line in range(start - start % size, min(end, start + 16 * size), size):
                on[line].append(Place(actor.name, (max(start, line), min(end, line + size))))
    found = {}
    for line, places in on.items():
        if len(places) > 1:
            best = meeting(weighed, places)
            if _true(best):
                found[line] = best
    return found


def _reach(passes: Passes, weighed: Weighed, misses: dict[str, list[str]]) -> tuple[Share, Share, int]:
    """Functions by thread: those that ran against those that the code says may run."""
    image, calls, counted = passes.image, passes.calls, weighed.counted
    functions = image.functions
    row = np.searchsorted(functions["address"], counted.table["address"], "right").astype(np.int64) - 1
    inside = (row >= 0) & (
        counted.table["address"] < functions["address"][np.maximum(row, 0)] + functions["size"][np.maximum(row, 0)]
    )
    reached, unknown = Share(), 0
    wrong: dict[str, int] = {}
    seen: set[str] = set()
    for number, thread in enumerate(counted.threads):
        entries = counted.entries[number]
        seen |= set(entries)
        mine = inside & (counted.table["thread"] == number)
        if not mine.any() or not thread.instructions:
            continue
        if not entries:
            unknown += 1
            continue
        bits = sum(1 << at for at, root in enumerate(calls.roots) if root.name in entries)
        # Where the loader begins is not main, and the thread that main is.
        mine &= ~np.isin(functions["address"][np.maximum(row, 0)], np.array(image.entry_points, np.uint64))
        ran = np.bincount(row[mine], counted.table["executions"][mine], len(functions))
        rows = np.flatnonzero(ran)
        said = ((calls.mask[rows] & np.uint64(bits)) != 0) | (calls.phases.alone[rows] & ("main" in entries))
        reached += Share(int(said.sum()), len(rows))
        for at in rows[~said].tolist():
            name = f"{function_name(image, at)} on {'/'.join(entries)}"
            wrong[name] = wrong.get(name, 0) + int(ran[at])
    misses["ran on a thread that does not reach it"] = sorted(wrong, key=lambda name: -wrong[name])
    known = {r.name for r in calls.roots if r.function >= 0 and r.name != "main"}
    misses["an entry that no thread was in"] = sorted(known - seen)
    return reached, Share(len(known & seen), len(known)), unknown
