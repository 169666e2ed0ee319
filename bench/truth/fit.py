"""The numbers of the estimate by thread, fitted to counted programs, each judged by what the others gave.

Owns the search and its table.  The estimate is ``sharing.static.perthread``'s; what is compared with it is
``bench.truth.truth``'s.  A case is a thread entry of a program that threads of the run were in: the static storage that
its threads used at least ``USED`` times per million instructions should come before what they did not use so often.
The measure is the chance that it does (the area under the ROC curve); programs of one source count as one program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.truth.corpus import held_against, kept, name_of, project_of
from bench.truth.score import ran_in, ranks
from bench.truth.subject import Judged
from bench.truth.truth import Truth
from sharing.basics.costs import PER_MILLION
from sharing.knowledge import default_knowledge
from sharing.model.errors import LinemateError
from sharing.static import callgraph, numbers, perthread
from sharing.static.threaduses import Uses

USED = 20.0  # per million instructions: a quarter of what matters, so that enough of it was counted
MIN_INSTRUCTIONS = 10_000  # a thread that did less says nothing
GRID = tuple(product((2.0, 3.0, 4.0, 6.0), (1.0, 0.5, 0.3), (0.005, 0.02, 0.1)))
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Numbers = tuple[float, float, float]  # THREAD_LOOP, CALL_SHARE, POINTER_SHARE


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of one program: what its threads used often; the measure by numbers, and by frequency alone."""

    program: str
    entry: str
    used: int
    by_numbers: tuple[float, ...]
    by_frequency: float


def cases() -> Iterator[Case]:
    """All cases of the corpus, evaluated over the grid."""
    for path in kept():
        try:
            # The file itself is what was counted; it comes first.
            one, truth = next(iter(held_against(path)))
        except LinemateError:
            continue
        yield from _of_program(path, one, truth)


def _of_program(path: Path, one: Judged, truth: Truth) -> Iterator[Case]:
    roots = [(at, r) for at, r in enumerate(one.passes.calls.roots) if r.function >= 0 and not r.is_part]
    ran, threads = ran_in(one, truth), truth.counted.threads
    instructions = np.maximum(truth.counted.instructions, 1.0)
    uses = np.array([truth.uses(a.span)[1] for a in one.actors]).reshape(-1, len(threads)) * PER_MILLION / instructions
    spans = np.array([a.span for a in one.actors], np.uint64).reshape(-1, 2)
    chosen = []
    for at, root in roots:
        mine = [t for t, thread in enumerate(threads) if instructions[t] >= MIN_INSTRUCTIONS and (
            ran[root.function, t] or (root.name == "main" and thread.number == 1))]  # fmt: skip
        often = uses[:, mine].max(axis=1, initial=0.0) >= USED
        if often.any() and not often.all():
            chosen.append((at, root.name, often))
    if not chosen:
        return
    by_numbers = [_estimates(one, spans, tried) for tried in GRID]
    weights = np.array([a.weight for a in one.actors])
    for at, name, often in chosen:
        measured = tuple(area(estimate[at], often) for estimate in by_numbers)
        yield Case(project_of(name_of(path)), name, int(often.sum()), measured, area(weights, often))


def _estimates(one: Judged, spans: npt.NDArray[np.uint64], tried: Numbers) -> Floats:
    """Uses per million instructions of every actor (columns) by every root (rows)."""
    accesses, sites = one.passes.accesses, one.passes.accesses.sites
    before = perthread.times(sites["loop_depth"], sites["rarity"])
    numbers.THREAD_LOOP, numbers.CALL_SHARE, numbers.POINTER_SHARE = tried
    try:
        threads = callgraph.build(one.passes.image, default_knowledge()).by_thread
        after = perthread.times(sites["loop_depth"], sites["rarity"])
    finally:
        numbers.THREAD_LOOP, numbers.CALL_SHARE, numbers.POINTER_SHARE = CHOSEN
    if threads is None or accesses.once is None:
        return np.zeros((len(one.passes.calls.roots), len(spans)))
    found = Uses(threads, sites, accesses.once * after / before, accesses.mask)
    uses = found.each(np.arange(len(sites)))
    sums = np.concatenate([np.zeros((len(uses), 1)), np.cumsum(uses, axis=1)], axis=1)
    first, last = (np.searchsorted(sites["target"], spans[:, side]) for side in (0, 1))
    result: Floats = sums[:, last] - sums[:, first]
    return result


CHOSEN: Numbers = (numbers.THREAD_LOOP, numbers.CALL_SHARE, numbers.POINTER_SHARE)


def area(values: Floats, positive: Bools) -> float:
    """The chance that one of the positive has the higher value; ties count half."""
    n = int(positive.sum())
    other = len(positive) - n
    return (float(ranks(values)[positive].sum()) - n * (n + 1) / 2) / (n * other)


def left_out(found: Sequence[Case]) -> dict[str, int]:
    """By program, the numbers (their place in the grid) that all others fit best."""
    programs = sorted({case.program for case in found})
    by_program = {p: np.mean([c.by_numbers for c in found if c.program == p], axis=0) for p in programs}
    return {
        p: int(np.argmax(np.round(np.mean([by_program[o] for o in programs if o != p], axis=0), 6))) for p in programs
    }


def page(found: Sequence[Case]) -> str:
    """The table of docs/estimate.md."""
    chosen = left_out(found)
    by_program: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        by_program[case.program].append(case)
    best = int(np.argmax(np.mean([np.mean([c.by_numbers for c in cs], axis=0) for cs in by_program.values()], axis=0)))
    now = GRID.index(CHOSEN)
    rows, sums = [], np.zeros(3)
    for program, of in sorted(by_program.items()):
        fitted = chosen[program]
        values = np.mean([(c.by_frequency, c.by_numbers[fitted], c.by_numbers[now]) for c in of], axis=0)
        sums += values
        rows.append(
            f"| {program} | {len(of)} | {sum(c.used for c in of)} | {' / '.join(f'{x:g}' for x in GRID[fitted])} | "
            + " | ".join(f"{v:.2f}" for v in values)
            + " |"
        )
    mean = sums / max(len(by_program), 1)
    return "\n".join([
        HEAD.format(used=USED, now=" / ".join(f"{x:g}" for x in CHOSEN), best=" / ".join(f"{x:g}" for x in GRID[best])),
        *rows,
        f"| **mean** | | | | {' | '.join(f'**{v:.2f}**' for v in mean)} |",
        "",
    ])  # fmt: skip


HEAD = """\
# The estimate by thread

What a thread uses often is estimated from its entry (`sharing/static/perthread.py`). Three numbers shape the estimate:
iterations of a loop, the share of a function's runs that make one of its calls, and the share of calls through pointers
that end at what a thread does. `.venv/bin/python -m bench.truth fit` tries a grid of them on the counted programs and
writes this page. For each program the numbers are those that all *other* programs fit best; its own counts had no part
in them.

The measure is the chance that a variable which a thread used at least {used:g} times per million of its instructions is
estimated above one that it did not use so often: 0.5 is guessing, 1 is always. "By frequency alone" is what one
frequency for each function gives, whoever runs it: for the order alone that is nearly as good. The estimate by thread
says besides who uses something, and how often in a unit that has a meaning.
The code uses {now}; all programs together fit {best} best.

| program | entries | used often | loop / call / pointer | by frequency alone | by thread | as the code has it |
|---|---|---|---|---|---|---|"""
