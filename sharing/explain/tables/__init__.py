"""Measurements from text: one reader per format, text in, one row per measured value out.

Owns the registry, and what is a table of a text that holds several.  A file in one piece (JSON, CSV) is tried where no
table with a form of its own is found; "not mine" lets the next one try, "malformed" stops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sharing.explain.tables import (
    bordered,
    delimited,
    harness,
    jmh,
    named,
    queries,
    revisions,
    servers,
    stacked,
    strace,
    summary,
    sysbench,
    vmstat,
)
from sharing.explain.tables.base import Measurement
from sharing.model.errors import Malformed, Unrecognized

MAX_HEADING = 60  # characters
MAX_LINES = 500_000  # every reader looks at each


@dataclass(frozen=True, slots=True)
class Format:
    """``read`` takes (text, path for messages); raises Unrecognized or Malformed.

    ``whole``: the text is nothing but this.  Others are looked for among whatever else a document holds.
    """

    name: str
    read: Callable[[str, str], tuple[Measurement, ...]]
    whole: bool = False


FORMATS = (
    Format("JSON", delimited.read_records, whole=True),
    Format("revision log with results", revisions.read),
    Format("go test -bench", harness.read_go),
    Format("wrk", harness.read_wrk),
    Format("JMH", jmh.read),
    Format("pgbench", servers.read_pgbench),
    Format("redis-benchmark", servers.read_redis),
    Format("sysbench", sysbench.read),
    Format("queries per second", queries.read),
    Format("vmstat", vmstat.read),
    Format("strace -c", strace.read),
    Format("bordered table", bordered.read),
    Format("stacked table", stacked.read),
    Format("list of figures", summary.read),
    Format("CSV", delimited.read_lines, whole=True),
    Format("one column", named.read_bare, whole=True),
    Format("figures behind names", named.read_named, whole=True),
)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a text.  ``heading`` is the line of text in front of it, ``name`` its end, or the format."""

    format: str
    heading: str
    measurements: tuple[Measurement, ...]

    @property
    def name(self) -> str:
        words = self.heading or self.format
        return words if len(words) <= MAX_HEADING else "…" + words[1 - MAX_HEADING :]

    @property
    def line(self) -> int:
        return self.measurements[0].table

    @property
    def last(self) -> int:
        return max(measured.line for measured in self.measurements)


def read_tables(text: str, path: str) -> tuple[Table, ...]:
    """The tables of a text in the order in which they stand.  Raises Unrecognized or Malformed."""
    lines = text.splitlines()
    out: list[Table] = []
    for known in FORMATS:
        if known.whole and out:
            continue
        if not known.whole and len(lines) > MAX_LINES:
            raise Malformed(path, None, f"more than {MAX_LINES:,} lines: name a file with the table alone")
        try:
            found = known.read(text, path)
        except Unrecognized:
            continue
        if known.whole:
            return (Table(known.name, "", found),)
        tables: dict[int, list[Measurement]] = defaultdict(list)
        for measured in found:
            tables[measured.table].append(measured)
        out += [Table(known.name, _heading(lines, at), tuple(rows)) for at, rows in tables.items()]
    if not out:
        names = ", ".join(known.name for known in FORMATS)
        raise Unrecognized(path, f"no table of measurements: none of {names}")
    return tuple(sorted(out, key=lambda table: table.line))


def read_measurements(text: str, path: str) -> tuple[Measurement, ...]:
    """The measurements of all tables of a text.  Raises Unrecognized, or a reader's Malformed."""
    return tuple(measured for table in read_tables(text, path) for measured in table.measurements)


def _heading(lines: Sequence[str], first: int) -> str:
    """The nearest line of words in front of a line (from 1)."""
    for at in range(first - 2, -1, -1):
        words = lines[at].strip(" \t:#*|-=+")
        if any(c.isalpha() for c in words):
            return words
    return ""
