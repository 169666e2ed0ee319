"""Compile databases of every kind are read, broken ones are named, and commands can move to another folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from linemate.database import Entry, fixed_entries, read_database, write_database
from sharing.model import LinemateError


def read(folder: Path, rows: Any) -> tuple[Entry, ...]:
    path = folder / "compile_commands.json"
    path.write_bytes(rows if isinstance(rows, bytes) else json.dumps(rows).encode())
    return read_database(path)


def test_a_command_is_split_as_a_shell_does(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, [{"directory": "/b", "file": "a.c", "command": "cc -DX='\"a b\"' -I x\\ y -c a.c"}])
    assert entry.arguments == ("cc", '-DX="a b"', "-I", "x y", "-c", "a.c")
    assert entry.path == "/b/a.c"


def test_arguments_win_over_the_command(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, [{"directory": "/b", "file": "/s/a.c", "arguments": ["cc"], "command": "clang"}])
    assert (entry.arguments, entry.path) == (("cc",), "/s/a.c")


def test_a_relative_folder_is_meant_from_the_database(tmp_path: Path) -> None:
    (entry,) = read(tmp_path, [{"directory": "sub", "file": "../a.c", "arguments": ["cc"]}])
    assert entry.path == str(tmp_path / "a.c")


@pytest.mark.parametrize(
    "rows",
    [
        b"",
        b"\xff",
        b"{}",
        b"[3]",
        b"[" * 100_000,
        [{"file": "a.c"}],
        [{"directory": 3, "file": "a.c"}],
        [{"directory": "/b", "file": "a.c", "arguments": "cc"}],
        [{"directory": "/b", "file": "a.c", "command": "cc 'open"}],
        [{"directory": "/b", "file": "a\0.c", "arguments": ["cc"]}],
    ],
    ids=range(10),
)
def test_a_broken_database_is_named(tmp_path: Path, rows: Any) -> None:
    with pytest.raises(LinemateError, match=r"compile_commands\.json"):
        read(tmp_path, rows)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    entries = (Entry("/b", "a.c", ("cc", '-DX="ü b"', "-c", "a.c")), *fixed_entries(["x.c", "x.c"], ["-O2"], "/y"))
    write_database(tmp_path / "out.json", entries)
    assert read_database(tmp_path / "out.json") == entries
    assert len(entries) == 2
