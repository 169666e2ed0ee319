"""Documents as they are found: tables, listings and notes among prose, of which a part is named or asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest, explain
from linemate.history.table import TableOptions, from_table
from linemate.tabletext import chosen
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
# The reports from which this project began, beside the tree where they are at hand.
REPORTS = ROOT.parent / "shared" / "seeds"

NOTES = """\
The addresses of the first build:
lock: 0x1074120, size= 48 (line starts 0x1074100)
head: 0x1074150, size= 8 (line starts 0x1074140)
And with one more variable (slow):
lock: 0x1074200, size= 48 (line starts 0x1074200)
head: 0x1074230, size= 8 (line starts 0x1074200)
"""


def document() -> str:
    """Four texts of others around figures, as they stand on one page."""
    first, calls, last = ((DATA / f"{name}.txt").read_text() for name in ("two_machines", "system_calls", "relinked"))
    return f"Figures of both:\n{first}\nThe same when traced:\n{calls}\nThen I relinked it:\n{last}\n"


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.txt"
    path.write_text(document())
    return str(path)


def figures(given: str) -> dict[str, float]:
    return {m.metric: m.value for m in chosen(given).measurements if not m.labels}


def test_a_label_in_several_tables_is_asked_for(page: str) -> None:
    with pytest.raises(LinemateError, match="several tables have TPS: choose one") as caught:
        chosen(f"{page}#1-mysql")
    assert all(f"#line {line}#1-mysql ({heading})" in str(caught.value) for line, heading in (
        (2, "Figures of both"), (56, "The same when traced"), (104, "Then I relinked it")
    ))  # fmt: skip


def test_a_part_is_a_line_a_heading_or_a_label(page: str) -> None:
    assert figures(f"{page}#line 20#1-mysql") == figures(f"{page}#both#1-mysql") == {"TPS": 2434}
    assert figures(f"{page}#relinked#1-drizzle") == {"TPS": 2751}
    assert figures(f"{page}#traced#build=1-drizzle") == {"TPS": 402}


def test_it_is_said_which_text_was_taken(page: str) -> None:
    took = chosen(f"{page}#relinked#1-drizzle").took
    assert took == f"{page}#relinked#1-drizzle: stacked table under 'Then I relinked it', line 109, 1 figure"
    assert chosen(str(DATA / "relinked.txt")).took == ""  # all of a file


def test_what_is_not_there_is_refused_with_what_is(page: str) -> None:
    with pytest.raises(
        LinemateError, match=r"nothing is labelled '3-mysql'; labels are '1-drizzle'.*tables are line 2"
    ):
        chosen(f"{page}#3-mysql")


def test_a_file_with_the_mark_in_its_name_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a#b.csv"
    path.write_text("build,tps\nx,1\ny,2\n")
    assert figures(f"{path}#x") == {"tps": 1}
    assert len(chosen(str(path)).measurements) == 2


def test_a_column_may_be_chosen_as_a_build(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("load,mysql,drizzle\nselect,10,12\ninsert,5,6\n")
    found = chosen(f"{path}#drizzle").measurements
    assert [(m.metric, m.labels, m.value) for m in found] == [
        ("value", (("load", "select"),), 12.0),
        ("value", (("load", "insert"),), 6.0),
    ]


@pytest.fixture
def explained(tmp_path: Path) -> Callable[..., Comparison]:
    """Two listings that differ in nothing, and what was measured."""
    listings = [tmp_path / name for name in ("old.nm", "new.nm")]
    for listing in listings:
        listing.write_text("0000000000001000 0000000000000030 B lock\n")

    def run(old: str, new: str) -> Comparison:
        return explain(ExplainRequest(*map(str, listings), bench_old=(old,), bench_new=(new,)))

    return run


def test_the_same_text_for_both_builds_is_refused(explained: Callable[..., Comparison]) -> None:
    table = str(DATA / "sysbench_604_605.txt")
    with pytest.raises(LinemateError, match=r"both name .* choose the part of each build"):
        explained(table, table)
    found = explained(f"{table}#6.0.4", f"{table}#6.0.5")
    assert {m.metric: round(100 * (m.change or 0)) for m in found.measurements}["transactions"] == -57
    assert any("lines 2-4, 3 figures" in note for note in found.coverage.notes)


def test_notes_of_addresses_are_builds(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(NOTES)
    found = explain(ExplainRequest(f"{path}#first", f"{path}#(slow)"))
    assert "`lock` and `head` may now share line 0x1074200" in found.causes[0].summary
    with pytest.raises(LinemateError, match="2 blocks of addresses are meant: choose one with FILE#PART"):
        explain(ExplainRequest(str(path), f"{path}#(slow)"))


@pytest.fixture(scope="module")
def report() -> Callable[[int], str]:
    """The path of an unedited report."""
    if not REPORTS.is_dir():
        pytest.skip(f"the unedited reports are not in {REPORTS}")
    paths = sorted(REPORTS.iterdir())
    return lambda number: str(paths[number])


def changes(found: Comparison) -> dict[str, int]:
    return {m.metric: round(100 * (m.change or 0)) for m in found.measurements if not m.labels}


def test_the_report_of_an_allocator(report: Callable[[int], str], explained: Callable[..., Comparison]) -> None:
    """Half the speed of another server on that machine, idle and asleep; twice the speed without the library."""
    page = report(0)
    with pytest.raises(LinemateError, match="several tables have TPS"):
        explained(f"{page}#1-mysql", f"{page}#1-drizzle")
    found = explained(f"{page}#headings#1-mysql", f"{page}#headings#1-drizzle")
    assert changes(found)["TPS"] == -45
    assert any("threads sleep" in note for note in found.coverage.notes)
    assert changes(explained(f"{page}#relinked#1-drizzle", f"{page}#headings#1-drizzle"))["TPS"] == -51


def test_the_report_of_two_revisions(report: Callable[[int], str]) -> None:
    """About one percent more over most levels, which chance may be."""
    found = from_table(TableOptions(report(1)))
    assert (found.metric, len(found.series), found.steps) == ("tps", 16, ())
    assert found.best is not None
    assert (found.best.slower, round(found.best.change.change, 3)) == (False, 0.006)


def test_the_report_of_an_added_variable(report: Callable[[int], str]) -> None:
    """The lock and the list head came onto one line, and the function that takes both missed more often."""
    page = report(2)
    found = explain(
        ExplainRequest(
            f"{page}#(fast)",
            f"{page}#(slow)",
            (f"{page}#(fast)",),
            (f"{page}#(slow)",),
            (f"{page}#vs",),
            (f"{page}#difference",),
        )
    )
    assert "`LOCK_open` and `unused_tables` may now share line 0x1074200" in found.causes[0].summary
    assert "tc_release_table" in {f.function for f in found.profile if (f.ratio or 0) > 1}
    assert {m.metric: round(1000 * (m.change or 0)) for m in found.measurements}["qps"] == -56


def test_the_report_of_counters_and_disks(report: Callable[[int], str], explained: Callable[..., Comparison]) -> None:
    """About 40,000 cycles for one call; of four machines one is strange, at ten times another's time."""
    page = report(3)
    assert figures(f"{page}#perf_udf") == {"perf_udf(1, MD5(‘pants’))": 43540}  # noqa: RUF001
    assert changes(explained(f"{page}#T5240", f"{page}#16 core"))["seconds"] == 893


def test_the_report_of_a_storage_engine(report: Callable[[int], str], explained: Callable[..., Comparison]) -> None:
    """Less than half the transactions; of the log of revisions, the step at the changeset that the report names."""
    page = report(4)
    assert changes(explained(f"{page}#6.0.4", f"{page}#6.0.5"))["transactions"] == -57
    (step,) = (found := from_table(TableOptions(page))).steps
    assert step.slower
    assert found.revisions[step.suspects[0]].id == "sp1r-vvaintroub@wva.-20080328064007-14330"
