"""Figures that a program prints behind their names, "packets 600 mpps: 56.8" or "p99 = 3 ms"; a file of bare numbers.

Owns these two forms, which are taken only of a text that is no other table.
"""

from __future__ import annotations

import re
from collections import Counter

from sharing.explain.tables.base import Measurement
from sharing.explain.tables.columns import VALUE, from_columns
from sharing.explain.tables.figures import SECONDS, is_missing, number
from sharing.knowledge.metrics import Kind, kind_of_metric
from sharing.model.errors import Unrecognized

MAX_LINE = 160  # characters
_NO_RESULT = (Kind.UNKNOWN, Kind.RESOURCES)  # "memory: 40 GB" describes a machine as often as a run
_WORD = r"[A-Za-z_][\w%./()-]{0,39}"
_NAME = re.compile(rf"(?:{_WORD} ){{0,4}}{_WORD}$")


def read_named(text: str, path: str) -> tuple[Measurement, ...]:
    """Figures by name: those that say which way is better, and those that come again.  Raises Unrecognized."""
    found: list[Measurement] = []
    for at, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if len(line) <= MAX_LINE and (made := _of_line(line, at)) is not None:
            found.append(made)
    times = Counter(measured.metric for measured in found)
    out = tuple(m for m in found if times[m.metric] > 1 or kind_of_metric(m.metric) not in _NO_RESULT)
    if not out:
        raise Unrecognized(path, "no figures behind names")
    return tuple(m.at(m.line, out[0].line) for m in out)


def _of_line(line: str, at: int) -> Measurement | None:
    for mark in (":", "="):
        before, found, behind = line.rpartition(mark)
        name = _NAME.search(before.rstrip())
        digits, _, unit = behind.strip().partition(" ")
        value = number(digits)
        if found and name is not None and value is not None and " " not in unit.strip():
            return _measured(name[0], value, unit.strip(), at)
    return None


def _measured(name: str, value: float, unit: str, at: int) -> Measurement:
    """A time is in seconds; a unit is named where the name alone says nothing."""
    if unit in SECONDS:
        return Measurement(f"{name} (s)", value * SECONDS[unit], (), at)
    known = not unit or kind_of_metric(name) is not Kind.UNKNOWN
    return Measurement(name if known else f"{name} ({unit})", value, (), at)


def read_bare(text: str, path: str) -> tuple[Measurement, ...]:
    """One column of figures without a heading: repetitions of what nobody names.  Raises Unrecognized."""
    lines = [(at, line.strip()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) < 2 or any(number(cell) is None and not is_missing(cell) for _, cell in lines):
        raise Unrecognized(path, "not one figure a line")
    return from_columns([VALUE], ([cell] for _, cell in lines), path, [0, *(at for at, _ in lines)])
