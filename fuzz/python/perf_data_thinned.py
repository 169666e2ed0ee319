"""perf.data files of which only some samples are wanted (``pmu.perfdata.reader``, ``pmu.readahead``).

Owns that call; files and what is done with the samples are ``perf_data``'s.
"""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from fuzz.python.perf_data import WORDS, seeds, used
from pmu.perfdata import reader as perfdata

MOST = 2


def one(data: bytes) -> None:
    used(perfdata.read(input_file(data), MOST))


TARGET = Target("perf.data, thinned out while it is read", one, seeds, WORDS)
