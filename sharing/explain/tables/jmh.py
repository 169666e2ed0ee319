"""What JMH says of benchmarks in Java: its table of text, and the records of ``-rf json``.

Owns these two forms.  The metric is the unit of the score, as ``ops/s`` or ``ns/op``; the mode and the parameters are
conditions.
"""

from __future__ import annotations

import re
from typing import Any

from sharing.explain.tables.base import MAX_LINE, Labels, Measurement
from sharing.explain.tables.figures import number
from sharing.explain.tables.timings import finite, labels_of
from sharing.model.errors import Unrecognized

MODES = ("thrpt", "avgt", "sample", "ss")
BENCHMARK, MODE, THREADS = "benchmark", "mode", "threads"
_PARAMETER = re.compile(r"\(([^()\s]{1,80})\)")
_COMMA = re.compile(r"\d{1,15},\d{3}")  # a fraction in other languages: JMH parts no thousands


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """The scores of its table, by benchmark, parameters and mode.  Raises Unrecognized."""
    out: list[Measurement] = []
    names: list[str] | None = None
    first = 0
    for at, line in enumerate(text.splitlines(), 1):
        cells = line.split() if len(line) <= MAX_LINE else []
        if cells[:1] == ["Benchmark"] and cells[-1] == "Units" and "Score" in cells and "Mode" in cells:
            names, first = _PARAMETER.findall(line), at
        elif names is not None and (found := _row(cells, names)) is not None:
            out.append(found.at(at, first))
        else:
            names = None  # the table has ended
    if not out:
        raise Unrecognized(path, "no table of JMH")
    return tuple(out)


def _row(cells: list[str], names: list[str]) -> Measurement | None:
    """A score: behind the mode stand how often, the score, its error and the unit, of which only two always do."""
    mode = 1 + len(names)
    if len(cells) < mode + 3 or cells[mode] not in MODES:
        return None
    figures = cells[mode + 1 : -1]
    figures = figures[: figures.index("±")] if "±" in figures else figures
    told = figures[-1] if figures else ""
    score = number(told.replace(",", ".") if _COMMA.fullmatch(told) else told)
    if score is None:
        return None
    parameters = zip(names, cells[1:mode], strict=True)
    return Measurement(cells[-1], score, ((BENCHMARK, cells[0]), *parameters, (MODE, cells[mode])))


def is_jmh(record: dict[str, Any]) -> bool:
    """Whether a record of JSON is one of JMH's."""
    return BENCHMARK in record and isinstance(record.get("primaryMetric"), dict)


def of_jmh(record: dict[str, Any]) -> list[Measurement]:
    """The score of each fork: iterations of one process agree better with each other than with those of another."""
    primary = record["primaryMetric"]
    labels: Labels = (
        (BENCHMARK, str(record[BENCHMARK])),
        *labels_of(record.get("params")),
        (MODE, str(record.get(MODE, ""))),
    )
    if record.get(THREADS, 1) != 1:
        labels = (*labels, (THREADS, str(record[THREADS])))
    forks = primary.get("rawData")
    scores = [_mean(fork) for fork in forks] if isinstance(forks, list) else []
    known = [score for score in scores if score is not None]
    if not known:
        score = _mean([primary.get("score")])
        known = [score] if score is not None else []
    return [Measurement(str(primary.get("scoreUnit", "score")), value, labels) for value in known]


def _mean(values: object) -> float | None:
    known = [finite(value) for value in values] if isinstance(values, list) else []
    figures = [value for value in known if value is not None]
    return finite(sum(figures) / len(figures)) if figures and len(figures) == len(known) else None
