"""Damaged, cut and hostile files of counts end in one line that names the place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmu.counts import MAX_FILES, callgrind, read_executions
from sharing.model.errors import LinemateError, Malformed
from tests.builders.callgrind import Out

GOOD = (
    Out()
    .ob("(1) /bin/s")
    .fn("(1) f")
    .cost(0x1000, 3)
    .call("+5", 0x2000, 3, 50)
    .cost("+5", 3)
    .jump("*", 0x1000, 1)
    .text()
)


def read(where: Path, data: bytes | str) -> None:
    path = where / "counts"
    path.write_bytes(data.encode("latin-1") if isinstance(data, str) else data)
    read_executions([path])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (Out(positions="line").line("12 3").text(), "counts source lines: record with --dump-instr=yes"),
        (Out(thread=None).cost(0x10, 1).text(), "adds up all threads: record with --separate-threads=yes"),
        (Out(events="Cy").cost(0x10, 1).text(), "does not count executed instructions"),
        (Out().cost(0x10, 1).text(totals=2), "adds up to 1 executed instructions, its totals say 2"),
        (GOOD.partition("totals")[0], "ends before the totals: it was cut off"),
        (Out().cost(0x10, 1).text().replace("totals:", "part: 2\ntotals:"), "before the totals of the one above"),
        (Out().line("0x10 0 many").text(), "has no number where one belongs"),
        (Out().line("0x10 0 -5").text(), "has no number where one belongs"),
        (Out().line("0x10 0 " + "9" * 400).text(), "has no number where one belongs"),
        (Out().line("0x10 0 99999999999999999999").text(), "more than 1152921504606846976 executions in one thread"),
        (Out().cost("+0xffffffffffffffff", 1).cost("+1", 1).text(), "outside of the address space"),
        (Out().cost("-1", 1).text(), "outside of the address space"),
        (Out().ob("(7)").cost(0x10, 1).text(), "has number 7 for a file that it has not named"),
        (Out().ob("/bin/\0s").cost(0x10, 1).text(), "has a zero byte in the name of a file"),
        (Out().line("spell=1").text(), "has an unknown specification spell="),
        (Out().line("{}").text(), "is not a line of this format"),
        (Out().ob("/" + "x" * (1 << 17)).text(), "has a line of more than 65536 bytes"),
        ("# callgrind format\nversion: 1\n", "has no counts"),
    ],
)
def test_what_cannot_be_right_is_refused_with_the_offset(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Malformed, match=r"counts: offset 0x[0-9a-f]+: .*") as refused:
        read(tmp_path, text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_file_that_is_damaged_above_is_read_whole(tmp_path: Path) -> None:
    read(tmp_path, GOOD)


@pytest.mark.parametrize("text", ["", "hello\n", "\0" * 100, "PERFILE2" + "\0" * 96])
def test_other_files_are_named_as_such(tmp_path: Path, text: str) -> None:
    with pytest.raises(LinemateError, match="not a file of counts that linemate reads"):
        read(tmp_path, text)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="No such file"):
        read_executions([tmp_path / "none"])
    with pytest.raises(LinemateError, match="is a directory"):
        read_executions([tmp_path])
    with pytest.raises(LinemateError, match="No such file"):
        read_executions([tmp_path / "no" / "folder"])


def test_names_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "MAX_MODULES", 8)
    out = Out()
    for number in range(9):
        out.ob(f"({number}) /lib/{number}")
    with pytest.raises(Malformed, match="names more than 8 files"):
        read(tmp_path, out.text())


def test_instructions_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind, "MAX_ROWS", 64)
    monkeypatch.setattr(callgrind, "ROWS_AT_ONCE", 16)
    few, many = Out().ob("/bin/s"), Out().ob("/bin/s")
    for number in range(640):
        few.cost(0x1000 + number % 30, 1)
        many.cost(0x1000 + number, 1)
    read(tmp_path, few.text())
    with pytest.raises(Malformed, match="counts more than 32 instructions"):
        read(tmp_path, many.text())


def test_more_files_than_a_run_has_threads_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cg").touch()
    for number in range(MAX_FILES + 1):
        os.link(tmp_path / "cg", tmp_path / f"cg.{number}")
    with pytest.raises(LinemateError, match=f"{MAX_FILES + 1} files of counts are too many"):
        read_executions([tmp_path / "cg"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at=st.integers(0, len(GOOD) - 1),
    length=st.integers(0, 12),
    put=st.one_of(
        st.binary(max_size=12), st.sampled_from([b"ob=", b"calls=", b"totals: ", b"\n+", b"(1)", b"events: "])
    ),
)
def test_any_damage_ends_in_a_reading_or_one_line(tmp_path: Path, at: int, length: int, put: bytes) -> None:
    data = GOOD.encode()
    said = ""
    try:
        read(tmp_path, data[:at] + put + data[at + length :])
    except LinemateError as error:
        said = str(error)
    assert "\n" not in said
