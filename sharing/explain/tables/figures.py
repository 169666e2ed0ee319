"""Figures as people and tools write them: separators, units, missing ones.

Owns what a cell of a table means.  Times are seconds and sizes bytes, so that one build's ``850 us`` and the other's
``1.2 ms`` can be compared.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "min": 60.0}
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"k": 2.0**10, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_MISSING = frozenset(
    ("", "na", "n/a", "#n/a", "nan", "nil", "null", "none", "-", "--", "---", "–", "—", "?", ".", "*", "fail", "failed",
     "error", "timeout")
)  # fmt: skip
_FIGURE = re.compile(
    r"[~≈]? ?(?P<digits>[-+\u2212]?(?=\.?\d)(?:\d{1,3}(?:(?P<mark>[,'_ \u00a0\u202f])\d{3}(?:(?P=mark)\d{3})*)|\d+)?"
    r"(?:\.\d+)?(?:[eE][-+]?\d{1,3})?)"
    r"(?: ?(?:±|\+/?-) ?\d+(?:[.,]\d+)?%?)?"
    r" ?(?:(?P<time>ns|[uµμ]s|ms|s(?:ecs?)?|min)|(?P<scale>[kKMGT])?(?P<bytes>i?B)? ?(?P<rate>"
    r"/ ?s(?:ec)?|ps|(?:[a-z]{1,12} ?(?:/ ?s(?:ec)?|per sec(?:ond)?))|per sec(?:ond)?|tps|qps|rps|iops|ops)?|%)"
)
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+")


@dataclass(frozen=True, slots=True)
class Figure:
    """``unit`` is "s" of a time, "B" of a size, else ""."""

    value: float
    unit: str = ""


def figure(text: str) -> Figure | None:
    """``1,234.5``, ``6k``, ``12%``, ``1.2 ms``, ``3 MiB``, ``10k ops/s``, ``~42``, ``12.3 ± 0.4``; else None."""
    text = text.strip()
    found = _FIGURE.fullmatch(text)
    if found is None:
        return None
    digits = found["digits"].replace(found["mark"] or ",", "").replace("\N{MINUS SIGN}", "-")
    scale = found["scale"] or ""
    binary = (found["bytes"] or "").startswith("i")
    if binary and not scale:
        return None
    factor = SECONDS[found["time"]] if found["time"] else _BINARY[scale] if binary else _SCALES[scale]
    value = float(digits) * factor
    if not math.isfinite(value):
        return None
    return Figure(value, "s" if found["time"] else "B" if found["bytes"] and not found["rate"] else "")


def number(text: str) -> float | None:
    """The value of a figure; None for what is none."""
    found = figure(text)
    return None if found is None else found.value


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no figure."""
    return text.strip().lower() in _MISSING


def column_figures(cells: list[str]) -> list[Figure | None] | None:
    """The figures of a column, None for those that are missing; None if it holds anything else, or nothing."""
    present = [cell.strip() for cell in cells if not is_missing(cell)]
    if not present:
        return None
    found = {cell: figure(cell) for cell in present}
    if any(value is None for value in found.values()):
        # With commas for points, all of the column's fractions are written so.
        if not all(_DECIMAL_COMMA.fullmatch(cell) or (cell.isdigit() and len(cell) < 16) for cell in present):
            return None
        found = {cell: Figure(float(cell.replace(".", "").replace(",", "."))) for cell in present}
    return [found.get(cell.strip()) for cell in cells]
