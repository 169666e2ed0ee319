"""What benchmark tools write: hyperfine, Google Benchmark, go test, wrk, programs that print a name and a figure."""

from __future__ import annotations

import json

import pytest

from sharing.explain.tables import read_measurements
from sharing.explain.tables.base import Measurement, without_builds
from sharing.model.errors import Malformed, Unrecognized

WRK = """Running 30s test @ http://127.0.0.1:8080/
  2 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  312.00us  12.30ms   88.12%
    Req/Sec    31.20k     1.10k   34.00k    70.00%
  Latency Distribution
     99%    3.00ms
  1860000 requests in 30.00s, 1.50GB read
Requests/sec:  62720.93
Transfer/sec:     51.20MB
"""
HYPERFINE_CSV = (
    "command,mean,stddev,median,user,system,min,max,parameter_threads\n./old 5,0.5,0.1,0.6,0.4,0.1,0.3,0.7,4\n"
)


def read(text: str) -> tuple[Measurement, ...]:
    return read_measurements(text, "file")


def hyperfine(*commands: str) -> str:
    results = [{"command": c, "mean": 1.5, "stddev": 0.1, "user": 1.0, "times": [1.4, 1.6]} for c in commands]
    return json.dumps({"results": results})


def values(found: tuple[Measurement, ...]) -> dict[str, tuple[float, ...]]:
    return {metric: tuple(m.value for m in found if m.metric == metric) for metric in {m.metric for m in found}}


def test_the_times_of_hyperfine_are_repetitions_and_its_means_are_not() -> None:
    assert values(read(hyperfine("bench"))) == {"seconds": (1.4, 1.6)}
    assert read(HYPERFINE_CSV) == (Measurement("seconds", 0.5, (("command", "./old 5"), ("threads", "4"))),)
    with pytest.raises(Malformed):
        read(HYPERFINE_CSV + "./new 5,0.5\n")


def test_the_one_command_of_each_build_is_no_condition() -> None:
    old, new = without_builds(read(hyperfine("./old 5")), read(hyperfine("./new 5")))
    assert {m.labels for m in (*old, *new)} == {()}


def test_of_several_commands_a_build_nobody_says_which_is_which() -> None:
    old, new = without_builds(read(hyperfine("./old 1", "./old 2")), read(hyperfine("./new 1", "./new 2")))
    assert len({m.labels for m in (*old, *new)}) == 4


def test_times_of_google_benchmark_are_seconds_and_its_counts_no_figures() -> None:
    record = {
        "name": "BM_get/8", "run_name": "BM_get/8", "run_type": "iteration", "repetitions": 2, "repetition_index": 0,
        "threads": 1, "iterations": 1000, "real_time": 100.0, "cpu_time": 90.0, "time_unit": "ns",
        "items_per_second": 1e7,
    }  # fmt: skip
    mean = {**record, "name": "BM_get/8_mean", "run_type": "aggregate"}
    found = read(json.dumps({"context": {}, "benchmarks": [record, mean]}))
    assert {m.labels for m in found} == {(("name", "BM_get/8"),)}
    figures = values(found)
    assert figures.keys() == {"real_time", "cpu_time", "items_per_second"}
    assert figures["real_time"] == pytest.approx((1e-7,))


def test_lines_of_go_are_repetitions_of_their_benchmark() -> None:
    text = "goos: linux\npkg: x\nBenchmarkGet-2 \t 1000\t   989 ns/op\t 16 B/op\n"
    text += "BenchmarkGet-2   1000  993 ns/op  16 B/op\nPASS\n"
    found = read(text)
    assert values(found) == {"ns/op": (989.0, 993.0), "B/op": (16.0, 16.0)}
    assert {m.labels for m in found} == {(("benchmark", "BenchmarkGet-2"),)}


def test_a_report_of_wrk() -> None:
    found = read(WRK)
    assert values(found) == {
        "Latency": (1.02e-3,),
        "Latency 99%": (3e-3,),
        "Requests/sec": (62720.93,),
        "Transfer/sec": (51.2e6,),
    }
    assert {m.labels for m in found} == {(("threads", "2"), ("connections", "64"))}


def test_figures_behind_names() -> None:
    assert values(read("packets 600 mpps: 56.8\npackets 600 mpps: 58.2\n")) == {"mpps": (56.8, 58.2)}
    assert values(read("done\np99 = 3 ms\nrequests per second: 1,200\nload: 7\n")) == {
        "p99 (s)": (3e-3,),
        "requests per second": (1200.0,),
    }


@pytest.mark.parametrize("text", ["Chapter: 7\n", "see http://host:80\n", "built at 12:30\n", "a sentence: of words\n"])
def test_a_number_behind_a_colon_is_no_figure_unless_its_name_says_so(text: str) -> None:
    with pytest.raises(Unrecognized):
        read(text)


def test_a_file_of_bare_numbers_is_repetitions_of_what_nobody_names() -> None:
    assert values(read("98.5\n98.4\n\n99.2\n")) == {"value": (98.5, 98.4, 99.2)}
