"""What every reader of measurements returns, and how columns become labels or values.

Owns the tidy form: one value a row, with the labels under which it was measured.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sharing.model.errors import Malformed

MAX_VALUES = 1_000_000
# Columns that say under which conditions something was measured, although they hold numbers.
_LABELS = re.compile(
    r"rev(no|ision)?|commit|changeset|levels?|c|con(currency|nections?)?|threads?|clients?|users?|run|iteration|rep(etition|eat)?|round|trial|seed"
    r"|name|config(_name)?|benchmark|test|build|version|date|time(stamp)?|machine|host",
    re.IGNORECASE,
)
# Labels that only tell repetitions apart, if numbers, and those of when something was measured.
_REPETITION = re.compile(r"run|iteration|rep(etition|eat)?|round|trial|seed", re.IGNORECASE)
_WHEN = re.compile(r"time(stamp)?|date", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(?=\.?\d)(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d{1,3})?(?P<unit>[kKMG%])?")
_UNITS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "%": 1.0, None: 1.0}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value.  ``labels`` are (column, text), in the order of the table; repetitions have equal labels."""

    metric: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()

    def label(self, name: str) -> str:
        """The text of a label, "" without it."""
        return next((text for key, text in self.labels if key == name), "")


def is_label(column: str) -> bool:
    """Whether a column of numbers says how something was measured rather than what."""
    return _LABELS.fullmatch(column.strip()) is not None


def repetition_labels(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Labels that tell repetitions apart and are no condition: a numbered ``run``, a date."""
    counted: dict[str, bool] = {}
    for measured in measurements:
        for name, text in measured.labels:
            if _REPETITION.fullmatch(name) and counted.get(name, True):
                counted[name] = number(text) is not None
            elif _WHEN.fullmatch(name):
                counted[name] = True
    return tuple(name for name, known in counted.items() if known)


def number(text: str) -> float | None:
    """``1,234.5``, ``6k``, ``12%`` as a number; None for what is none."""
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    if found is None or not any(c.isdigit() for c in text):
        return None
    value = float(text.rstrip("kKMG%").replace(",", "")) * _UNITS[found["unit"]]
    return value if math.isfinite(value) else None


def from_columns(header: Sequence[str], rows: Iterable[Sequence[str]], path: str) -> tuple[Measurement, ...]:
    """Measurements of a table: columns of numbers are values, all others and known conditions are labels.

    Raises Malformed for a row of another length than the header, and for a table without any value.
    """
    table = [list(row) for row in rows]
    for count, row in enumerate(table):
        if len(row) != len(header):
            raise Malformed(path, None, f"row {count + 1} has {len(row)} cells, the header {len(header)}")
    if len(table) * len(header) > MAX_VALUES:
        raise Malformed(path, None, f"more than {MAX_VALUES} cells")
    numeric = [
        bool(name.strip()) and not is_label(name) and bool(table) and all(number(row[i]) is not None for row in table)
        for i, name in enumerate(header)
    ]
    if not any(numeric):
        raise Malformed(path, None, "the table has no column of measured numbers")
    out = []
    for row in table:
        # A column without a name numbers the rows.
        named = [(h.strip(), cell.strip()) for h, cell, n in zip(header, row, numeric, strict=True) if not n]
        labels = tuple((name, text) for name, text in named if name)
        for name, cell, is_value in zip(header, row, numeric, strict=True):
            value = number(cell)
            if is_value and value is not None:
                out.append(Measurement(name.strip(), value, labels))
    return tuple(out)


def grouped(
    measurements: Iterable[Measurement], metric: str
) -> Mapping[tuple[tuple[str, str], ...], tuple[float, ...]]:
    """Repetitions of one metric by their labels."""
    out: dict[tuple[tuple[str, str], ...], list[float]] = defaultdict(list)
    for measured in measurements:
        if measured.metric == metric:
            out[measured.labels].append(measured.value)
    return {labels: tuple(values) for labels, values in out.items()}
