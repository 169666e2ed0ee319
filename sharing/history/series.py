"""Measurements of a metric as a series: revisions in order, one column for each set of conditions.

Owns the reading of labels as revision, condition or repetition.  The tables themselves are ``sharing.explain.tables``'.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain.tables.base import Labels, Measurement, is_level
from sharing.explain.tables.figures import number
from sharing.knowledge.metrics import is_less_better
from sharing.model.errors import LinemateError

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

REVISION_LABELS = ("revision", "rev", "revno", "commit", "changeset", "version", "release", "build", "run")
_VERSION = re.compile(r"\d{1,18}(?:\.\d{1,18})*")  # 1.10 follows 1.9
# Labels that only tell repetitions apart.
_REPETITION = re.compile(r"run|iteration|rep(etition|eat)?|round|trial|seed|time(stamp)?|date", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Series:
    """``values[revision][cell]`` are repetitions, none where it was not measured.  Revisions are oldest first.

    ``less_is_better`` None: nobody knows.
    """

    metric: str
    revisions: tuple[str, ...]
    cells: tuple[Labels, ...]
    values: tuple[tuple[tuple[float, ...], ...], ...]
    less_is_better: bool | None = False

    def logs(self) -> Floats:
        """Logarithms of the medians, revisions by cells; NaN where nothing was measured."""
        out = np.full((len(self.revisions), len(self.cells)), np.nan)
        for i, row in enumerate(self.values):
            for j, repeated in enumerate(row):
                if repeated:
                    out[i, j] = np.log(np.median(repeated))
        return out

    def repeated_logs(self) -> tuple[Floats, tuple[int, ...]]:
        """One row for each repetition, revision after revision, and how many rows each revision has."""
        rows: list[list[float]] = []
        counts = []
        for row in self.values:
            most = max((len(repeated) for repeated in row), default=0)
            counts.append(most)
            for k in range(most):
                rows.append([float(np.log(cell[k])) if k < len(cell) else float("nan") for cell in row])
        return np.array(rows, np.float64).reshape(len(rows), len(self.cells)), tuple(counts)


def from_measurements(
    measurements: Sequence[Measurement],
    metric: str = "",
    *,
    revision: str = "",
    newest_first: bool = False,
    less_is_better: bool | None = None,
) -> Series:
    """The series of a metric, by default the first of the table.

    ``revision`` names the label along which it runs, by default the first known one.  Numbered revisions are sorted,
    all others are taken in the order in which they first come.  Raises LinemateError where that leaves nothing, and for
    values that are not above 0: changes are ratios.
    """
    metrics = list(dict.fromkeys(m.metric for m in measurements))
    if metric and metric not in metrics:
        raise LinemateError(f"no metric '{metric}' in the table: there are {_listed(metrics)}")
    chosen = [m for m in measurements if m.metric == (metric or metrics[0])]
    along = _along(chosen, revision)
    chosen = [m for m in chosen if m.label(along)]
    if not chosen:
        raise LinemateError(f"no row of the table has a '{along}': nothing says which revision was measured")
    order = _ordered(dict.fromkeys(m.label(along) for m in chosen), newest_first=newest_first)
    dropped = _repetition_labels(chosen, along)
    cells: dict[Labels, int] = {}
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for measured in chosen:
        if not measured.value > 0:
            raise LinemateError(f"{measured.metric} is {measured.value:g} at {measured.label(along)}: not above 0")
        labels = tuple((k, v) for k, v in measured.labels if k != along and k not in dropped)
        values[measured.label(along), cells.setdefault(labels, len(cells))].append(measured.value)
    rows = tuple(tuple(tuple(values.get((r, j), ())) for j in range(len(cells))) for r in order)
    less = is_less_better(metric or metrics[0]) if less_is_better is None else less_is_better
    return Series(metric or metrics[0], tuple(order), tuple(cells), rows, less)


def _along(measurements: Iterable[Measurement], wanted: str) -> str:
    names = list(dict.fromkeys(name for m in measurements for name, _ in m.labels))
    if wanted:
        if wanted not in names:
            raise LinemateError(f"no column '{wanted}' in the table: there are {_listed(names)}")
        return wanted
    known = {name.lower(): name for name in reversed(names)}
    for name in REVISION_LABELS:
        if name in known:
            return known[name]
    raise LinemateError(f"the table names no revisions: there are {_listed(names)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) or "none"


def _ordered(revisions: Iterable[str], *, newest_first: bool) -> list[str]:
    listed = list(revisions)
    if all(_VERSION.fullmatch(text) for text in listed):
        return sorted(listed, key=lambda text: [int(part) for part in text.split(".")])
    numbers = {text: value for text in listed if (value := number(text.removeprefix("r"))) is not None}
    if len(numbers) == len(listed):
        return sorted(listed, key=lambda text: numbers[text])
    return listed[::-1] if newest_first else listed


def _repetition_labels(measurements: Sequence[Measurement], along: str) -> set[str]:
    """Labels that are no conditions: those of repetitions, and those that say again which revision it is."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for measured in measurements:
        for name, text in measured.labels:
            seen[name][measured.label(along)].add(text)
    out = set()
    for name, by_revision in seen.items():
        texts = [next(iter(found)) for found in by_revision.values() if len(found) == 1]
        same = len(texts) == len(by_revision) and len(set(texts)) == len(texts) > 1
        if name != along and (_REPETITION.fullmatch(name) or (same and not is_level(name))):
            out.add(name)
    return out
