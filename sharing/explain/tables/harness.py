"""What benchmark harnesses print: the lines of ``go test -bench``, and the report of wrk.

Owns these two formats.  Each line of the first is a repetition; a run of wrk is one, and further files are others.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import MAX_LINE, Measurement
from sharing.explain.tables.figures import figure, number
from sharing.model.errors import Unrecognized

_GO = re.compile(r"(?P<name>Benchmark\S{1,200})\s+\d{1,15}(?P<figures>(?:\s+[\d.eE+-]{1,30} \S{1,40})+)\s*")
_GO_FIGURE = re.compile(r"([\d.eE+-]{1,30}) (\S{1,40})")
_WRK_START = re.compile(r"Running \S+ test @ (?P<url>\S{1,300})")
_WRK_LEVELS = re.compile(r"\s*(?P<threads>\d{1,9}) threads? and (?P<connections>\d{1,9}) connections?")
_WRK_LATENCY = re.compile(r"\s*Latency\s+(\S{1,30})\s+\S{1,30}\s+\S{1,30}(?:\s+\S{1,30})?\s*")
_WRK_PERCENTILE = re.compile(r"\s*(\d{2}(?:\.\d{1,4})?)%\s+(\d\S{1,30})\s*")
_WRK_TOTAL = re.compile(r"((?:Requests|Transfer)/sec):\s+(\d\S{0,30})\s*")


def read_go(text: str, path: str) -> tuple[Measurement, ...]:
    """The figures of ``go test -bench`` by benchmark; the metric is their unit.  Raises Unrecognized."""
    out: list[Measurement] = []
    first = 0
    for at, line in enumerate(text.splitlines(), 1):
        found = _GO.fullmatch(line) if len(line) <= MAX_LINE and line.startswith("Benchmark") else None
        for digits, unit in _GO_FIGURE.findall(found["figures"]) if found else ():
            value = number(digits)
            if found and value is not None:
                first = first or at
                out.append(Measurement(unit, value, (("benchmark", found["name"]),), at, first))
    if not out:
        raise Unrecognized(path, "no line of go test -bench")
    return tuple(out)


def read_wrk(text: str, path: str) -> tuple[Measurement, ...]:
    """Requests and bytes a second, mean latency, its percentiles, by threads and connections.  Raises Unrecognized."""
    out: list[Measurement] = []
    labels: tuple[tuple[str, str], ...] | None = None
    first = 0
    for at, line in enumerate(text.splitlines(), 1):
        if len(line) > MAX_LINE:
            continue
        if _WRK_START.match(line):
            labels, first = (), first or at
        elif labels is not None and (levels := _WRK_LEVELS.fullmatch(line)):
            labels = tuple(levels.groupdict().items())
        elif labels is not None:
            for metric, digits in _wrk_figures(line):
                value = figure(digits)
                if value is not None:
                    out.append(Measurement(metric, value.value, labels, at, first))
    if not out:
        raise Unrecognized(path, "no report of wrk")
    return tuple(out)


def _wrk_figures(line: str) -> list[tuple[str, str]]:
    if found := _WRK_TOTAL.fullmatch(line):
        return [(found[1], found[2])]
    if found := _WRK_LATENCY.fullmatch(line):
        return [("Latency", found[1])]
    if found := _WRK_PERCENTILE.fullmatch(line):
        return [(f"Latency {found[1]}%", found[2])]
    return []
