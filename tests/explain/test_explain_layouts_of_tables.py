"""Tables as they are laid out by people and tools: what is missing, which way they lie, how figures are written."""

from __future__ import annotations

import pytest

from sharing.explain.tables import read_measurements
from sharing.explain.tables.figures import figure, number

Read = dict[tuple[str, tuple[tuple[str, str], ...]], list[float]]


def read(text: str) -> Read:
    out: Read = {}
    for measured in read_measurements(text, "table"):
        out.setdefault((measured.metric, measured.labels), []).append(measured.value)
    return out


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.2 ms", 0.0012), ("850us", 0.00085), ("850 µs", 0.00085), ("3 min", 180), ("2s", 2), ("10k", 10_000),
        ("10k ops/s", 10_000), ("12.5 MB/s", 12.5e6), ("3 MiB", 3 * 2**20), ("155,442 qps", 155_442),
        ("1 234 567", 1_234_567), ("1'234.5", 1234.5), ("~42", 42), ("12.3 ± 0.4", 12.3), ("1_000", 1000),
        ("\N{MINUS SIGN}3", -3), ("+7.5 %", 7.5), ("99 requests/s", 99), ("5 per second", 5),
    ],
)  # fmt: skip
def test_figures_with_units_and_separators(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["1,23,456", "12 34", "3 apples", "1.2.3", "5 iB", "ms", "1 2", "10kk", "4.5.6 ms"])
def test_near_misses_of_figures(text: str) -> None:
    assert figure(text) is None


@pytest.mark.parametrize("missing", ["", "NA", "n/a", "nan", "-", "null", "None", "—", "?"])
def test_a_missing_cell_leaves_its_column_a_value(missing: str) -> None:
    found = read(f"rev,tps,qps\na,1,10\nb,{missing},20\nc,3,30\n")
    assert found["tps", (("rev", "a"),)] == [1]
    assert ("tps", (("rev", "b"),)) not in found
    assert found["qps", (("rev", "b"),)] == [20]


def test_a_column_of_nothing_but_missing_cells_is_no_value() -> None:
    assert {metric for metric, _ in read("rev,tps,qps\na,,10\nb,,20\n")} == {"qps"}


def test_nothing_is_missing_from_json_but_what_is_said_to_be() -> None:
    text = '[{"rev": "a", "tps": null, "qps": 1}, {"rev": "b", "tps": 2, "qps": "NaN"}]'
    assert read(text) == {("qps", (("rev", "a"),)): [1], ("tps", (("rev", "b"),)): [2]}


@pytest.mark.parametrize(
    ("header", "label"),
    [("1,2,16", "level"), ("1 thread,2 threads,16 threads", "threads"), ("c=1,c=2,c=16", "c"), ("t1,t2,t16", "t")],
)
def test_levels_as_columns_are_levels(header: str, label: str) -> None:
    found = read(f"revision,{header}\n950,10,20,NA\n968,11,21,31\n")
    assert found == {
        ("value", (("revision", "950"), (label, "1"))): [10],
        ("value", (("revision", "950"), (label, "2"))): [20],
        ("value", (("revision", "968"), (label, "1"))): [11],
        ("value", (("revision", "968"), (label, "2"))): [21],
        ("value", (("revision", "968"), (label, "16"))): [31],
    }


def test_runs_as_columns_are_repetitions() -> None:
    assert read("rev,run 1,run 2\na,5,6\n") == {
        ("value", (("rev", "a"), ("run", "1"))): [5],
        ("value", (("rev", "a"), ("run", "2"))): [6],
    }


def test_percentiles_as_columns_are_metrics_of_their_own() -> None:
    assert {metric for metric, _ in read("rev,p50,p99\na,5,6\n")} == {"p50", "p99"}


@pytest.mark.parametrize("builds", ["10.0.4,10.0.5", "r950,r968", "old,new", "before,after", "1f3a9c2,77be01d"])
def test_builds_as_columns_are_builds(builds: str) -> None:
    a, b = builds.split(",")
    assert read(f"load,{builds}\nselect,10,12\ninsert,5,-\n") == {
        ("value", (("load", "select"), ("build", a))): [10],
        ("value", (("load", "select"), ("build", b))): [12],
        ("value", (("load", "insert"), ("build", a))): [5],
    }


