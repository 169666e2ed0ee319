"""How often a function runs: what counts say of calls, of chains of calls, and of what it would take to know more.

Owns these measures.  1. A call of a function that ran: is it ever made, and how often a run of its caller?  2. Of
functions so many calls away from where threads begin, how many ran, and how far is the estimate off?  3. What would
heat be if one part of the estimate were as counted: how often functions run, how often a place runs in one run of its
function, which functions run at all?
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from bench.truth.corpus import AT_ONCE, held_against, name_of
from bench.truth.score import Share, score
from bench.truth.subject import Judged, actors_of
from bench.truth.truth import Truth
from sharing.model.errors import LinemateError
from sharing.model.image import Image, Table
from sharing.static.callees import functions_called
from sharing.static.executions import times

LOOPS = 3  # deeper nests count like this
RARITIES = (0, 1, 5, 9, 17, 40)  # steps: a group begins with each
FARTHEST = 8  # calls from a beginning; what is further away, or never come to, counts like this
FEW = 10  # calls of a group of one program, or functions: fewer tell nothing
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CallGroup:
    """Calls of one program that stand alike: the share that was made at all, how often, and how often as estimated."""

    made: float
    median: float  # of those made, a run of the caller
    estimated: float  # median of all


@dataclass(frozen=True, slots=True)
class Distance:
    """Functions so many calls away: the share that ran, and the powers of ten that the estimate of those is too high.

    ``off`` is against all functions of the program that ran.
    """

    ran: float
    off: float


@dataclass(frozen=True, slots=True)
class Supposed:
    """Heat, were one part of the estimate as counted."""

    hot_of_most_used: Share
    used_of_hot: Share
    rank_correlation: float


@dataclass(frozen=True, slots=True)
class Decay:
    """One program's figures."""

    calls: dict[tuple[int, int], CallGroup]  # by loops and rarity
    distances: dict[int, Distance]
    supposed: dict[str, Supposed]


def decays(files: Collection[Path]) -> Iterator[tuple[str, Decay | None]]:
    """By program, or None where its file is not here."""
    with ProcessPoolExecutor(AT_ONCE) as pool:
        yield from zip(map(name_of, files), pool.map(decay, files), strict=True)


def decay(path: Path) -> Decay | None:
    """The figures of one file of counts."""
    try:
        one, truth = next(iter(held_against(path)))
    except LinemateError:
        return None
    image = one.passes.image
    entered = _made(truth, image.functions["address"])
    return Decay(
        call_groups(image, entered, _made(truth, image.calls["ip"])),
        _distances(one, entered),
        dict(supposed(one, truth)),
    )


def _made(truth: Truth, at: npt.NDArray[np.uint64]) -> Floats:
    """Executions of these instructions by all threads."""
    made: Floats = truth.counted.at(at).sum(axis=1)
    return made


def call_groups(image: Image, entered: Floats, made: Floats) -> dict[tuple[int, int], CallGroup]:
    """Calls of functions that were ``entered``, by loops and rarity; ``made``: executions of each row of calls."""
    calls = image.calls
    runs = np.append(entered, 0.0)[calls["function"]]
    rows = np.flatnonzero(runs > 0)
    each = made[rows] / runs[rows]
    estimated = times(calls["loop_depth"][rows], calls["rarity"][rows])
    loops = np.minimum(calls["loop_depth"][rows], LOOPS)
    rarity = np.searchsorted(RARITIES, calls["rarity"][rows], "right") - 1
    found = {}
    for key in sorted(set(zip(loops.tolist(), rarity.tolist(), strict=True))):
        of = (loops == key[0]) & (rarity == key[1])
        if of.sum() >= FEW and (each[of] > 0).any():
            positive = each[of][each[of] > 0]
            made_at_all, estimate = float((each[of] > 0).mean()), float(np.median(estimated[of]))
            found[key] = CallGroup(made_at_all, float(np.median(positive)), estimate)
    return found


def _distances(one: Judged, entered: Floats) -> dict[int, Distance]:
    """Functions by how many calls they are away from where a thread begins, or a library is called."""
    calls, image = one.passes.calls, one.passes.image
    begins = [root.function for root in calls.roots if root.function >= 0]
    away = calls_away(image, np.array(begins, np.int64) if begins else np.flatnonzero(calls.entered))
    ran = (entered > 0) & (calls.frequency > 0)
    off = np.zeros(len(ran))
    off[ran] = np.log10(calls.frequency[ran] / entered[ran])
    typical = float(np.median(off[ran])) if ran.any() else 0.0
    found = {}
    for number in range(FARTHEST + 1):
        of = (away == number) & (calls.mask != 0)
        if of.sum() >= FEW and (of & ran).any():
            found[number] = Distance(float((entered[of] > 0).mean()), float(np.median(off[of & ran])) - typical)
    return found


def calls_away(image: Image, begins: Ints) -> Ints:
    """By function the direct calls to there from the nearest of ``begins``, FARTHEST where there are more."""
    callee, caller = functions_called(image), image.calls["function"]
    known = (callee >= 0) & (caller >= 0)
    callee, caller = callee[known], caller[known]
    away = np.full(len(image.functions), FARTHEST, np.int64)
    away[begins] = 0
    for _ in range(FARTHEST):
        np.minimum.at(away, callee, away[caller] + 1)
    return away


