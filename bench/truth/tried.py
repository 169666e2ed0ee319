"""What the judgement would be with other numbers: heat and findings of the counted programs, by combinations of them.

Owns the combinations, their table, and what is left where each program is judged by the numbers that all others fit
best.  A number is moved for the passes of one file and put back; the judgement is ``bench.truth.subject``'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np

from bench.truth.corpus import AT_ONCE, held_against, kept, name_of, project_of
from bench.truth.score import Share, score
from sharing.basics import numbers as shared
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity
from sharing.static import numbers

HIGHEST = (1e2, 1e3, 1e4)
FEWER = 3.0  # iterations of a loop: as many as the estimate by thread has
SAID = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)
NOTHING = Share()
Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Programs with one combination of numbers; shares of several programs add up."""

    hot_of_most_used: Share = NOTHING
    used_of_hot: Share = NOTHING
    precision: Mapping[Severity, Share] = field(default_factory=dict)
    lines: Share = NOTHING

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.hot_of_most_used + other.hot_of_most_used,
            self.used_of_hot + other.used_of_hot,
            {s: self.precision.get(s, NOTHING) + other.precision.get(s, NOTHING) for s in SAID},
            self.lines + other.lines,
        )


Outcomes = Mapping[str, Sequence[Outcome]]  # by project, one for each combination


def combinations() -> tuple[Numbers, ...]:
    """As the code has them, then with other bounds of how often functions run, and with fewer iterations of a loop.

    What is warm is what a loop makes so, and a line is looked at from half of that.
    """
    fewer = {"LOOP_FACTOR": FEWER, "WARM_WEIGHT": 0.8 * FEWER, "LINE_WEIGHT": 0.4 * FEWER}
    return {}, *({"MAX_FREQUENCY": highest} for highest in HIGHEST), fewer, {**fewer, "MAX_FREQUENCY": 1e3}


@contextmanager
def moved(to: Numbers) -> Iterator[None]:
    """With these numbers, of ``sharing.static`` or of all rooms, at these values."""
    rooms = {name: numbers if hasattr(numbers, name) else shared for name in to}
    before = {name: getattr(room, name) for name, room in rooms.items()}
    try:
        for name, room in rooms.items():
            setattr(room, name, to[name])
        yield
    finally:
        for name, room in rooms.items():
            setattr(room, name, before[name])


def outcomes(tried: Sequence[Numbers], names: Collection[str] = ()) -> Outcomes:
    """Of all kept programs that are here, without symbols; those of one source are one program."""
    found: dict[str, list[Outcome]] = defaultdict(lambda: [Outcome()] * len(tried))
    files = [path for path in kept(names) if "-built" not in name_of(path)]
    with ProcessPoolExecutor(AT_ONCE) as pool:
        for path, of in zip(files, pool.map(_outcomes, files, [tried] * len(files)), strict=True):
            project = project_of(name_of(path))
            found[project] = [a + b for a, b in zip(found[project], of, strict=True)]
    return dict(found)


def _outcomes(path: Path, tried: Sequence[Numbers]) -> list[Outcome]:
    found = []
    for to in tried:
        with moved(to):
            try:
                s = score(*next(iter(held_against(path))))
            except LinemateError:
                return [Outcome()] * len(tried)
        said = {severity: s.precision[severity.value] for severity in SAID}
        found.append(Outcome(s.hot_of_most_used, s.used_of_hot, said, s.recall))
    return found


def left_out(found: Outcomes) -> dict[str, int]:
    """By program, the combination that makes most of what the others use most hot: the mean of their shares."""
    share = {p: np.array([_part(o.hot_of_most_used) for o in of]) for p, of in _with_used(found).items()}
    return {
        p: int(np.argmax(np.round(np.mean([share[o] for o in share if o != p], axis=0), 6))) if len(share) > 1 else 0
        for p in found
    }


def page(tried: Sequence[Numbers], found: Outcomes) -> str:
    """docs/numbers.md."""
    chosen = left_out(found)
    columns = [{p: of[at] for p, of in found.items()} for at in range(len(tried))]
    rows = [_row(_named(to), of) for to, of in zip(tried, columns, strict=True)]
    rows.append(_row("**each program by what the others fit best**", {p: of[chosen[p]] for p, of in found.items()}))
    return "\n".join([HEAD, *rows, ""])


def _row(name: str, of: Mapping[str, Outcome]) -> str:
    every = reduce(add, of.values(), Outcome())
    shares = [_part(o.hot_of_most_used) for o in of.values() if o.hot_of_most_used.whole]
    said = ", ".join(f"{_of(s)} {severity.value}" for severity, s in every.precision.items() if s.whole)
    cells = (name, _of(every.hot_of_most_used), f"{np.mean(shares) if shares else 0.0:.2f}", _of(every.used_of_hot))
    return f"| {' | '.join(cells)} | {said or 'none'} | {_of(every.lines)} |"


def _with_used(found: Outcomes) -> Outcomes:
    return {p: of for p, of in found.items() if of[0].hot_of_most_used.whole}


def _part(share: Share) -> float:
    return share.part / share.whole if share.whole else 0.0


def _of(share: Share) -> str:
    return f"{share.part} of {share.whole}"


def _named(to: Numbers) -> str:
    if not to:
        return f"as the code has them: {shared.LOOP_FACTOR:g}, {numbers.MAX_FREQUENCY:g}"
    return f"{to.get('LOOP_FACTOR', shared.LOOP_FACTOR):g}, {to.get('MAX_FREQUENCY', numbers.MAX_FREQUENCY):g}"


HEAD = """\
# Other numbers

The estimate for a whole program (`sharing/static/frequency.py`) rests on two numbers that are chosen: iterations of a
loop (`LOOP_FACTOR`), and how often a function runs at most (`MAX_FREQUENCY`). `.venv/bin/python -m bench.truth tried`
judges the counted programs ([accuracy](accuracy.md)) with others, and writes this page. What is warm (`WARM_WEIGHT`) is
what a loop makes so: with fewer iterations it is less. Programs of one source are one program. In the last row each
program is judged by the numbers with which most of what all *other* programs use most is hot.

That a function runs more than about a thousand times is what long chains of loops and calls multiply to, and tells
little: with a lower bound a little more of what is used most is hot, though the mean of programs is not higher where
others choose the bound. The code keeps the higher one. Hot in place of warm lifts findings: more are medium, and
counts confirm none of them. Of 131 programs and libraries of Debian's 2 more findings were medium and 1 more high (a
pool's threads that wait for work, in GLib), none of which reading the code confirms. Heat is what findings are made
of, and findings are what users read.

| iterations, at most | most used, hot | mean of programs | hot, used | findings that are true | shared lines found |
|---|---|---|---|---|---|"""
