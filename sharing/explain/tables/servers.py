"""What pgbench and redis-benchmark print at the end of a run; several runs in one text are repetitions.

Owns these two formats.  Latencies are in milliseconds, as both print them.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import MAX_LINE, Labels, Measurement
from sharing.explain.tables.figures import number
from sharing.model.errors import Unrecognized

TEST = "test"
CLIENTS = "clients"
_DIGITS = r"\d{1,15}(?:\.\d{1,9})?"
_PGBENCH_LEVEL = re.compile(r"number of (clients|threads): (\d{1,9})")
# With the time of connecting, older versions print a second rate, which is another figure.
_PGBENCH_RATE = re.compile(rf"tps = ({_DIGITS})(?: \((?!including conn)[a-z ]{{1,60}}\))?")
_PGBENCH_LATENCY = re.compile(rf"latency average(?: =|:) ({_DIGITS}) ms")
_REDIS_START = re.compile(r"====== (.{1,200}) ======")
_REDIS_CLIENTS = re.compile(r"\s*(\d{1,9}) parallel clients")
_REDIS_RATE = re.compile(rf"\s*(?:throughput summary: )?({_DIGITS}) requests per second")
_REDIS_QUIET = re.compile(rf"([^:]{{1,200}}): ({_DIGITS}) requests per second, p50=({_DIGITS}) msec")
_REDIS_LATENCIES = re.compile(r"\s*latency summary \(msec\):")
RATE = "requests per second"


def read_pgbench(text: str, path: str) -> tuple[Measurement, ...]:
    """Transactions a second without connecting, and the mean latency, by clients and threads.  Raises Unrecognized."""
    out: list[Measurement] = []
    levels: dict[str, str] = {}
    first = 0
    for at, line in enumerate(text.splitlines(), 1):
        line = line.strip() if len(line) <= MAX_LINE else ""
        if level := _PGBENCH_LEVEL.fullmatch(line):
            levels[level[1]] = level[2]
            continue
        for metric, pattern in (("tps", _PGBENCH_RATE), ("latency average (ms)", _PGBENCH_LATENCY)):
            if levels and (found := pattern.fullmatch(line)):
                first = first or at
                out.append(Measurement(metric, float(found[1]), tuple(levels.items()), at, first))
    if not any(measured.metric == "tps" for measured in out):
        raise Unrecognized(path, "no report of pgbench")
    return tuple(out)


def read_redis(text: str, path: str) -> tuple[Measurement, ...]:
    """Requests a second and latencies, by test and parallel clients.  Raises Unrecognized."""
    out: list[Measurement] = []
    labels: dict[str, str] = {}
    columns: list[str] | None = None  # of latencies, in the line behind this one
    first = 0
    for at, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_LINE:
            continue
        if start := _REDIS_START.fullmatch(line.strip()):
            labels, columns = {TEST: start[1]}, None
        elif clients := _REDIS_CLIENTS.fullmatch(line):
            labels = {**labels, CLIENTS: clients[1]}
        elif _REDIS_LATENCIES.fullmatch(line):
            columns = []
        elif columns == []:
            columns = line.split()
        else:
            found = _redis_figures(line, labels, columns)
            columns = None
            first = first or (at if found else 0)
            out += [measured.at(at, first) for measured in found]
    if not out:
        raise Unrecognized(path, "no report of redis-benchmark")
    return tuple(out)


def _redis_figures(line: str, labels: dict[str, str], columns: list[str] | None) -> list[Measurement]:
    """Those of one line; ``columns`` name latencies where the line in front does."""
    if quiet := _REDIS_QUIET.fullmatch(line.strip()):
        under: Labels = ((TEST, quiet[1].strip()),)
        return [Measurement(RATE, float(quiet[2]), under), Measurement("latency p50 (ms)", float(quiet[3]), under)]
    if TEST not in labels:
        return []
    under = tuple(labels.items())
    if rate := _REDIS_RATE.fullmatch(line):
        return [Measurement(RATE, float(rate[1]), under)]
    values = [number(cell) for cell in line.split()] if columns else []
    if columns is None or len(values) != len(columns):
        return []
    return [
        Measurement(f"latency {column} (ms)", value, under)
        for column, value in zip(columns, values, strict=True)
        if value is not None
    ]
