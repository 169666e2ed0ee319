"""Code that a program made while it ran: its samples have names where the runtime noted them, and no data."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linemate.sampled.generated import generated_notes
from pmu import codemap
from pmu.codemap import CodeMap, code_map
from sharing.model.attribution import Attribution, Basis, Reason
from sharing.model.samples import MAPPING_DTYPE, Mode
from tests.builders.recorded import One, Recorded, attribution, ticks

MAP = b"1000 20 Interpreter\n1020 40 LazyCompile:~work /srv/a b.js:3\n0x1100 0x10 later\nno line of a map\n"


def profile(addresses: list[int], path: str = "//anon") -> Attribution:
    """As many samples at each address in memory of that name, and ten in a file's code."""
    ones = [One(0, time, basis=Basis.NONE, reason=Reason.NO_CODE) for time in ticks(10 * len(addresses))]
    one = attribution(Recorded([*ones, *(One(0, time) for time in ticks(10, start=900))]))
    table = one.samples.samples.copy()
    table["ip"][: len(ones)] = np.repeat(np.array(addresses, np.uint64), 10)
    table["mode"], table["mapping"] = Mode.USER, 0
    samples = replace(one.samples, samples=table, mappings=np.zeros(1, MAPPING_DTYPE), paths=(path,))
    return replace(one, samples=samples)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(codemap, "TEMPORARY", tmp_path / "tmp")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def notes(folder: Path, one: Attribution) -> list[str]:
    return generated_notes(str(folder / "p.data"), one)


@pytest.mark.parametrize("where", ["tmp", "."])
def test_time_in_generated_code_is_told_by_name(folder: Path, where: str) -> None:
    (folder / where / "perf-100.map").write_bytes(MAP)
    (said,) = notes(folder, profile([0x1030, 0x1030, 0x1000, 0x9000]))
    assert "40 of 50 samples" in said
    assert ": LazyCompile:~work /srv/a b.js:3 50 %, Interpreter 25 %, 25 % without a name; nobody knows" in said


def test_without_names_what_would_write_them_is_said(folder: Path) -> None:
    (said,) = notes(folder, profile([0x1030]))
    assert "/tmp/perf-100.map" in said
    assert "--perf-basic-prof" in said


@pytest.mark.parametrize("path", ["/usr/bin/other", "[vdso]"])
def test_code_of_files_and_of_the_kernels_page_was_not_generated(folder: Path, path: str) -> None:
    assert notes(folder, profile([0x1030], path)) == []


def test_a_few_samples_are_not_worth_a_note(folder: Path) -> None:
    one = profile([0x1030])
    rows = one.rows.copy()
    rows["reason"][:20] = Reason.NONE
    assert notes(folder, replace(one, rows=rows)) == []


def test_code_that_came_later_lies_in_front() -> None:
    made = CodeMap(Path("perf-1.map"), b"1000 40 before\n1000 10 after\nffffffffffffffff ffffffffffffffff last\n")
    assert made.names(np.array([0x1008, 0x1020, 0xFFF, 0], np.uint64)) == ["after", "", "", ""]


def test_a_map_of_another_user_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder / "perf-100.map"
    made.write_bytes(MAP)
    assert code_map(folder / "p.data", 100) is not None
    if os.geteuid() == 0:
        os.chown(made, 4711, -1)
    else:
        monkeypatch.setattr(codemap.os, "geteuid", lambda: 4711)
    assert code_map(folder / "p.data", 100) is None
