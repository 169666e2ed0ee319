"""Tables of measurements as they are published, and as tools print them: every figure read, nothing invented."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharing.explain.tables import FORMATS, jmh, read_measurements
from sharing.explain.tables.base import Measurement, grouped
from sharing.explain.tables.figures import number
from sharing.knowledge.metrics import is_less_better
from sharing.model.errors import LinemateError, Malformed, Unrecognized

DATA = Path(__file__).parent / "data"

VMSTAT = """\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 812345  10000  20000    0    0     5    10  100  200  3  1 96  0  0
 9  0      0 812000  10000  20000    0    0     0     0 6000 100000 22  6 72  0  0
 8  0      0 812000  10000  20000    0    0     0     0 6100 101000 23  6 71  0  0
"""
SYSBENCH_1 = """\
Number of threads: 16
SQL statistics:
    queries performed:
        read:                            140014
    transactions:                        10001  (666.52 per sec.)
    queries:                             160016 (10664.29 per sec.)
Latency (ms):
         min:                                    8.36
         avg:                                   24.00
         95th percentile:                       38.25
"""


def data(name: str) -> tuple[Measurement, ...]:
    return read_measurements((DATA / name).read_text(), name)


def by(measurements: tuple[Measurement, ...], metric: str, label: str) -> dict[str, float]:
    return {m.label(label): m.value for m in measurements if m.metric == metric}


def test_a_table_of_two_revisions_and_eight_concurrencies() -> None:
    found = data("revisions_950_968.txt")
    assert len(found) == 64
    cells = grouped(found, "tps")
    key = (("config_name", "drizzle_innodb_readonly_1000K"), ("revno", "968"), ("c", "16"))
    assert cells[key] == (2480.48,)
    assert {m.label("revno") for m in found} == {"950", "968"}


def test_a_stacked_table_of_two_machines() -> None:
    found = data("two_machines.txt")
    plain = tuple(m for m in found if not m.label("under"))
    assert by(plain, "TPS", "build") == {"1-drizzle": 1335, "1-mysql": 2434, "2-drizzle": 1559, "2-mysql": 1239}
    vmstat = tuple(m for m in found if m.label("under") == "vmstat")
    assert by(vmstat, "in", "build")["1-drizzle"] == 6_000
    assert by(vmstat, "cs", "build")["1-mysql"] == 210_000
    assert by(vmstat, "id", "build") == {"1-drizzle": 72, "1-mysql": 5, "2-drizzle": 3, "2-mysql": 4}
    traced = tuple(m for m in found if m.label("under").startswith("valgrind"))
    assert by(traced, "TPS", "build")["1-drizzle"] == 5.21


def test_the_table_after_relinking_shows_the_gain() -> None:
    assert by(data("relinked.txt"), "TPS", "build")["1-drizzle"] == 2751


def test_system_calls_of_four_builds_with_their_speed() -> None:
    found = data("system_calls.txt")
    assert by(tuple(m for m in found if m.metric == "TPS"), "TPS", "build")["1-drizzle"] == 402
    futex = tuple(m for m in found if m.label("syscall") == "futex")
    assert by(futex, "calls", "build") == {
        "1-drizzle": 37252, "1-mysql": 23836, "2-drizzle": 31198, "2-mysql": 15044,
    }  # fmt: skip
    assert by(futex, "errors", "build")["1-drizzle"] == 11127
    selects = tuple(m for m in found if m.label("syscall") == "select")
    assert by(selects, "errors", "build")["1-drizzle"] == 0  # an empty column


def test_sysbench_runs_under_headings() -> None:
    found = data("sysbench_604_605.txt")
    assert by(found, "transactions", "run") == {"6.0.4": 94.23, "6.0.5": 40.05}
    assert by(found, "read/write requests", "run")["6.0.5"] == 1055.98


def test_sysbench_with_threads_and_latencies() -> None:
    found = {m.metric: m for m in read_measurements(SYSBENCH_1, "run")}
    assert found["transactions"].value == 666.52
    assert found["queries"].labels == (("threads", "16"),)
    assert found["latency 95th percentile (ms)"].value == 38.25


def test_results_in_a_log_of_revisions_oldest_first() -> None:
    found = data("changesets.txt")
    plain = [(m.label("date"), m.value) for m in found if not m.label("condition")]
    assert plain[0] == ("2008-04-07", 211.5)  # on the branch before the merge
    assert plain[-1] == ("2008-04-11", 43.08)
    without = [m.value for m in found if m.label("condition") == "no supernodes"]
    assert len(without) == 6
    assert (min(without), max(without)) == (178.0, 179.59)


def test_lines_of_queries_per_second() -> None:
    text = "64 threads, time spent: 60s, queries executed: 9326530, qps: 155442, 1 thread qps: 2428\n"
    found = {m.metric: m for m in read_measurements(text, "log")}
    assert found["qps"].value == 155442
    assert found["1 thread qps"].value == 2428
    assert found["qps"].labels == (("threads", "64"),)


def test_vmstat_leaves_out_the_average_since_boot() -> None:
    found = grouped(read_measurements(VMSTAT, "vmstat"), "cs")
    assert found[()] == (100_000, 101_000)


def test_csv_with_conditions_and_repetitions() -> None:
    text = "threads;tps;comment\n2;100.5;first\n2;101.5;first\n4;190;second\n"
    cells = grouped(read_measurements(text, "a.csv"), "tps")
    assert cells[(("threads", "2"), ("comment", "first"))] == (100.5, 101.5)


def test_json_of_known_tools() -> None:
    hyperfine = '{"results": [{"command": "a", "mean": 1.5, "times": [1.4, 1.6]}]}'
    assert grouped(read_measurements(hyperfine, "h.json"), "seconds") == {(("command", "a"),): (1.4, 1.6)}
    google = (
        '{"benchmarks": [{"name": "BM", "run_type": "iteration", "cpu_time": 5.0},'
        '{"name": "BM_mean", "run_type": "aggregate", "cpu_time": 6.0}]}'
    )
    assert [m.value for m in read_measurements(google, "g.json")] == [5.0]


@pytest.mark.parametrize(
    ("text", "value"),
    [("6k", 6000), ("858M", 858e6), ("1,234.5", 1234.5), ("-3", -3), ("12%", 12), ("1e3", 1000)],
)
def test_numbers_as_people_write_them(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["", "abc", "1,23", "k", "1e999", "0x10", "--1", ".", "e0", "-e1", "e5k"])
def test_what_is_no_number(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nothing here\n", Unrecognized),
        ("", Unrecognized),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 |\n+---+---+\n", Malformed),
        ("+---+\n| name |\n+---+\n| x |\n+---+\n", Malformed),
        ("a,b\n1,2,3\n", Malformed),
        pytest.param("a,b\n" * 500_001, Malformed, id="lines"),
        ("[1, 2]", Malformed),
        ("{broken", Malformed),
        ("[" * 100_000, Malformed),
        ('[{"a": "text"}]', Malformed),
    ],
)
def test_broken_tables_are_refused_in_one_line(text: str, error: type[LinemateError]) -> None:
    with pytest.raises(error) as caught:
        read_measurements(text, "table")
    assert "\n" not in str(caught.value)


@given(st.text("0123456789abc |+-\n.,:%()", max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    for known in FORMATS:
        try:
            found = known.read(text, "any")
        except LinemateError:
            continue
        assert found
        assert all(m.metric and m.value == m.value for m in found)


def test_one_column_of_numbers_is_a_table_of_repetitions() -> None:
    found = read_measurements("tps\n5100\n5110\n", "x.csv")
    assert [(m.metric, m.value, m.labels) for m in found] == [("tps", 5100.0, ()), ("tps", 5110.0, ())]


@pytest.mark.parametrize("text", ["5100\nfast\n", "5100\n", "tps\nfast\n", "a sentence\nand another\n", "run\n1\n2\n"])
def test_one_column_of_anything_else_is_none(text: str) -> None:
    with pytest.raises(Unrecognized):
        read_measurements(text, "x.csv")


def test_rounds_are_labels() -> None:
    found = read_measurements("round,tps\n1,5100\n2,5110\n", "x.csv")
    assert {m.metric for m in found} == {"tps"}


def test_what_sysbench_announces_is_no_name_of_a_run() -> None:
    text = (
        "Running the test with following options:\nNumber of threads: 8\n\nSQL statistics:\n"
        "    transactions:                        45284  (4528.46 per sec.)\n"
    )
    assert [m.labels for m in read_measurements(text, "x.txt")] == [(("threads", "8"),)]
    named = text.replace("Running", "6.0.4:\nRunning")
    assert [m.labels for m in read_measurements(named, "x.txt")] == [(("run", "6.0.4"), ("threads", "8"))]


def test_a_column_without_a_name_numbers_rows_and_measures_nothing() -> None:
    found = read_measurements(",tps\n0,5100\n1,5110\n", "x.csv")
    assert [(m.metric, m.labels) for m in found] == [("tps", ()), ("tps", ())]
    with pytest.raises(Malformed):
        read_measurements(",\n0,", "x.csv")


JMH = """\
Benchmark    (size)   Mode  Cnt    Score   Error   Units
Queue.offer      10  thrpt    5  123.400 ± 1.200  ops/us
Queue.offer      20  thrpt    5   98.300 ± 0.900  ops/us
Queue.poll       10   avgt        45.612           ns/op
Queue.size       10     ss    5  1234,567 ± 3,100  ns/op
Done.
Queue.late       10   avgt        45.612           ns/op
"""


def test_the_table_of_jmh_with_parameters_modes_and_fractions_of_other_languages() -> None:
    """What stands behind the end of the table is none of it."""
    found = read_measurements(JMH, "jmh")
    offers = tuple(m for m in found if m.label("benchmark") == "Queue.offer")
    assert by(offers, "ops/us", "size") == {"10": 123.4, "20": 98.3}
    assert by(found, "ns/op", "mode") == {"avgt": 45.612, "ss": 1234.567}
    assert (is_less_better("ns/op"), is_less_better("ops/us")) == (True, False)
    with pytest.raises(Unrecognized):
        jmh.read(JMH.replace("Units", "Unit"), "jmh")


def test_forks_of_jmh_are_repetitions_and_their_iterations_are_none() -> None:
    text = (
        '[{"benchmark": "Q.offer", "mode": "thrpt", "threads": 2, "params": {"size": "10"}, "primaryMetric":'
        ' {"score": 2.0, "scoreUnit": "ops/s", "rawData": [[1.0, 2.0], [3.0, 5.0]]}}]'
    )
    labels = (("benchmark", "Q.offer"), ("size", "10"), ("mode", "thrpt"), ("threads", "2"))
    assert grouped(read_measurements(text, "jmh"), "ops/s") == {labels: (1.5, 4.0)}
    assert grouped(read_measurements(text.replace("[[1.0, 2.0], [3.0, 5.0]]", "0"), "jmh"), "ops/s") == {labels: (2.0,)}


PGBENCH = """\
number of clients: 10
number of threads: 2
latency average = 4.567 ms
tps = 85.184871 (including connections establishing)
tps = 85.296346 (excluding connections establishing)
"""


def test_pgbench_old_and_new_without_the_time_of_connecting() -> None:
    labels = (("clients", "10"), ("threads", "2"))
    found = read_measurements(PGBENCH, "pgbench")
    assert grouped(found, "tps") == {labels: (85.296346,)}
    assert grouped(found, "latency average (ms)") == {labels: (4.567,)}
    newer = PGBENCH.replace("excluding connections establishing", "without initial connection time")
    assert grouped(read_measurements(newer, "pgbench"), "tps") == {labels: (85.296346,)}


REDIS = """\
====== SET ======
  100000 requests completed in 1.23 seconds
  50 parallel clients
Summary:
  throughput summary: 81300.81 requests per second
  latency summary (msec):
          avg       min       p50
        0.345     0.088     0.335
"""


def test_redis_benchmark_in_full_and_in_one_line() -> None:
    labels = (("test", "SET"), ("clients", "50"))
    found = read_measurements(REDIS, "redis")
    assert grouped(found, "requests per second") == {labels: (81300.81,)}
    assert grouped(found, "latency p50 (ms)") == {labels: (0.335,)}
    lines = "SET: 81300.81 requests per second, p50=0.335 msec\nGET: 90000.5 requests per second, p50=0.3 msec\n"
    assert by(read_measurements(lines, "redis"), "requests per second", "test") == {"SET": 81300.81, "GET": 90000.5}
    # A column too few names nothing.
    short = read_measurements(REDIS.replace("0.345", ""), "redis")
    assert {m.metric for m in short} == {"requests per second"}


def test_a_number_of_hundreds_of_digits_is_refused_in_one_line() -> None:
    for record in ('{"tps": 1%s}', '{"benchmark": "b", "primaryMetric": {"score": 1%s}}'):
        with pytest.raises(Malformed, match="more digits"):
            read_measurements(record % ("0" * 400), "x")
