"""Measurements from text: one reader per format, text in, one row per measured value out.

Owns the registry: formats are tried in order, "not mine" lets the next one try, "malformed" stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sharing.explain.tables import bordered, delimited, queries, revisions, stacked, strace, sysbench, vmstat
from sharing.explain.tables.base import Measurement
from sharing.model.errors import Unrecognized


@dataclass(frozen=True, slots=True)
class Format:
    """``read`` takes (text, path for messages); raises Unrecognized or Malformed."""

    name: str
    read: Callable[[str, str], tuple[Measurement, ...]]


FORMATS = (
    Format("JSON", delimited.read_records),
    Format("revision log with results", revisions.read),
    Format("sysbench", sysbench.read),
    Format("queries per second", queries.read),
    Format("vmstat", vmstat.read),
    Format("strace -c", strace.read),
    Format("bordered table", bordered.read),
    Format("stacked table", stacked.read),
    Format("CSV", delimited.read_lines),
)


def read_measurements(text: str, path: str) -> tuple[Measurement, ...]:
    """The measurements of a text in whatever format it is.  Raises Unrecognized, or the reader's Malformed."""
    for known in FORMATS:
        try:
            return known.read(text, path)
        except Unrecognized:
            continue
    names = ", ".join(known.name for known in FORMATS)
    raise Unrecognized(path, f"no table of measurements: none of {names}")
