"""Counts by region that llvm-cov wrote (``pmu.counts.llvmcov``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.llvmcov import read

_SEEDS = (
    b'{"type":"llvm.coverage.json.export","data":[{"files":[{"filename":"a.c","segments":[[1,1,2,true,true,false],'
    b'[3,1,0,false,false,false]]}],"functions":[{"name":"a.c:f","count":2}]}]}',
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of llvm-cov",
    one,
    lambda: _SEEDS,
    (
        b'"files":[{',
        b'"segments":[[',
        b'"functions":[{',
        b'"count":',
        b",true,true,false]",
    ),
)
