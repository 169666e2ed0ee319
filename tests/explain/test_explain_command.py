"""``linemate explain`` as a person types it: two builds, profiles, tables, listings, and what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from linemate.cli import main
from tests.explain.conftest import BuildTableCache

DATA = Path(__file__).parent / "data"
SLOW = "-DEXTRA_SYSVAR"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/linemate-explain.schema.json").read_text())


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: object) -> Result:
        code = main(["explain", *map(str, arguments)])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return invoke


def test_the_added_variable_is_the_answer(run: Run, table_cache: BuildTableCache) -> None:
    found = run(table_cache(), table_cache(SLOW))
    assert found.code == 1  # a layout that explains a slowdown, as bad as a finding of high severity
    text = " ".join(found.out.split())
    assert "`buf` (added, +208 bytes, src/sys_vars.cc:64) and +16 bytes of padding moved 7 variables by 0xe0" in text
    assert "`LOCK_open.m_mutex` and `unused_tables.first` now share line 0x" in text
    assert "ruled out: dependency, toolchain, code" in text


@pytest.mark.parametrize(("limit", "code"), [("critical", 0), ("high", 1), ("note", 1), ("never", 0)])
def test_the_exit_code_follows_the_limit(run: Run, table_cache: BuildTableCache, limit: str, code: int) -> None:
    assert run(table_cache(), table_cache(SLOW), "--fail-on", limit).code == code


def test_an_improvement_never_fails(run: Run, table_cache: BuildTableCache) -> None:
    found = run(table_cache(SLOW), table_cache(SLOW, "-DPADDED"), "--fail-on", "note")
    assert found.code == 0
    assert "OLD and NEW may be swapped" in " ".join(found.out.split())


def test_the_document_is_that_of_its_schema(run: Run, table_cache: BuildTableCache) -> None:
    found = run(table_cache(), table_cache(SLOW), "--format", "json", "--sensitivity").document
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert (found["schema"], found["command"], len(found["targets"])) == ("linemate-explain-1", "explain", 2)
    first = found["causes"][0]
    moved = {m["name"]: m for m in first["moved"]}
    assert moved["LOCK_open"]["shift"] == "0xe0"
    assert int(moved["LOCK_open"]["new"], 16) - int(moved["LOCK_open"]["old"], 16) == 0xE0
    assert [f["rule"] for f in found["findings"]] == [first["new_line_mates"][0]["finding"]]
    assert found["sensitivity"][0]["next_shift"] == 32


def test_a_file_against_itself_is_empty(run: Run, table_cache: BuildTableCache) -> None:
    found = run(table_cache(), table_cache(), "--format", "json")
    assert found.code == 0
    document = found.document
    assert [c["kind"] for c in document["causes"]] == ["none"]
    assert [document[key] for key in ("findings", "changes", "runs", "straddles")] == [[], [], [], []]


def test_three_published_profiles_confirm_and_clear(run: Run, table_cache: BuildTableCache) -> None:
    """LLC misses of the fast, the slow and the padded build, all on one page."""
    page = DATA / "oprofile_three_builds.txt"
    slow = ("--samples-old", f"{page}#(fast)", "--samples-new", f"{page}#(slow)", "--format", "json")
    first = run(table_cache(), table_cache(SLOW), *slow).document["causes"][0]
    assert (first["kind"], first["confidence"]) == ("layout", "sampled")
    assert first["summary"].endswith("the share of tc_release_table in LLC_MISSES rose from 4.7% to 5.2%")
    padded = ("--samples-old", f"{page}#(slow)", "--samples-new", f"{page}#padding", "--format", "json")
    document = run(table_cache(SLOW), table_cache(SLOW, "-DPADDED"), *padded).document
    assert document["causes"][0]["improves"]
    shares = {f["function"]: f for f in document["profile"]}
    assert "pthread_mutex_lock" not in shares  # misses go down where the list is, the lock is as busy
    assert "tc_release_table" not in shares


def test_several_recordings_of_each_build_are_read(run: Run, table_cache: BuildTableCache) -> None:
    page = DATA / "oprofile_three_builds.txt"
    old, new = ("--samples-old", f"{page}#(fast)"), ("--samples-new", f"{page}#(slow)")
    one = run(table_cache(), table_cache(SLOW), *old, *new, "--format", "json").document
    two = run(table_cache(), table_cache(SLOW), *old, *old, *new, *new, "--format", "json").document
    single = "one recording of each; runs of one build differ too"
    assert (single in one["coverage"]["notes"], single in two["coverage"]["notes"]) == (True, False)
    assert one["causes"][0]["strength"] < two["causes"][0]["strength"]


def test_a_page_of_several_listings_asks_which(run: Run, table_cache: BuildTableCache) -> None:
    page = DATA / "oprofile_three_builds.txt"
    found = run(table_cache(), table_cache(SLOW), "--samples-old", page, "--samples-new", page)
    assert found.code == 2
    assert "several listings of LLC_MISSES; choose one with" in found.err
    assert "3816 (fast)" in found.err


def test_lock_and_count_functions_that_rise_together_are_contention(run: Run, table_cache: BuildTableCache) -> None:
    page = DATA / "oprofile_604_605.txt"
    found = run(table_cache(), table_cache(), "--samples-old", f"{page}#6.0.4", "--samples-new", f"{page}#6.0.5")
    text = " ".join(found.out.split())
    assert found.code == 0
    for name in ("SyncObject::lock (lock)", "SyncObject::unlock (lock)", "Record::addRef (reference count)"):
        assert name in text
    assert "which no padding cures" in text


def test_a_published_table_speaks_against_bouncing_lines(run: Run, table_cache: BuildTableCache) -> None:
    page = DATA / "two_machines.txt"
    table = ("--bench-old", f"{page}#1-mysql", "--bench-new", f"{page}#1-drizzle")
    found = run(table_cache(), table_cache(SLOW), *table)
    text = " ".join(found.out.split())
    assert found.code == 0  # what the layout did is no longer taken for the reason
    assert "against contended cache lines: idle 5 % to 72 %" in text
    assert "measured once a build: too few times to tell" in text


def test_rows_of_a_table_are_chosen_by_a_label(run: Run, table_cache: BuildTableCache) -> None:
    page = DATA / "revisions_950_968.txt"
    table = ("--bench-old", f"{page}#revno=950", "--bench-new", f"{page}#968", "--format", "json")
    document = run(table_cache(), table_cache(), *table).document
    whole = next(m for m in document["measurements"] if m["metric"] == "tps" and not m["labels"])
    assert whole["change"] == pytest.approx(0.0055, abs=1e-4)
    assert not any(m["significant"] for m in document["measurements"])
    assert any("no significant regression" in note for note in document["coverage"]["notes"])
    found = run(table_cache(), table_cache(), "--bench-old", f"{page}#970", "--bench-new", f"{page}#968")
    assert found.code == 2
    assert "nothing is labelled '970'" in found.err


def listing(program: Path, out: Path) -> Path:
    out.write_text(subprocess.run(["nm", "-nS", str(program)], capture_output=True, text=True, check=True).stdout)
    return out


def test_two_listings_of_nm_name_the_same_variable(run: Run, table_cache: BuildTableCache, tmp_path: Path) -> None:
    old = listing(table_cache(), tmp_path / "old.nm")
    new = listing(table_cache(SLOW), tmp_path / "new.nm")
    found = run(old, new, "--format", "json")
    assert found.code == 0  # addresses alone are a weak reason
    first = found.document["causes"][0]
    assert (first["kind"], first["confidence"], first["symbols"]) == ("layout", "layout", ["buf"])


def test_a_program_and_a_listing_of_the_other(run: Run, table_cache: BuildTableCache, tmp_path: Path) -> None:
    found = run(table_cache(), listing(table_cache(SLOW), tmp_path / "new.nm"), "--format", "json").document
    assert any("accesses are not known" in note for note in found["coverage"]["notes"])
    assert found["causes"][0]["symbols"] == ["buf"]


@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
def test_every_format_says_the_cause(run: Run, table_cache: BuildTableCache, format_name: str) -> None:
    found = run(table_cache(), table_cache(SLOW), "--format", format_name, "--sensitivity")
    text = " ".join(found.out.split())
    assert "unused_tables.first" in text.replace("\\", "")
    assert "0xe0" in text
    assert "perf c2c record" in text


def test_the_ending_of_the_output_chooses_the_format(run: Run, table_cache: BuildTableCache, tmp_path: Path) -> None:
    assert run(table_cache(), table_cache(), "-o", "out.json").code == 0
    assert json.loads((tmp_path / "out.json").read_text())["command"] == "explain"


def refused(found: Result, *words: str) -> None:
    assert found.code == 2
    assert found.out == ""
    assert found.err.count("\n") == 1
    for word in words:
        assert word in found.err


def test_what_belongs_together_is_asked_for_together(run: Run, table_cache: BuildTableCache) -> None:
    program = table_cache()
    refused(run(program, program, "--samples-old", "x"), "--samples-new belong together")
    refused(run(program, program, "--bench-new", "x"), "--bench-new belong together")


def test_what_cannot_be_read_is_said_in_one_line(run: Run, table_cache: BuildTableCache, tmp_path: Path) -> None:
    program = table_cache()
    refused(run(program, tmp_path / "none"), "No such file")
    (tmp_path / "text").write_text("neither\n")
    refused(run(program, tmp_path / "text"), "not an ELF file", "neither a listing of nm nor a map")
    refused(run(program, program, "--format", "sarif"), "'sarif' is not one of")
    refused(run(program, program, "--debug-new", tmp_path / "none"), "no such file")
    (tmp_path / "empty.csv").write_text("a,b\nx,y\n")
    refused(run(program, program, "--bench-old", "empty.csv", "--bench-new", "empty.csv"), "empty.csv")


def test_an_archive_is_no_program(run: Run, table_cache: BuildTableCache, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;\n")
    subprocess.run(["gcc", "-c", "a.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "a.a", "a.o"], cwd=tmp_path, check=True)
    refused(run(table_cache(), tmp_path / "a.a"), "is an archive")


def test_an_input_is_never_overwritten(run: Run, tmp_path: Path, table_cache: BuildTableCache) -> None:
    program = tmp_path / "program"
    program.write_bytes(table_cache().read_bytes())
    refused(run(program, table_cache(), "-o", program), "is the input itself")


def test_measurements_that_show_no_slowdown_speak_against_the_layout(
    run: Run, table_cache: BuildTableCache, tmp_path: Path
) -> None:
    """With as many runs as could show one; where the new build is slower, the layout keeps its strength."""
    values = [100.0, 101.5, 99.2, 100.8, 98.9, 101.1, 99.6, 100.3, 100.1, 99.8]
    tables = {"old": values, "same": [v + 0.2 for v in reversed(values)], "slow": [v * 1.5 for v in values]}
    for name, column in tables.items():
        (tmp_path / f"{name}.csv").write_text("seconds\n" + "".join(f"{v}\n" for v in column))
    asked = (table_cache(), table_cache(SLOW), "--bench-old", tmp_path / "old.csv", "--bench-new")
    same, slow = run(*asked, tmp_path / "same.csv"), run(*asked, tmp_path / "slow.csv")
    assert (same.code, slow.code) == (0, 1)
    first = " ".join(same.out.split("\n\n")[0].split())
    assert "measured: no significant regression" in first
    assert "no significant regression" not in slow.out
