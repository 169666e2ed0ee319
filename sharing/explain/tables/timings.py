"""Results of hyperfine (JSON, CSV) and of Google Benchmark (JSON): what their fields mean.

Owns these formats' fields.  Statistics of repetitions (means beside ``times``, aggregates) are no measurements, and
numbers of repetitions no figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sharing.explain.tables.base import Labels, Measurement
from sharing.explain.tables.figures import SECONDS, number
from sharing.model.errors import Malformed

COMMAND = "command"
HYPERFINE = ("command", "mean", "stddev", "median", "user", "system", "min", "max")  # columns of its CSV
_SECONDS = "seconds"
# Of a record of Google Benchmark: what it is called, what says how often it ran, what is a label.
_NAME = "name"
_COUNTS = frozenset(
    ("family_index", "per_family_instance_index", "repetitions", "repetition_index", "iterations", "threads")
)


def is_hyperfine(record: dict[str, Any]) -> bool:
    """Whether a record of JSON is one of hyperfine's."""
    return COMMAND in record and isinstance(record.get("times"), list)


def of_hyperfine(record: dict[str, Any]) -> list[Measurement]:
    """Each run's seconds, by command and parameters."""
    labels: Labels = ((COMMAND, str(record[COMMAND])), *labels_of(record.get("parameters")))
    return [Measurement(_SECONDS, value, labels) for value in map(finite, record["times"]) if value is not None]


def of_hyperfine_table(rows: Sequence[tuple[int, Sequence[str]]], path: str) -> tuple[Measurement, ...]:
    """The mean of each row of its CSV, by command and parameters; the first row is the header.  Raises Malformed."""
    (first, header), *others = rows
    out = []
    for at, cells in others:
        if len(cells) != len(header):
            raise Malformed(path, None, f"line {at} has {len(cells)} cells, the header {len(header)}")
        row = dict(zip(header, cells, strict=True))
        value = number(row["mean"])
        if value is not None:
            kept = {k.removeprefix("parameter_"): v for k, v in row.items() if k == COMMAND or k not in HYPERFINE}
            out.append(Measurement(_SECONDS, value, tuple(kept.items()), at, first))
    if not out:
        raise Malformed(path, None, "no row has a mean")
    return tuple(out)


def is_google(record: dict[str, Any]) -> bool:
    """Whether a record of JSON is one of Google Benchmark's."""
    return _NAME in record and ("run_type" in record or {"time_unit", "real_time"} <= record.keys())


def of_google(record: dict[str, Any]) -> list[Measurement]:
    """Times in seconds, rates and counters of one repetition, by name and threads; nothing of an aggregate."""
    if record.get("run_type") == "aggregate":
        return []
    factor = SECONDS.get(str(record.get("time_unit")), 1.0)
    labels: Labels = ((_NAME, str(record[_NAME])),)
    if record.get("threads", 1) != 1:
        labels = (*labels, ("threads", str(record["threads"])))
    out = []
    for key, given in record.items():
        value = None if key in _COUNTS else finite(given)
        if value is not None:
            out.append(Measurement(key, value * (factor if key in ("real_time", "cpu_time") else 1.0), labels))
    return out


def labels_of(parameters: object) -> Labels:
    """The parameters of a benchmark in a document of JSON, none where that is no table."""
    return tuple((str(k), str(v)) for k, v in parameters.items()) if isinstance(parameters, dict) else ()


def finite(value: object) -> float | None:
    """The number that a value of a JSON document is, None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
