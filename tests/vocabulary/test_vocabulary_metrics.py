"""Which way a metric is better by its name: units and words decide, what says nothing stays unknown."""

from __future__ import annotations

import pytest

from sharing.knowledge.metrics import Kind, is_less_better, kind_of_metric

LESS = (
    "p99", "p99_ms", "p99.9", "95th percentile", "latency", "avgLatency", "Latency 99%", "time", "real_time", "cputime",
    "time_ns", "runtime_s", "ns/op", "ns_per_op", "us per call", "seconds per request", "time (s)", "Mean [ms]", "ms",
    "us", "elapsed", "query time", "tail_us", "rtt", "cycles", "cycles/byte", "instructions", "rss_kb", "B/op",
    "allocs/op", "errors/s", "miss rate", "cache-misses",
)  # fmt: skip
MORE = (
    "qps", "ops", "mpps", "throughput", "throughput, requests per second", "ops_per_second", "ops/s", "MB/s", "q/s",
    "rounds_per_s", "items_per_second", "Requests/sec", "requests/s/core", "10k ops/s", "hit rate", "memory bandwidth",
    "speedup",
)  # fmt: skip
UNKNOWN = (
    "value",
    "cs",
    "iterations",
    "uptime",
    "IPC",
    "instructions per cycle",
    "cycles per second",
    "BM_get/8",
    "new kernel",
    "",
)


@pytest.mark.parametrize(
    ("metric", "less"),
    [*((m, True) for m in LESS), *((m, False) for m in MORE), *((m, None) for m in UNKNOWN)],
)
def test_words_and_units_of_a_name_say_which_way_is_better(metric: str, less: bool | None) -> None:
    assert is_less_better(metric) is less


def test_only_what_all_work_took_is_a_time() -> None:
    kinds = {m: kind_of_metric(m) for m in ("real_time", "ns/op", "p99_ms", "cycles", "rss_kb", "ops/s")}
    assert list(kinds.values()) == [Kind.TIME, Kind.TIME, Kind.TAIL, Kind.CYCLES, Kind.RESOURCES, Kind.WORK]
