"""One line a run: "64 threads, time spent: 60s, queries executed: 9326530, qps: 155442, ...".

Owns that format only: comma-separated ``name: value`` pairs and ``N threads``.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Measurement
from sharing.model.errors import Unrecognized

_LINE = re.compile(r"^\s*(?P<threads>\d{1,9}) threads?, (?P<rest>.*\bqps: \d.*)$")
_PAIR = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9 ]{0,40}): (?P<value>\d{1,15}(?:\.\d{1,9})?)(?P<unit>s?)")


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """Every pair of every such line, labelled with its threads.  Raises Unrecognized."""
    out = []
    table = last = 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _LINE.match(line):
            table, last = (table if last == number - 1 else number), number
            labels = (("threads", found["threads"]),)
            out += [
                Measurement(p["name"].strip(), float(p["value"]), labels, number, table)
                for p in _PAIR.finditer(found["rest"])
            ]
    if not out:
        raise Unrecognized(path, "no line of threads and queries per second")
    return tuple(out)
