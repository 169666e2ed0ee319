"""Damaged and hostile files of counts by line or function, and line tables, end in one line or lose one unit."""

from __future__ import annotations

import gzip
import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elfscan.debug.linetable import FORM_LINE_STRP, FORM_STRP, LinePrograms, read_lines
from elfscan.fileformat.elf import ElfFile, map_file
from pmu.counts import autofdo, bolt, countedjson, gcov, llvmcov, llvmprofdata, read_executions
from sharing.model.errors import LinemateError, Malformed
from tests.builders.elf import ElfBuilder, small_program

GCOV = {
    "gcc_version": "12.2.0",
    "current_working_directory": "/w",
    "files": [
        {
            "file": "a.c",
            "functions": [{"name": "f", "execution_count": 3}],
            "lines": [{"line_number": 4, "count": 3}],
        }
    ],
}
COV = {"type": "llvm.coverage.json.export", "data": [{"files": [{"filename": "a.c", "segments": [[1, 1, 2, 1, 1]]}]}]}
BOLT = "1 f 4 1 f 0 0 7\n"
FDO = "f:10:1\n 2: 10\n"
PROFDATA = "Counters:\n  f:\n    Function count: 3\nTotal functions: 1\n"


def changed(document: dict[str, object], **fields: object) -> str:
    return json.dumps({**document, **fields})


def read(where: Path, data: bytes | str) -> None:
    path = where / "counts"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    read_executions([path])


@pytest.mark.parametrize(
    "data", [json.dumps(GCOV), json.dumps(COV), BOLT, FDO, PROFDATA, gzip.compress(b'{"gcc_version":1}', mtime=0)]
)
def test_what_is_damaged_below_is_whole_here(tmp_path: Path, data: bytes | str) -> None:
    if isinstance(data, bytes):
        with pytest.raises(LinemateError, match="has no text under 'gcc_version'"):
            read(tmp_path, data)
    else:
        read(tmp_path, data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (changed(GCOV, files={}), "has no list under 'files'"),
        (changed(GCOV, files=[7]), "has no list of objects under 'files'"),
        (changed(GCOV, files=[{"file": "a\0b"}]), "has no text under 'file'"),
        (changed(GCOV, files=[{"file": "a", "lines": [{"line_number": 1 << 40}]}]), "under 'line_number'"),
        (changed(GCOV, files=[{"file": "a", "lines": [{"line_number": 1, "count": "3"}]}]), "under 'count'"),
        (changed(GCOV, files=[{"file": "a", "lines": [{"line_number": 1, "count": 1 << 61}]}]), "under 'count'"),
        (json.dumps(GCOV)[:-2], "is not JSON from here on"),
        (json.dumps(GCOV) + " []", "something else than an object"),
        ('{"gcc_version":' + "[" * 100_000, "is not JSON from here on"),
        (b'{"gcc_version": "\xff"}', "is not text in UTF-8"),
        (gzip.compress(json.dumps(GCOV).encode(), mtime=0)[:-20], "it was cut off"),
        (gzip.compress(json.dumps(GCOV).encode(), mtime=0)[:12] + b"\xff" * 40, "cannot be unpacked"),
        (changed(COV, type="other"), "llvm.coverage.json.export under 'type'"),
        (changed(COV, data=[{"files": [{"segments": [[1]]}]}]), "list of at least five values"),
        (changed(COV, data=[{"files": [{"segments": [[9, 1, 1, 1, 1], [3, 1, 1, 1, 1]]}]}]), "in the order of lines"),
        (changed(COV, data=[{"files": [{"segments": [[1, 1, 1, 1, 1], [1 << 30, 1, 1, 1, 1]]}]}]), "list of at most"),
        (BOLT + "what\n", "offset 0x10: is neither a branch nor a hit"),
        (BOLT + "1 f 4 1 f 0 0 99999999999999999999\n", "counts more than"),
        (BOLT + "1 " + "f" * (1 << 17) + " 4 1 f 0 0 7\n", "has a line of more than"),
        (FDO + "   9: 1\n", "offset 0xe: is not a line of AutoFDO"),
        (FDO + " 9: 99999999999999999999\n", "counts more than"),
        (FDO + "".join(" " * d + f"1: g{d}:5\n" for d in range(1, 1100)), "functions within each other"),
        (PROFDATA.partition("Total")[0], "ends before the number of functions"),
        (PROFDATA.replace("3", "many"), "no count of a function"),
        ("Counters:\n    Function count: 3\nTotal functions: 1\n", "no count of a function"),
        ("Counters:\nTotal functions: 0\n", "counts no function"),
    ],
)
def test_what_cannot_be_right_is_refused_in_one_line(tmp_path: Path, data: bytes | str, why: str) -> None:
    with pytest.raises(Malformed, match="counts: ") as refused:
        read(tmp_path, data)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(countedjson, "ALWAYS_BYTES", 1 << 16)
    with pytest.raises(Malformed, match="more than 65536 bytes when it is unpacked"):
        read(tmp_path, gzip.compress(b" " * (1 << 17), mtime=0))
    read(tmp_path, gzip.compress(json.dumps(GCOV).encode(), mtime=0))


