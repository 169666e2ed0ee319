"""Tables of measurements (``sharing.explain.tables``) and what ``history --table`` makes of them.

Owns the inputs that the target starts with.
"""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from linemate.history.table import TableOptions, from_table
from linemate.tabletext import table_text
from reports.history.document import render
from reports.options import RenderOptions
from sharing.explain.tables import read_measurements

_SEEDS = (
    b"revision,threads,tps\n" + b"".join(b"r%d,8,%d\n" % (n, 100 + n % 3 + 20 * (n > 5)) for n in range(12)),
    b"rev;run;qps;latency\na;1;10k;1.5\nb;1;12k;1.4\nb;2;1,234;2%\n",
    b'[{"revision": "a", "qps": 10.5, "times": [1, 2, 3]}, {"revision": "b", "qps": 11}]',
    b'{"benchmarks": [{"name": "x", "run_type": "iteration", "real_time": 1.0}, '
    b'{"name": "x", "run_type": "aggregate"}]}',
    b"+-------+---+-----+\n| revno | c | tps |\n+-------+---+-----+\n"
    b"| 1 | 8 | 100 |\n| 2 | 8 | 101 |\n+-------+---+-----+\n",
    b"a:\nNumber of threads: 8\n    transactions:                        67852  (94.23 per sec.)\n"
    b"         95th percentile:                       5.5ms\n",
    b"BenchmarkGet-2 \t 1000\t 989 ns/op\t 16 B/op\nRunning 3s test @ http://a/\n  2 threads and 4 connections\n"
    b"    Latency     1.02ms  312.00us  12.30ms   88.12%\nRequests/sec:  62720.93\n",
    b'{"results": [{"command": "a", "mean": 1.5, "times": [1.4, 1.6], "parameters": {"n": "1"}}]}',
    b"command,mean,stddev,median,user,system,min,max\na,0.5,0.1,0.6,0.4,0.1,0.3,0.7\n",
    b"packets 600 mpps: 56.8\np99 = 3 ms\n",
    b"64 threads, time spent: 60s, queries executed: 9326530, qps: 155442, x: 1\n",
    b"revision-id: me@x-20110102030405-abc\n#### 8 clients\n# transactions:   67852  (94.23 per sec.)\n"
    b"revision-id: b\n",
    b" r b in cs us sy id\n 1 2 3 4 5 6 7\n 1 2 3 4 5 6 8\n",
    b"1-x: 245 TPS\n% time     seconds  usecs/call     calls    errors syscall\n------ ---\n"
    b" 50.00    0.100000          10      1000        12 futex\n100.00 0.2 2000 12 total\n",
    b"| |\n| a |\n| b |\n| x |\n1 |\n2 |\n",
    b"tps\n1\n2\n3\n",
    b"rev | 1 thread | 2 threads\n---|:--:|---\na | 1.5 ms | NA\nb | 900 us | 12,5\n",
    b"In short:\nold: ~42 seconds\nnew, xfs: 2 min (again)\n",
)


def one(data: bytes) -> None:
    path = str(input_file(data))
    read_measurements(table_text(path), path)
    render(from_table(TableOptions(path)), RenderOptions())


TARGET = Target(
    "tables of measurements, in ten formats",
    one,
    lambda: _SEEDS,
    (
        b"revision",
        b"threads",
        b"tps",
        b"run,",
        b"revision-id: ",
        b"Number of threads: ",
        b" per sec.)",
        b"qps: ",
        b"% time",
        b"+---+",
        b"| |\n",
        b'"benchmarks": [',
    ),
    max_bytes=2048,
)
