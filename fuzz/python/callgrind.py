"""Exact counts that callgrind wrote (``pmu.counts.callgrind``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu.counts import combined
from pmu.counts.callgrind import read

_SEEDS = (
    b"# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd: ./a\npart: 1\nthread: 1\n\n"
    b"positions: instr line\nevents: Ir Dr\n\nob=(1) /bin/a\nfl=(1) a.c\nfn=(1) main\n"
    b"0x401000 1 5 2\n+4 * 1 1\ncob=(2) /lib/libc.so.6\ncfn=(2) puts\ncalls=1 0x1000\n"
    b"+4 +1 100 3\njcnd=1/2 0x401000\n* *\nob=(2)\n0x1000 0 94 1\n"
    b"totals: 100 4\npart: 2\nthread: 2\nevents: Ir Dr\nob=(1)\n0x401000 1 3\ntotals: 3\n",
    b"creator: callgrind\npositions: line\nevents: Ir\nthread: 1\n1 2\ntotals: 2\n",
)


def one(data: bytes) -> None:
    found = read(input_file(data))
    combined([found])


TARGET = Target(
    "counts of callgrind",
    one,
    lambda: _SEEDS,
    (
        b"totals: ",
        b"events: Ir\n",
        b"positions: instr\n",
        b"thread: 1\n",
        b"calls=1 ",
        b"ob=(1)\n",
        b"jump=1 ",
        b"part: ",
    ),
)