def test_what_is_between_documents_costs_little(tmp_path: Path) -> None:
    start = time.process_time()
    read(tmp_path, json.dumps(GCOV) + " " * (16 << 20))
    assert time.process_time() - start < 5  # 16 million turns of a loop take longer on any machine


def test_few_segments_do_not_reach_over_many_lines(tmp_path: Path) -> None:
    def counted(lines: int, files: int) -> None:
        segments = [[1, 1, 7, True, True, False], [lines, 1, 0, True, True, False]]
        data = {"files": [{"filename": f"f{n}.c", "segments": segments} for n in range(files)], "functions": []}
        read(tmp_path, json.dumps({**COV, "data": [data]}))

    counted(100_000, 2)
    with pytest.raises(Malformed, match="list of at most"):
        counted(100_000, 3)


@pytest.mark.parametrize("data", ["", "{}", '{"a": 1}', "f: 1\n", "\n\n", "Counter\n", "1 2 3\n", "\x00" * 64])
def test_what_is_of_no_format_is_said_to_be_so(tmp_path: Path, data: str) -> None:
    with pytest.raises(LinemateError, match="not a file of counts that linemate reads"):
        read(tmp_path, data)


READERS = (
    (gcov.read, json.dumps(GCOV)),
    (llvmcov.read, json.dumps(COV)),
    (bolt.read, BOLT),
    (autofdo.read, FDO),
    (llvmprofdata.read, PROFDATA),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    which=st.integers(0, len(READERS) - 1), at=st.integers(0, 400), cut=st.integers(0, 40), new=st.binary(max_size=20)
)
def test_no_change_of_a_file_is_a_traceback(tmp_path: Path, which: int, at: int, cut: int, new: bytes) -> None:
    reader, text = READERS[which]
    good = text.encode()
    path = tmp_path / "counts"
    path.write_bytes(good[:at] + new + good[at + cut :])
    with suppress(LinemateError):
        reader(path)


def line_sections(tmp_path: Path) -> dict[str, bytes]:
    source = tmp_path / "one.c"
    source.write_text("int f(int n) {\n  while (n > 9)\n    n /= 2;\n  return n;\n}\n")
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "one.c", "-o", "one.so"], check=True, cwd=tmp_path)
    elf = ElfFile(str(tmp_path / "one.so"), map_file(str(tmp_path / "one.so")))
    names = (".debug_line", ".debug_line_str")
    rows = {name: elf.find_section(name) for name in names}
    return {name: elf.section_bytes(row).tobytes() for name, row in rows.items() if row is not None}


def with_lines(tmp_path: Path, sections: dict[str, bytes]) -> ElfFile:
    built: ElfBuilder = small_program()
    for name, data in sections.items():
        built.section(name, data)
    path = tmp_path / "built"
    path.write_bytes(built.bytes())
    return ElfFile(str(path), map_file(str(path)))


def test_a_damaged_unit_of_the_line_table_costs_its_rows(tmp_path: Path) -> None:
    sections = line_sections(tmp_path)
    good = sections[".debug_line"]
    whole = read_lines(with_lines(tmp_path, sections))
    assert len(whole.rows) >= 4
    twice = read_lines(with_lines(tmp_path, {**sections, ".debug_line": good[:-1] + b"\x09" + good}))
    assert (len(twice.rows), twice.lost) == (len(whole.rows), 1)


def test_no_change_of_a_line_table_is_a_traceback(tmp_path: Path) -> None:
    sections = line_sections(tmp_path)
    good, strings = sections[".debug_line"], {FORM_LINE_STRP: sections[".debug_line_str"], FORM_STRP: b""}
    for at in range(len(good)):
        for new in (b"\0", b"\x7f", b"\xff", good[at : at + 1] * 2):
            programs = LinePrograms(good[:at] + new + good[at + 1 :], True, strings)
            programs.read()
            assert len(programs.address) == len(programs.end) <= len(good)


def test_a_file_without_debug_information_has_no_lines(tmp_path: Path) -> None:
    lines = read_lines(with_lines(tmp_path, {}))
    assert len(lines.rows) == 0
    assert lines.at(lines.rows["address"]).tolist() == []
