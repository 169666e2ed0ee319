"""What perf script prints (``pmu.perfscript``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from pmu import perfscript
from pmu.__main__ import describe

_SEEDS = (
    b"server  4711/4712 [003] 12.000123456:      10 cpu/mem-loads,ldlat=30/P:     7f0012345678 "
    b"       5080021 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A          7      0 "
    b"          401234 main+0x14 (/usr/bin/server)        1234567\n",
    b"a b 12 [000] 1.5: cycles:\n\t401000 f+0x10 (/bin/a)\n\t401020 main ([unknown])\n\n"
    b"x 13 2.5: 100 cycles:u: 401000 [unknown] (/lib/libc.so.6 (deleted))\n",
    b"t 5/5 1.000000: PERF_RECORD_MMAP2 5/5: [0x400000(0x1000) @ 0 08:01 7 0]: r-xp /bin/a\n"
    b"t 5/5 1.000000: PERF_RECORD_MMAP2 5/5: [0x500000(0x1000) @ 0x1000 <0123abcd>]: rw-s /bin/b c\n"
    b"t 5/5 1.1: instructions: 7fff00 g (inlined)\n"
    b"t 5/5 1.2: l: 402000 counter+0x8 (/bin/a) 401004 f (/bin/a) ABI:2 AX:0x1\n",
)


def one(data: bytes) -> None:
    for _ in describe(perfscript.read(input_file(data))):
        pass


TARGET = Target(
    "text that perf script prints",
    one,
    lambda: _SEEDS,
    (
        b"|OP LOAD|LVL ",
        b"[000] ",
        b" 1/2 ",
        b"1.000000: ",
        b"cycles: ",
        b"(/bin/a)",
        b"([unknown])",
        b"PERF_RECORD_MMAP2 ",
        b"+0x1",
        b" ABI:",
    ),
)
