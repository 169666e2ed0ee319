"""Counts by line that gcov wrote (``pmu.counts.gcov``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.gcov import read

_SEEDS = (
    b'{"gcc_version":"12","current_working_directory":"/w","files":[{"file":"a.c","functions":[{"name":"f",'
    b'"execution_count":3}],"lines":[{"line_number":4,"count":3}]}]}',
    b'{"gcc_version":"9","files":[]}\n{"gcc_version":"9","files":[{"file":"b.h","lines":[]}]}\n',
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of gcov",
    one,
    lambda: _SEEDS,
    (
        b'"files":[',
        b'"lines":[{',
        b'"line_number":',
        b'"count":',
        b'"functions":[{',
        b'"execution_count":',
    ),
)
