"""``linemate fix`` on table_cache, from its source to the linked program."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import msgspec
import pytest

from elfscan.tools import tool_path
from linemate.cli import main
from linemate.fixing import command
from linemate.fixing.earlier import of_earlier
from linemate.options import CheckOptions
from sharing.fix.edits import Planned
from sharing.fix.plan import Plan
from sharing.model.errors import LinemateError
from sharing.source.merge import assemble
from tests.fix.conftest import symbols
from tests.fix.program import finding

UNITS = ("table_share", "sys_vars", "table_cache", "main")
FLAGS = "-std=c++17 -O2 -g -fno-rtti -fno-exceptions -DEXTRA_SYSVAR"
BUILD = "make -s OUT=out CXXFLAGS='-O2 -g' out/slow"
SOURCE = "table_cache.cc"
FIXED = "struct alignas(64) OWN_LINE Open_mutex : instr_mutex_t {};"


class Result(NamedTuple):
    code: int
    out: str
    err: str


Fix = Callable[..., Result]


@pytest.fixture
def tree(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the program with its compile database, as the current folder."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    for tool in ("make", "g++"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    copy = tmp_path / "table_cache"
    shutil.copytree(repository / "testdata/programs/table_cache", copy)
    entries = [
        {"directory": str(copy), "file": f"{unit}.cc", "arguments": ["g++", *FLAGS.split(), "-c", f"{unit}.cc"]}
        for unit in UNITS
    ]
    (copy / "compile_commands.json").write_text(json.dumps(entries))
    monkeypatch.chdir(copy)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return copy


@pytest.fixture
def fix(tree: Path, capfd: pytest.CaptureFixture[str]) -> Fix:
    def run(*arguments: str) -> Result:
        code = main(["fix", *arguments])
        return Result(code, *capfd.readouterr())

    return run


def test_the_diff_names_the_lock_and_changes_nothing(tree: Path, fix: Fix) -> None:
    before = (tree / SOURCE).read_text()
    result = fix()
    assert result.code == 0
    assert f"+{FIXED}\n" in result.out
    assert result.out.startswith("--- a/table_cache.cc\n+++ b/table_cache.cc\n")
    assert "align Open_mutex to 64 bytes, which rounds its size up from 48" in result.err
    assert (tree / SOURCE).read_text() == before


def test_applied_the_finding_is_gone(tree: Path, fix: Fix) -> None:
    assert fix("--apply", "-q").code == 0
    assert FIXED in (tree / SOURCE).read_text()
    again = fix()
    assert (again.code, again.out) == (0, "")
    assert again.err == "nothing to fix from high on\n"


def test_what_is_left_out_is_counted(tree: Path, fix: Fix) -> None:
    result = fix("--above", "critical")
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines() == [
        "nothing to fix from critical on",
        "left out: 1 milder finding (1 high): --above high takes them, the id of one that one",
    ]
    (tree / "linemate.toml").write_text('[[suppress]]\nsymbol = "LOCK_open*"\nreason = "tried"\n')
    assert fix().err.splitlines() == [
        "nothing to fix from high on",
        "left out: 1 finding that the project file suppresses",
    ]


def test_verified_it_is_written(tree: Path, fix: Fix) -> None:
    result = fix("--verify", "--build", BUILD, "--apply")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert "separated: out/slow: LOCK_open shared a line with unused_tables" in lines[0]
    assert lines[-1] == "the edit holds"
    assert FIXED in (tree / SOURCE).read_text()
    assert not (tree / "out").exists()


def test_what_does_not_hold_is_not_written(tree: Path, fix: Fix) -> None:
    """A macro of the project that aligns to half a line."""
    text = (tree / SOURCE).read_text()
    (tree / SOURCE).write_text(text.replace('#include "sys_vars.h"', '#include "sys_vars.h"\n#define HALF alignas(32)'))
    (tree / "linemate.toml").write_text('[fix]\nalign_macro = "HALF"\n')
    before = (tree / SOURCE).read_text()
    result = fix("--verify", "--build", BUILD, "--apply")
    assert result.code == 1
    assert result.out.startswith("FAILED: out/slow: LOCK_open")
    assert "the edit does not hold" in result.out
    assert (tree / SOURCE).read_text() == before


def test_a_benchmark_gives_a_ratio_with_its_spread(fix: Fix) -> None:
    result = fix(
        "--verify", "--build", BUILD, "--bench", "out/slow seconds=0.05", "--metric", "ops_per_s", "--rounds", "2"
    )
    assert result.code == 0, result.err
    assert " times as fast (from " in result.out
    assert "in the middle one of 2 alternating rounds" in result.out


def test_one_finding_is_chosen_by_its_id(fix: Fix) -> None:
    identity = fix().err.partition(":")[0]
    assert identity.startswith("hot-lock-shares-line-")
    assert FIXED in fix(identity).out


def test_the_digits_of_an_id_are_enough_as_for_show(fix: Fix) -> None:
    (whole,) = {line.split(":")[0] for line in fix().err.splitlines() if line.startswith("hot-lock-shares-line-")}
    assert fix(whole.rpartition("-")[2]).out == fix(whole).out
    assert fix(whole[:-4]).out == fix(whole).out
    unknown = fix("0123456789")
    assert (unknown.code, "no finding 0123456789" in unknown.err) == (2, True)


def test_a_source_that_is_not_in_the_database_is_not_taken_for_an_id(fix: Fix) -> None:
    result = fix("nowhere.cc")
    assert "no finding" not in result.err
    assert (result.code, "nowhere.cc: not in the compile database" in result.err) == (3, True)


def test_findings_of_a_saved_report_are_edited_as_those_of_a_check(tree: Path, fix: Fix, tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    main(["check", "-o", str(saved)])
    (whole,) = {line.split(":")[0] for line in fix().err.splitlines() if line.startswith("hot-lock-shares-line-")}
    assert f"+{FIXED}\n" in fix("--in", str(saved)).out
    assert fix("--in", str(saved), whole.rpartition("-")[2]).out == fix(whole).out
    assert fix("--in", str(saved), "--above", "critical").out == ""
    (tree / SOURCE).write_text("int nothing;\n")
    gone = fix("--in", str(saved), whole)
    assert (gone.code, gone.out) == (2, "")
    assert f"{whole} is on nothing that these sources declare" in gone.err
    assert fix("--in", str(saved), "0123456789").code == 2


def test_nothing_is_written_while_a_unit_is_not_understood(tree: Path, fix: Fix) -> None:
    database = tree / "compile_commands.json"
    entries = json.loads(database.read_text())
    gone = {"directory": str(tree), "file": "gone.cc", "arguments": ["g++", "-c", "gone.cc"]}
    database.write_text(json.dumps([*entries, gone]))
    before = (tree / SOURCE).read_text()
    result = fix("--apply")
    assert result.code == 3
    assert "not analysed" in result.err
    assert "gone.cc" in result.err
    assert (tree / SOURCE).read_text() == before
    shown = fix()
    assert (shown.code, FIXED in shown.out) == (3, True)


def test_nothing_is_written_while_a_unit_is_understood_in_part(tree: Path, fix: Fix) -> None:
    broken = tree / "broken.cc"
    broken.write_text('#include "nowhere.h"\nint half;\n')
    database = tree / "compile_commands.json"
    row = {"directory": str(tree), "file": "broken.cc", "arguments": ["g++", "-c", "broken.cc"]}
    database.write_text(json.dumps([*json.loads(database.read_text()), row]))
    before = (tree / SOURCE).read_text()
    result = fix("--apply")
    assert result.code == 3
    assert "broken.cc" in result.err
    assert "only in part" in result.err
    assert (tree / SOURCE).read_text() == before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["hot-lock-shares-line-0000000000"], "no finding hot-lock-shares-line-0000000000"),
        (["nonsense-id"], "no finding nonsense-id: `linemate check` lists those of source"),
        (["hot-lock-shares-line-5414"], "then fix --in REPORT.json"),
        (["5414"], "of what was audited: linemate fix 5414 --binary FILE"),
        (["sampled-false-sharing-0000000000"], "is a finding of samples that no report of late has"),
        (["--verify"], "--verify needs --build CMD"),
        (["--build", "make"], "--build is for --verify"),
        (["--bench", "x"], "--bench is for --verify"),
        (["--verify", "--build", "exit 3"], "the tree does not build: `exit 3` ended with 3"),
        (["--verify", "--build", BUILD, "--binary", "out/none"], "made no out/none"),
        (["--verify", "--build", BUILD, "--binary", "/bin/sh"], "is outside of"),
        (["-o", "none/x"], "no directory none"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(fix: Fix, arguments: list[str], why: str) -> None:
    result = fix(*arguments)
    assert result.code == 2
    assert why in result.err.splitlines()[-1]


def test_the_exported_fixes_are_applied_by_clangs_tool(tree: Path, fix: Fix) -> None:
    tool = shutil.which("clang-apply-replacements-19") or shutil.which("clang-apply-replacements")
    if not tool:
        pytest.skip("no clang-apply-replacements")
    (tree / "fixes").mkdir()
    assert fix("--export-fixes", "fixes/all.yaml").code == 0
    subprocess.run([tool, "fixes"], cwd=tree, check=True)
    assert FIXED in (tree / SOURCE).read_text()


def test_a_symbol_order_separates_without_an_edit(tree: Path, fix: Fix) -> None:
    if not shutil.which("ld.lld-19"):
        pytest.skip("no ld.lld-19")
    assert fix("--ordering-file", "order.txt", "-q").code == 0
    (tree / "ld.lld").symlink_to(str(shutil.which("ld.lld-19")))
    sources = [f"{unit}.cc" for unit in UNITS]
    link = [
        "-fdata-sections",
        "-pthread",
        f"-B{tree}",
        "-fuse-ld=lld",
        "-Wl,--symbol-ordering-file=order.txt",
        "-o",
        "ordered",
    ]
    subprocess.run(["g++", *FLAGS.split(), *sources, *link], cwd=tree, check=True)
    found = symbols(tree / "ordered")
    lock, head = found["LOCK_open"], found["unused_tables"]
    lines = [set(range(at // 64, (at + size - 1) // 64 + 1)) for at, size in (lock, head)]
    assert not lines[0] & lines[1]


@pytest.mark.parametrize(("seen", "named"), [("stats[0].hits", True), ("statistics[0].hits", False)])
def test_a_sampled_finding_leads_to_the_one_of_check_on_the_same_record(
    seen: str, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampled = msgspec.structs.replace(finding(seen), id="sampled-false-sharing-0000000000")
    kept = SimpleNamespace(findings=(sampled,), command="audit", baseline="", targets=())
    monkeypatch.setattr("linemate.lastreport.last_reports", lambda words: iter([(kept, "last.json")]))
    static = finding("struct stats.hits")
    with pytest.raises(LinemateError) as refused:
        of_earlier(sampled.id, assemble([]), [static], CheckOptions())
    assert ("linemate fix independent-writers-0123456789" in str(refused.value)) is named


def test_what_several_edits_change_is_said_of_each() -> None:
    """An edit below another one's remark was taken for harmless."""
    told = []
    for number in range(2):
        plan = Plan((), "align it", breaks_abi=True, notes=("compile all again",))
        wanted = finding(f"lock{number}")
        told.append((wanted, (Planned(wanted.remedies[0], wanted.participants[0], plan),)))
    lines = command._explanations(told)
    assert [line.partition(": ")[0] == told[0][0].id for line in lines].count(True) == 2
    assert sum("changes the layout" in line for line in lines) == 2
    assert sum("compile all again" in line for line in lines) == 1
    assert command._explanations([told[0], told[0]]) == command._explanations([told[0]])


def test_what_is_refused_is_said_with_what_to_do_by_hand() -> None:
    wanted = finding("lock")
    remedy = msgspec.structs.replace(wanted.remedies[0], text="align the type", edit="struct lock {\n};")
    refused = Planned(remedy, wanted.participants[0], None, "a macro declares its type")
    assert command._explanations([(wanted, (refused,))])[1:] == [
        "  by hand: align the type",
        "    struct lock {",
        "    };",
    ]


def test_what_has_no_remedy_is_said_to_have_none() -> None:
    """Asked for by its id it was "nothing to fix from None on"."""
    wanted = finding("lock")
    assert command._explanations([(wanted, ())]) == [
        f"{wanted.id}: no edit: none is known after which nothing is left of this finding"
    ]


def test_not_a_second_time_where_the_reason_has_it() -> None:
    """The near miss, and so is a change that would break something."""
    wanted = finding("lock")
    remedy = msgspec.structs.replace(wanted.remedies[0], text="align the type", edit="struct lock {};")
    for refused in (
        Planned(remedy, wanted.participants[0], None, "a change by hand: align the type"),
        Planned(remedy, wanted.participants[0], None, "a file counts its bytes", breaks=True),
    ):
        assert len(command._explanations([(wanted, (refused,))])) == 1
