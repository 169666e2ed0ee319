"""Steps in simulated series: their place and false alarms, against PELT and E-divisive on the same series.

PELT is that of ``ruptures``, E-divisive that of ``signal-processing-algorithms``, made by MongoDB for its own history.
Both are run by another Python, ``LINEMATE_BENCH_PEERS``, that has them; without it their columns are missing.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.history.judge import judge
from sharing.history.series import Series

Floats = npt.NDArray[np.float64]

REVISIONS = 40
NOISE = 0.01
STEP = -0.03
EACH = 20  # series of a kind
NEAR = 1  # revisions

# Reads series as JSON, prints for each peer the places that it calls: the first value behind a step.
_PEERS = """
import json, math, sys
import numpy as np
import ruptures
from signal_processing_algorithms.energy_statistics.energy_statistics import e_divisive
out = {"PELT": [], "PELT, 2.5 x": [], "E-divisive": []}
np.random.seed(1)
for values in json.load(sys.stdin):
    x = np.array(values)
    sigma = 1.4826 * np.median(np.abs(np.diff(x) - np.median(np.diff(x)))) / math.sqrt(2)
    model = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(x / max(sigma, 1e-12))
    for name, penalty in (("PELT", 3), ("PELT, 2.5 x", 7.5)):
        out[name].append([int(at) for at in model.predict(pen=penalty * math.log(len(x)))[:-1]])
    out["E-divisive"].append(sorted(int(at) for at in e_divisive(x, pvalue=0.05, permutations=100)))
json.dump(out, sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """Series of one kind of noise.  ``make`` takes a source of chance and whether there is a step."""

    name: str
    stepped: bool
    make: Callable[[np.random.Generator], Floats]
    steps: int = 1  # that begin at drawn places, where ``stepped``
    missing: float = 0.0
    drift: float = 0.0


def _white(rng: np.random.Generator) -> Floats:
    return rng.normal(0, NOISE, REVISIONS)


def _autoregressive(rng: np.random.Generator) -> Floats:
    own = rng.normal(0, NOISE * math.sqrt(1 - 0.6**2), REVISIONS)
    out = np.empty(REVISIONS)
    level = rng.normal(0, NOISE)
    for at in range(REVISIONS):
        out[at] = level = 0.6 * level + own[at]
    return out


def _bimodal(rng: np.random.Generator) -> Floats:
    """Two states that the machine falls into by chance, four standard deviations apart."""
    return np.where(rng.random(REVISIONS) < 0.5, 2.0, -2.0) * NOISE / 2 + rng.normal(0, NOISE / 2, REVISIONS)


KINDS = (
    Kind("white noise", False, _white),
    Kind("white noise", True, _white),
    Kind("correlated, AR(0.6)", False, _autoregressive),
    Kind("correlated, AR(0.6)", True, _autoregressive),
    Kind("two states", False, _bimodal),
    Kind("two states", True, _bimodal),
    Kind("drift of 6 %", False, _white, drift=-0.06),
    Kind("a fifth missing", False, _white, missing=0.2),
    Kind("a fifth missing", True, _white, missing=0.2),
    Kind("step and recovery", True, _white, steps=2),
)


@dataclass(frozen=True, slots=True)
class Simulated:
    """``logs`` are NaN where missing; ``places`` the first revisions behind the steps that were planted."""

    logs: Floats
    places: tuple[int, ...]


def simulated(kind: Kind, number: int) -> Simulated:
    """One series of a kind; of equal numbers the same."""
    rng = np.random.default_rng([number, KINDS.index(kind)])
    logs = kind.make(rng) + kind.drift * np.arange(REVISIONS) / (REVISIONS - 1)
    places: tuple[int, ...] = ()
    if kind.stepped and kind.steps == 1:
        places = (int(rng.integers(8, REVISIONS - 7)),)
        logs[places[0] :] += STEP
    elif kind.stepped:
        first = int(rng.integers(8, 17))
        places = (first, first + int(rng.integers(8, 15)))
        logs[places[0] : places[1]] += STEP
    if kind.missing:
        gone = rng.random(REVISIONS) < kind.missing
        gone[list({at + side for at in places for side in (-1, 0)})] = False
        logs[gone] = np.nan
    return Simulated(logs, places)


def called(series: Simulated) -> tuple[int, ...]:
    """The places that this project calls: the first measured revisions behind steps."""
    values = tuple(((float(1000 * math.exp(v)),) if math.isfinite(v) else (),) for v in series.logs)
    found = judge(Series("tps", tuple(map(str, range(len(values)))), ((),), values))
    return tuple(step.between[1] for step in found.steps)


@dataclass(frozen=True, slots=True)
class Score:
    """Of the series of a kind: steps called at the very revision, called near it, and series with any false call."""

    exact: int
    near: int
    alarms: int


def score(series: list[Simulated], calls: list[tuple[int, ...]]) -> Score:
    exact = near = alarms = 0
    for one, found in zip(series, calls, strict=True):
        exact += sum(at in found for at in one.places)
        near += sum(any(abs(at - c) <= NEAR for c in found) for at in one.places)
        alarms += any(all(abs(at - c) > NEAR for at in one.places) for c in found)
    return Score(exact, near, alarms)


def _of_peers(series: list[Simulated]) -> dict[str, list[tuple[int, ...]]]:
    python = os.environ.get("LINEMATE_BENCH_PEERS")
    if not python:
        return {}
    known = [np.flatnonzero(np.isfinite(one.logs)) for one in series]
    values = [one.logs[at].tolist() for one, at in zip(series, known, strict=True)]
    done = subprocess.run([python, "-c", _PEERS], input=json.dumps(values), capture_output=True, text=True, check=True)
    found: dict[str, list[list[int]]] = json.loads(done.stdout)
    return {
        name: [tuple(int(at[c]) for c in calls) for calls, at in zip(of_all, known, strict=True)]
        for name, of_all in found.items()
    }


def measure(rounds: int) -> list[str]:
    """The table.  Series are the same in every round, so that there is one."""
    del rounds
    lines = [
        f"  {EACH} series of {REVISIONS} revisions each; noise {100 * NOISE:g} %, steps of {100 * STEP:g} %; "
        f"at the very revision / within {NEAR} of it / series with a false step",
    ]
    totals: dict[str, list[int]] = {}
    planted = 0
    rows: list[tuple[str, dict[str, Score], int]] = []
    for kind in KINDS:
        series = [simulated(kind, number) for number in range(EACH)]
        calls = {"linemate": [called(one) for one in series], **_of_peers(series)}
        scores = {name: score(series, found) for name, found in calls.items()}
        steps = sum(len(one.places) for one in series)
        planted += steps
        rows.append((f"{kind.name}, {'stepped' if kind.stepped else 'no step'}", scores, steps))
        for name, one in scores.items():
            total = totals.setdefault(name, [0, 0, 0])
            for at, value in enumerate((one.exact, one.near, one.alarms)):
                total[at] += value
    rows.append(("all", {name: Score(*total) for name, total in totals.items()}, planted))
    names = list(rows[0][1])
    lines.append("  " + f"{'':<32}" + "".join(f"{name:>18}" for name in names))
    for label, scores, steps in rows:
        cells = (f"{s.exact}/{s.near}/{s.alarms}" if steps else f"-/-/{s.alarms}" for s in scores.values())
        lines.append(f"  {f'{label} ({steps})':<32}" + "".join(f"{cell:>18}" for cell in cells))
    return lines
