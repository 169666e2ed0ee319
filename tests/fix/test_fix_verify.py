"""Verification on table_cache: the edit that holds is shown to hold, the naive one is refused."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path

import msgspec
import pytest

from linemate.fixing.bench import Benchmark, compare
from linemate.fixing.verify import Fixed, Verified, VerifyOptions, verify
from linemate.fixing.write import changed_files
from sharing.fix.edits import Planned, plan_finding
from sharing.fix.plan import Plan, Planner
from sharing.fix.style import FixOptions
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, SourceEdit
from tests.fix.program import LONG, ProgramBuilder, array, finding, read

BUILD = "make -s OUT=out CXXFLAGS='-O2 -g' out/slow"
SOURCE = "table_cache.cc"


@pytest.fixture
def tree(repository: Path, tmp_path: Path) -> Path:
    """A copy of the program, so that nothing can touch the one under test."""
    for tool in ("make", "g++"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    return Path(shutil.copytree(repository / "testdata/programs/table_cache", tmp_path / "table_cache"))


@pytest.fixture
def planned(tree: Path) -> tuple[Finding, Planned]:
    """The finding about LOCK_open and unused_tables, and what the planner makes of it."""
    builder = ProgramBuilder(tree)
    unit = builder.unit(builder.file(SOURCE, (tree / SOURCE).read_text()), language="C++", standard="c++17")
    lock_type = unit.record("struct OWN_LINE Open_mutex : instr_mutex_t {}", "Open_mutex")
    head_type = unit.record("struct OWN_LINE Table_list {\n  Table *first;\n}", "Table_list")
    lock = unit.variable("Open_mutex LOCK_open = {INSTR_MUTEX_INITIALIZER}", "LOCK_open", unit.of_record(lock_type))
    head = unit.variable("Table_list unused_tables", "unused_tables", unit.of_record(head_type))
    wanted = finding(lock, head)
    (made,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert made.plan is not None
    return wanted, made


def run(tree: Path, fixed: Fixed, **more: object) -> Verified:
    edits = [edit for _, plans in fixed for one in plans if one.plan for edit in one.plan.edits]
    options = dataclasses.replace(VerifyOptions(BUILD, tree), **more)  # type: ignore[arg-type]
    return verify(changed_files(edits), fixed, options, lambda _: None)


def test_the_edit_separates_lock_and_list_head(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    before = (tree / SOURCE).read_bytes()
    result = run(tree, [(wanted, [made])])
    assert result.holds
    (check,) = [c for c in result.checks if c.holds]
    assert check.text == "out/slow: LOCK_open shared a line with unused_tables; now it has its lines to itself"
    assert (tree / SOURCE).read_bytes() == before
    assert not (tree / "out").exists()


def naive(tree: Path, made: Planned, replacement: str) -> Planned:
    """Alignment on the variable alone: its size stays 48 bytes."""
    path = tree / SOURCE
    data = path.read_bytes()
    begin = data.index(b"Open_mutex LOCK_open")
    edit = SourceEdit(str(path), begin, begin, replacement, sha256=hashlib.sha256(data).hexdigest())
    return dataclasses.replace(made, plan=Plan((edit,), "align LOCK_open"))


def test_alignment_that_leaves_the_tail_to_the_list_head_is_refused(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    wanted, made = planned
    result = run(tree, [(wanted, [naive(tree, made, "alignas(64) ")])])
    assert not result.holds
    assert any("LOCK_open still shares a line with unused_tables" in c.text for c in result.checks)


def test_alignment_whose_tail_is_free_by_luck_is_refused(tree: Path, planned: tuple[Finding, Planned]) -> None:
    """The list head is sent elsewhere; what comes next may still land behind the lock."""
    wanted, made = planned
    unit = tree / SOURCE
    text = unit.read_text().replace("Table_list unused_tables;", "alignas(64) Table_list unused_tables;")
    unit.write_text(text)
    result = run(tree, [(wanted, [naive(tree, made, "alignas(64) ")])])
    assert not result.holds


def slots(folder: Path) -> tuple[Finding, Planned]:
    """An array of counters, one a thread, and the edit that gives each element a line."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    folder.mkdir()
    builder = ProgramBuilder(folder)
    text = "static volatile long hits[8];\nint main(int n, char **v) { (void)v; hits[n & 7]++; return 0; }\n"
    unit = builder.unit(builder.file("slots.c", text))
    kind = array(LONG, 8)
    wanted = finding(unit.variable("static volatile long hits[8]", "hits", kind), kind="pad-element", member="[0]")
    (made,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert made.plan is not None
    return wanted, made


def test_elements_that_shared_with_each_other_are_said_to_have(tmp_path: Path) -> None:
    wanted, made = slots(tmp_path / "slots")
    result = run(tmp_path / "slots", [(wanted, [made])], build="gcc -O1 -g -o slots slots.c")
    assert result.holds
    (check,) = [c for c in result.checks if c.holds]
    assert check.text == (
        "slots: elements of hits (8 bytes) shared lines with each other; now each is on lines of its own (64 bytes)"
    )


def test_an_array_that_is_aligned_as_a_whole_still_shares(tmp_path: Path) -> None:
    wanted, made = slots(tmp_path / "slots")
    path = tmp_path / "slots/slots.c"
    data = path.read_bytes()
    at = data.index(b" long hits")
    aligned = SourceEdit(str(path), at, at, " _Alignas(64)", sha256=hashlib.sha256(data).hexdigest())
    wrong = dataclasses.replace(made, plan=Plan((aligned,), "align hits"))
    result = run(tmp_path / "slots", [(wanted, [wrong])], build="gcc -O1 -g -o slots slots.c")
    assert not result.holds
    assert any("elements of hits are 8 bytes each: they still share lines" in c.text for c in result.checks)


def test_an_edit_that_does_not_compile_is_an_error_with_the_compilers_words(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match=r"the edited tree does not build: .*error: .*no_such_thing"):
        run(tree, [(wanted, [naive(tree, made, "no_such_thing ")])])


def test_a_build_that_makes_nothing_of_it_is_an_error(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match="name it with --binary"):
        run(tree, [(wanted, [made])], build="true")


def test_a_build_that_hangs_is_ended(tree: Path, planned: tuple[Finding, Planned]) -> None:
    wanted, made = planned
    with pytest.raises(LinemateError, match="did not end within 1 s"):
        run(tree, [(wanted, [made])], build="sleep 60 & sleep 60", timeout_s=1.0)


def test_a_benchmark_is_compared_round_by_round(tmp_path: Path) -> None:
    for name, figure in (("before", "1,000"), ("after", "2500")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "figure").write_text(f"warm-up 3\nops_per_s {figure}\n")
    measured = compare(Benchmark("cat figure", "ops_per_s", 3), tmp_path / "before", tmp_path / "after")
    assert measured.ratios == (2.5, 2.5, 2.5)
    assert "2.50 times as fast (from 2.50 to 2.50): faster; 1,000 → 2,500 ops_per_s" in measured.text()


def test_seconds_are_compared_the_other_way_round(tmp_path: Path) -> None:
    for name, seconds in (("before", "0.2"), ("after", "0.1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run").write_text(f"sleep {seconds}\n")
    measured = compare(Benchmark("sh run", "", 2), tmp_path / "before", tmp_path / "after")
    assert measured.median > 1.3


@pytest.mark.parametrize(
    ("command", "why"),
    [("echo none", "prints no number behind 'ops'"), ("echo ops 0", "is not above 0"), ("exit 7", "ended with 7")],
)
def test_a_benchmark_without_a_figure_is_an_error(tmp_path: Path, command: str, why: str) -> None:
    with pytest.raises(LinemateError, match=why):
        compare(Benchmark(command, "ops", 1), tmp_path, tmp_path)


def test_a_member_in_a_build_without_debug_information_asks_for_it(
    tree: Path, planned: tuple[Finding, Planned]
) -> None:
    """The symbol is there, and says nothing of what is in it: no "has no such variable"."""
    wanted, made = planned
    part = dataclasses.replace(made, participant=msgspec.structs.replace(made.participant, member="m_mutex"))
    result = run(tree, [(wanted, [part])], build="make -s OUT=out CXXFLAGS=-O2 out/slow")
    texts = [check.text for check in result.checks]
    assert any("out/slow has no debug information" in text and "build it with -g" in text for text in texts)
    assert not any("has no LOCK_open" in text for text in texts)
