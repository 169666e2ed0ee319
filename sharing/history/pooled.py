"""Revisions whose builds are one build, judged as one: no measurement counts twice, and none stands in front of itself.

Owns what neighbouring revisions share.  Whether two builds load the same is told by whoever read them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import msgspec

from sharing.history.judge import Judged, judge
from sharing.history.series import Series
from sharing.model.history import Step
from sharing.model.plural import count


def judged_once(series: Series, keys: Sequence[str], loads: Sequence[str], alpha: float) -> Judged:
    """The series judged with each measurement in it once.

    Revisions of equal ``keys`` have one build and its figures: of neighbours, the first keeps them.  Those of equal
    ``loads`` load the same bytes: of neighbours, the others cannot have made a step.  A build that comes back later
    (a revert) shares out its rounds, so that both places have values of their own.
    """
    runs = _runs(series, loads)
    places: dict[str, list[int]] = {}
    for run in runs:
        for key in dict.fromkeys(keys[at] for at in run):
            places.setdefault(key, []).append(run[0])
    values: list[tuple[tuple[float, ...], ...]] = [tuple(() for _ in series.cells) for _ in keys]
    builds = [0] * len(keys)
    for number, run in enumerate(runs):
        for at in run:
            builds[at] = number
        for key, at in {keys[at]: at for at in reversed(run)}.items():
            mine = slice(places[key].index(run[0]), None, len(places[key]))
            values[at] = tuple(repeated[mine] for repeated in series.values[at])
    judged = judge(dataclasses.replace(series, values=tuple(values)), alpha, builds)
    repeats = {at for run in runs for at in run[1:]}

    def cleared(step: Step) -> Step:
        return msgspec.structs.replace(step, suspects=tuple(at for at in step.suspects if at not in repeats))

    notes = judged.notes
    if repeats:
        one = f"{count(len(repeats), 'revision')} {'loads' if len(repeats) == 1 else 'load'}"
        notes = (*notes, f"{one} the same bytes as the one before: counted as one build")
    best = cleared(judged.best) if judged.best is not None else None
    return dataclasses.replace(judged, steps=tuple(cleared(s) for s in judged.steps), best=best, notes=notes)


def _runs(series: Series, loads: Sequence[str]) -> list[list[int]]:
    """Neighbouring revisions that load the same; one without figures in between parts nothing."""
    out: list[list[int]] = []
    measured: list[int] = []  # the run of the last revision with figures
    for at, row in enumerate(series.values):
        if not any(row):
            out.append([at])
        elif measured and loads[at] == loads[measured[0]]:
            measured.append(at)
        else:
            measured = [at]
            out.append(measured)
    return out