def supposed(one: Judged, truth: Truth) -> Iterator[tuple[str, Supposed]]:
    """Each part of the estimate as counted, the others as they are."""
    entered = _made(truth, one.passes.image.functions["address"])
    sites, frequency = one.passes.accesses.sites, one.passes.calls.frequency
    function = sites["function"]
    ran = entered > 0
    typical = float(np.median(frequency[ran & (frequency > 0)])) if (ran & (frequency > 0)).any() else 1.0
    as_counted = entered * typical / max(float(np.median(entered[ran])) if ran.any() else 1.0, 1.0)
    each = _each_run(sites, entered, truth)
    none = np.ones(len(sites))
    for name, functions, places in (
        ("the estimate", frequency, none),
        ("places as counted", frequency, each),
        ("functions as counted", as_counted, none),
        ("both", as_counted, each),
        ("which functions ran, and how often as estimated", np.where(ran, frequency, 0.0), none),
        ("which functions ran, and all alike", np.where(ran, typical, 0.0), none),
        ("all functions alike", np.where(frequency > 0, typical, 0.0), none),
    ):
        part = np.divide(functions, frequency, out=np.zeros(len(frequency)), where=frequency > 0)
        yield name, _heat(one, truth, part[function] * places)


def _each_run(sites: Table, entered: Floats, truth: Truth) -> Floats:
    """By how much each access is made more often in one run of its function than estimated, where that ran."""
    runs = entered[sites["function"]]
    counted = _made(truth, sites["ip"]) / np.maximum(runs, 1.0)
    part: Floats = np.where(runs > 0, counted / times(sites["loop_depth"], sites["rarity"]), 1.0)
    return part


def _heat(one: Judged, truth: Truth, part: Floats) -> Supposed:
    """The score of heat with every access so many times as heavy."""
    accesses = msgspec.structs.replace(one.passes.accesses, weight=one.passes.accesses.weight * part)
    passes = replace(one.passes, accesses=accesses)
    found = score(replace(one, passes=passes, actors=actors_of(passes), findings=()), truth)
    return Supposed(found.hot_of_most_used, found.used_of_hot, found.rank_correlation)


def tables(found: Sequence[Decay]) -> Iterator[str]:
    """Means of programs, each of which counts alike; shares of heat add up."""
    calls: dict[tuple[int, int], list[CallGroup]] = defaultdict(list)
    distances: dict[int, list[Distance]] = defaultdict(list)
    supposed: dict[str, list[Supposed]] = defaultdict(list)
    for one in found:
        for key, group in one.calls.items():
            calls[key].append(group)
        for number, distance in one.distances.items():
            distances[number].append(distance)
        for name, heat in one.supposed.items():
            supposed[name].append(heat)
    yield "| loops | rarity from | made at all | of those, a run of the caller | estimated |\n|---|---|---|---|---|"
    for (loops, rarity), groups in sorted(calls.items()):
        made, median, estimated = np.median([(g.made, g.median, g.estimated) for g in groups], axis=0)
        yield f"| {loops} | {RARITIES[rarity]} | {made:.0%} | {median:.2f} | {estimated:.3g} |"
    yield "\n| calls away | ran | estimate too high by |\n|---|---|---|"
    for number, rows in sorted(distances.items()):
        yield f"| {number} | {np.mean([d.ran for d in rows]):.0%} | 10^{np.mean([d.off for d in rows]):+.1f} |"
    yield "\n| were it | most used that are hot | hot that are used | rank correlation |\n|---|---|---|---|"
    for name, heats in supposed.items():
        hot, used = (sum((getattr(h, of) for h in heats), Share()) for of in ("hot_of_most_used", "used_of_hot"))
        rank = float(np.mean([h.rank_correlation for h in heats]))
        yield f"| {name} | {hot.part} of {hot.whole} | {used.part} of {used.whole} | {rank:.2f} |"


HEAD = """\
# How often functions run

The estimate for a whole program (`sharing/static/frequency.py`) lets runs spread along calls: each loop around a call
multiplies them, each branch before it divides them. `.venv/bin/python -m bench.truth decay` holds it against the
counted programs ([accuracy](accuracy.md)) and writes this page.

First calls of functions that ran. A call that is made at all is made about once or twice a run of its caller, whatever
loops and branches are around it; these rather say whether it is ever made. Medians of programs.

Then functions by the calls between them and where a thread begins or a library is called: the share that ran, and how
much higher the estimate of those is than of all the program's functions that ran. Entries of threads are estimated too
low beside the others, which know no trend: it is not the length of a chain that makes an estimate wrong.

Last, what heat would be if one part of the estimate were as counted. How often a place runs in one run of its function
is not what is wrong: as counted it gives less. The order of all variables is told by which functions run at all, and
most functions do not: a load chooses them. Which variables are the most used
is told nearly as well by taking those functions alike as by their counts, and better than by how often they are
estimated to run. To take all functions alike, not knowing which run, finds more of these variables as well, but calls
more hot that nobody uses.
"""


def page(found: Sequence[Decay]) -> str:
    """docs/decay.md."""
    return "\n".join([HEAD, *tables(found), ""])
