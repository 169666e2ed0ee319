"""Facts of unchanged units come from the cache, those of changed ones never do.

Owns what counts as a change; speed is measured elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.analyzer.units import Answer, database, entry, run, variables


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inc").mkdir()
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "size.h").write_text("#define SIZE 4\n")
    (tmp_path / "unit.c").write_text("#include <size.h>\nchar x[SIZE];\n")
    database(tmp_path, entry(tmp_path, "unit.c", "-Iinc", "-Ilate"))
    return tmp_path


def again(project: Path, *more: str) -> Answer:
    return run("-p", project, "--cache", project / "cache", *more, cwd=project)


def lines_of_units(answer: Answer) -> list[bytes]:
    return answer.raw.splitlines()[:-1]


def test_an_unchanged_unit_is_not_read_again(project: Path) -> None:
    first, second = again(project), again(project)
    assert (first.end.cached, second.end.cached) == (0, 1)
    assert lines_of_units(first) == lines_of_units(second)


def test_a_changed_header_counts_whatever_its_time(project: Path) -> None:
    again(project)
    header = project / "late" / "size.h"
    before = header.stat()
    header.write_text("#define SIZE 8\n")
    os.utime(header, ns=(before.st_atime_ns, before.st_mtime_ns))
    answer = again(project)
    assert (answer.end.cached, variables(answer.unit)["x"].size) == (0, 8)


def test_a_touched_header_does_not_count(project: Path) -> None:
    again(project)
    os.utime(project / "late" / "size.h")
    assert again(project).end.cached == 1


def test_a_new_header_that_is_found_earlier_counts(project: Path) -> None:
    again(project)
    (project / "inc" / "size.h").write_text("#define SIZE 16\n")
    answer = again(project)
    assert (answer.end.cached, variables(answer.unit)["x"].size) == (0, 16)


def test_a_changed_flag_counts(project: Path) -> None:
    again(project)
    database(project, entry(project, "unit.c", "-Iinc", "-Ilate", "-O2"))
    answer = again(project)
    assert (answer.end.cached, answer.unit.options.level) == (0, "2")


def test_further_rows_count(project: Path) -> None:
    again(project)
    rows = project / "rows.json"
    rows.write_text('{"locks": [{"name": "own", "types": ["own"], "lock": [["take", 0]]}]}')
    assert again(project, "--project-rows", str(rows)).end.cached == 0


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other"])
def test_a_damaged_entry_is_no_entry(project: Path, damage: str) -> None:
    whole = again(project)
    (file,) = (project / "cache").glob("*.facts")
    content = bytearray(file.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    elif damage == "empty":
        content.clear()
    else:
        content[:] = b"something else entirely" * 100
    file.write_bytes(content)
    answer = again(project)
    assert answer.end.cached == 0
    assert answer.raw == whole.raw
    assert again(project).end.cached == 1


def test_failures_are_tried_again(project: Path) -> None:
    (project / "unit.c").unlink()
    assert again(project).failures
    (project / "unit.c").write_text("int now;\n")
    assert again(project).units


def test_the_folder_is_bounded(project: Path) -> None:
    for i in range(4):
        (project / f"u{i}.c").write_text("".join(f"int v{i}_{n};\n" for n in range(3000)))
    database(project, *(entry(project, f"u{i}.c") for i in range(4)))
    again(project, "--cache-size", "1")
    sizes = [f.stat().st_size for f in (project / "cache").iterdir()]
    assert 0 < sum(sizes) <= 1 << 20
    assert all(s > 200_000 for s in sizes)  # else nothing had to go
