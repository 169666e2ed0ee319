"""Files that never end, or make the reader wait: named by flags, by source, and in place of the inputs themselves.

Owns what is said of each, and that it is said at once: a wait would end in the tool's own time limit and its words.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analyzer.units import KNOWLEDGE, Answer, database, entry, run, tool, variables

PATIENCE_S = 60  # of a loaded machine; alone, each takes a fraction of a second
FIFO = "it is a FIFO, not a regular file"
DEVICE = "it is a device, not a regular file"


def nested(folder: Path) -> str:
    """Seven levels of sixty: 60^7 words."""
    for level in range(7):
        (folder / f"{level}.rsp").write_text(f"@{level + 1}.rsp " * 60 if level < 6 else "-DX " * 60)
    return "@0.rsp"


def wide(folder: Path) -> str:
    (folder / "wide.rsp").write_text("-DX " * 200_000)
    return "@wide.rsp"


def large(folder: Path) -> str:
    with (folder / "large.rsp").open("wb") as file:
        file.truncate(1 << 40)
    return "@large.rsp"


def itself(folder: Path) -> str:
    (folder / "self.rsp").write_text("@self.rsp")
    return "@self.rsp"


def hole(folder: Path) -> str:
    with (folder / "hole.h").open("wb") as file:
        file.truncate(1 << 40)
    return "-include hole.h"


def listening(folder: Path) -> str:
    # Its name is bound when this process has gone to the folder: paths of sockets are short.
    here = Path.cwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket")
    os.chdir(here)
    return "@socket"


Make = Callable[[Path], str] | str

# Flags; why the unit is not read.
REFUSED: dict[str, tuple[Make, str]] = {
    "a FIFO as response file": ("@fifo", FIFO),
    "a FIFO in a response file": ("@in.rsp", FIFO),
    "a device as response file": ("@/dev/zero", DEVICE),
    "a terminal as response file": ("@/dev/tty", DEVICE),
    "a socket as response file": (listening, "it is a socket"),
    "nested response files": (nested, "more than"),
    "a response file of itself": (itself, "more than 8 in each other"),
    "many words": (wide, "more than 100000 words"),
    "a huge response file": (large, "more than 8388608 bytes"),
}
# Flags and source; an error of the unit, which is read as far as it goes.
NAMED: dict[str, tuple[Make, str, str]] = {
    "-include of a FIFO": ("-include fifo", "", FIFO),
    "-include of a device": ("-include /dev/zero", "", DEVICE),
    "-imacros of a device": ("-imacros /dev/random", "", DEVICE),
    "#include of a FIFO": ("", '#include "fifo"', FIFO),
    "#include of a FIFO by a link": ("", '#include "link"', FIFO),
    "#include of a device": ("", '#include "/dev/zero"', DEVICE),
    "#include of a full device": ("", '#include "/dev/full"', DEVICE),
    "#include_next of a FIFO": ("-I. -Iother", '#include_next "fifo"', FIFO),
    "a search for a FIFO": ("", '#if __has_include("fifo")\n#endif', FIFO),
    "a huge header": (hole, "", "it is too large"),
    "#embed of a FIFO": ("", '#include "/dev/urandom"', DEVICE),
}
# Read to the end, without an error.
HARMLESS: dict[str, tuple[Make, str]] = {
    "/dev/null as header": ("-include /dev/null", '#include "/dev/null"'),
    "memory of the process": ("-include /proc/self/mem", ""),
    "page map of the process": ("-include /proc/self/pagemap", ""),
    "a FIFO for a sanitizer": ("-fsanitize=address -fsanitize-ignorelist=fifo", ""),
    "a FIFO as profile": ("-fprofile-use=fifo -fprofile-instr-use=fifo -fauto-profile=fifo", ""),
    "a FIFO as precompiled header": ("-include-pch fifo", ""),
    "a FIFO as overlay": ("-ivfsoverlay fifo", ""),
    "a FIFO as module map": ("-fmodules -fmodule-map-file=fifo -fmodule-file=fifo", ""),
    "a FIFO as configuration": ("--config=fifo -specs=fifo", ""),
    "a FIFO as second input": ("fifo /dev/zero", ""),
    "assembler that includes": ("", '__asm__(".incbin \\"/dev/zero\\"");'),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "other" / "fifo")
    (tmp_path / "in.rsp").write_text("-DX @fifo")
    return tmp_path


def answer(folder: Path, flags: Make, text: str) -> Answer:
    (folder / "unit.c").write_text(text + "\nint after;\n")
    words = flags(folder) if callable(flags) else flags
    return run("-p", database(folder, entry(folder, "unit.c", *words.split())), cwd=folder)


@pytest.mark.parametrize("case", REFUSED)
def test_a_command_that_cannot_be_expanded_costs_its_unit(folder: Path, case: str) -> None:
    flags, why = REFUSED[case]
    (reason,) = answer(folder, flags, "").failures.values()
    assert why in reason


@pytest.mark.parametrize("case", NAMED)
def test_a_file_that_cannot_be_read_is_an_error_of_the_unit(folder: Path, case: str) -> None:
    flags, text, why = NAMED[case]
    unit = answer(folder, flags, text).unit
    assert any(why in error for error in unit.errors), unit.errors
    assert "after" in variables(unit)


@pytest.mark.parametrize("case", HARMLESS)
def test_what_is_not_read_costs_nothing(folder: Path, case: str) -> None:
    flags, text = HARMLESS[case]
    unit = answer(folder, flags, text).unit
    assert unit.errors == ()
    assert "after" in variables(unit)


def test_response_files_in_their_bounds_are_read(folder: Path) -> None:
    for level in range(7):
        (folder / f"{level}.rsp").write_text(f"-DL{level}=1 @{level + 1}.rsp" if level < 6 else "-DL6=1 @gone.rsp")
    found = answer(folder, "@0.rsp", "char x[L0 + L1 + L2 + L3 + L4 + L5 + L6];")
    assert variables(found.unit)["x"].size == 7
    assert found.notes == ["flags left out: @gone.rsp (1 unit)"]


@pytest.mark.parametrize(("source", "why"), [("fifo", FIFO), ("/dev/zero", DEVICE), ("other", "Is a directory")])
def test_a_source_that_is_no_file_costs_itself(folder: Path, source: str, why: str) -> None:
    (folder / "fine.c").write_text("int fine;\n")
    path = database(folder, entry(folder, source, "-x", "c"), entry(folder, "fine.c"))
    found = run("-p", path, cwd=folder)
    assert [why in reason for reason in found.failures.values()] == [True]
    assert variables(found.unit).keys() == {"fine"}


@pytest.mark.parametrize(("name", "why"), [("fifo", FIFO), ("/dev/zero", DEVICE), ("/dev/null", "JSON")])
def test_a_database_that_is_no_file_is_one_line_of_error(folder: Path, name: str, why: str) -> None:
    (folder / "compile_commands.json").symlink_to(name)
    done = subprocess.run(
        [tool(), "--knowledge", KNOWLEDGE, "-p", folder], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "compile_commands.json" in done.stderr
    assert why in done.stderr or why == "JSON"


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linemate", "check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S)


def test_check_of_a_fifo_as_database_says_so(folder: Path) -> None:
    (folder / "compile_commands.json").symlink_to("fifo")
    done = check(folder, "-p", ".", "--no-cache")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "compile_commands.json: is a pipe" in done.stderr


def test_check_of_a_command_that_cannot_be_expanded_fails_for_its_unit(folder: Path) -> None:
    (folder / "unit.c").write_text("int x;\n")
    database(folder, entry(folder, "unit.c", "@fifo"))
    done = check(folder, "-p", ".", "--no-cache")
    assert done.returncode == 3
    assert FIFO in " ".join(done.stdout.split())  # wrapped for a terminal
    assert "Traceback" not in done.stderr
