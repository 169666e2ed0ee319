"""What sysbench prints at the end of a run, 0.4 to 1.0; several runs in one text are repetitions.

Owns that format only.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Labels, Measurement
from sharing.model.errors import Unrecognized

# "    transactions:                        67852  (94.23 per sec.)"; in a list, the name of the run stands in front.
_RATE = re.compile(
    r"^(?:\s*|(?P<run>[^\s#][^:\t]{0,60}?)(?:\t\s*|\s{2,}))"
    r"(?P<name>transactions|deadlocks|ignored errors|read/write requests|other operations|queries|reconnects):\s+"
    r"(?P<count>\d{1,15})\s+\((?P<rate>\d{1,15}(?:\.\d{1,9})?) per sec\.\)\s*$"
)
_THREADS = re.compile(r"^\s*Number of threads:\s*(?P<threads>\d{1,9})\s*$")
_LATENCY = re.compile(
    r"^\s*(?P<name>min|avg|max|(?:approx\.\s+)?\d\d(?:th)?\s+percentile):\s+(?P<ms>\d{1,12}(?:\.\d{1,9})?)(?:ms)?\s*$"
)
_HEADINGS = re.compile(r"^\s*(?P<label>[^:\n]{1,80}):\s*$")


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """Rates per second ("transactions", "read/write requests", ...) and latencies in ms.

    ``threads`` labels a run where it says so, ``run`` a heading in front of it ("6.0.4:").  Raises Unrecognized.
    """
    out: list[Measurement] = []
    threads = heading = ""
    # All runs of a text are one table: several runs are repetitions.
    table = 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _THREADS.match(line):
            threads = found["threads"]
        elif found := _RATE.match(line):
            table = table or number
            labels = _labels(threads, (found["run"] or heading).strip())
            out.append(Measurement(found["name"], float(found["rate"]), labels, number, table))
        elif found := _LATENCY.match(line):
            name = re.sub(r"\s+", " ", found["name"].removeprefix("approx.").strip())
            labels = _labels(threads, heading)
            out.append(Measurement(f"latency {name} (ms)", float(found["ms"]), labels, number, table or number))
        elif (found := _HEADINGS.match(line)) and not _own_heading(found["label"].strip().lower()):
            heading = found["label"].strip()
    if not any(m.metric in ("transactions", "queries", "read/write requests") for m in out):
        raise Unrecognized(path, "no sysbench output")
    return tuple(out)


def _labels(threads: str, heading: str) -> Labels:
    return tuple((k, v) for k, v in (("run", heading), ("threads", threads)) if v)


def _own_heading(label: str) -> bool:
    """A heading within sysbench's report."""
    return label.startswith(("running the test with", "initializing")) or label in {
        "sql statistics", "oltp test statistics", "queries performed", "general statistics", "test execution summary",
        "per-request statistics", "threads fairness", "latency (ms)", "response time", "throughput",
    }  # fmt: skip
