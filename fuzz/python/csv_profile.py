"""Profiles as tables (``pmu.csvfile``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu import csvfile
from pmu.__main__ import describe

_SEEDS = (
    b"ip,addr,tid,pid,cpu,time,period,weight\n0x401000,0x402000,7,7,1,1000,1,30\n0x401004,,8,7,2,2000,1,\n",
    b'# comment\nip,thread,comm,access,symbol,dso,event\n1,2,main,load,f,/bin/a,cycles\n3,4,"a,b",write,g,,l1\n',
    b"ip,addr,data_src,phys_addr,other\n0xffffffffffffffff,18446744073709551615,0,0,x\n",
)


def one(data: bytes) -> None:
    for _ in describe(csvfile.read(input_file(data))):
        pass


TARGET = Target(
    "profiles as tables with a header",
    one,
    lambda: _SEEDS,
    (
        b"ip,",
        b"addr,",
        b"tid",
        b"symbol",
        b"access",
        b"load",
        b"store",
        b"comm",
        b"event",
        b"data_src",
        b"time",
        b"0x",
        b'"',
    ),
)