def test_rows_that_are_metrics_have_builds_as_columns() -> None:
    found = read("metric,mysql,drizzle\ntps,2434,1335\nlatency,6.5 ms,12 ms\n")
    assert found["tps", (("build", "drizzle"),)] == [1335]
    assert found["latency", (("build", "mysql"),)] == [pytest.approx(0.0065)]


def test_levels_as_rows_have_revisions_as_columns() -> None:
    assert read("threads,950,968\n1,10,11\n")["value", (("threads", "1"), ("build", "968"))] == [11]


def test_a_metric_a_column_stays_a_metric() -> None:
    assert read("engine,tps,latency\nmysql,10,2\n") == {
        ("tps", (("engine", "mysql"),)): [10],
        ("latency", (("engine", "mysql"),)): [2],
    }


def test_times_of_different_units_are_compared_in_one() -> None:
    assert read("name,read\na,850 us\nb,1.2 ms\n") == {
        ("read (s)", (("name", "a"),)): [pytest.approx(850e-6)],
        ("read (s)", (("name", "b"),)): [pytest.approx(1.2e-3)],
    }
    # A header that names the unit has it.
    assert read("name,read (ms)\na,850 us\n")["read (ms)", (("name", "a"),)] == [pytest.approx(0.85)]


def test_a_column_called_time_is_measured_where_it_has_a_unit_or_nothing_else_is() -> None:
    assert read("rev,time\na,1.5\nb,1.6\n")["time", (("rev", "b"),)] == [1.6]
    assert {metric for metric, _ in read("rev,time,tps\na,1.5 s,9\n")} == {"time (s)", "tps"}
    assert {metric for metric, _ in read("rev,time,tps\na,1500,9\n")} == {"tps"}


def test_decimal_commas_are_known_by_their_column() -> None:
    found = read("rev;ms\na;1.234,5\nb;12,25\nc;7\n")
    assert [found["ms", (("rev", r),)] for r in "abc"] == [[1234.5], [12.25], [7]]


MARKDOWN = "| rev | tps |\n| --- | ---: |\n| a | 1,200 |\n| b | - |\n"
EXPECTED = {("tps", (("rev", "a"),)): [1200.0]}


@pytest.mark.parametrize(
    "text",
    [
        MARKDOWN,
        "rev | tps\n--- | :---:\na | 1,200\nb | NA\n",  # no pipes at the ends
        " rev |  tps  \n-----+-------\n a   | 1200\n b   |\n(2 rows)\n",  # psql
        "┌─────┬──────┐\n│ rev │ tps  │\n├─────┼──────┤\n│ a   │ 1200 │\n│ b   │      │\n└─────┴──────┘\n",
        "+—————+——————+\n| rev | tps  |\n+—————+——————+\n| a   | 1200 |\n+—————+——————+\n",  # typeset
        "+-----+------+\n| rev | tps  |\n+=====+======+\n| a   | 1200 |\n+-----+------+\n| b   |      |\n",
        "rev   tps\na     1200\nb     -\n",  # aligned
        "rev\ttps\na\t1200\nb\tnull\n",
        f"We measured both.\n\n{MARKDOWN}\nThat is all | for now.\n\n| name | who |\n|---|---|\n| x | y |\n",
    ],
)
def test_borders_of_all_kinds(text: str) -> None:
    assert read(text) == EXPECTED


def test_figures_at_the_end_of_a_report() -> None:
    text = "In short:\n\nold kernel, ext4: ~42 seconds (before)\nnew kernel, xfs: ~2 min\n\nBye: 3 times\n"
    assert read(text) == {
        ("seconds", (("name", "old kernel, ext4"),)): [42.0],
        ("seconds", (("name", "new kernel, xfs"),)): [120.0],
    }


@pytest.mark.parametrize("text", ["Total: 3 times\n", "memory: 40 GB\ncores: 16 pieces\n", "a: b\nc: d\n"])
def test_single_lines_of_figures_are_prose(text: str) -> None:
    with pytest.raises(Exception, match="no table of measurements"):
        read(text)
