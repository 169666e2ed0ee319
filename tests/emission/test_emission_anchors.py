"""Where GCC places variables by section anchors: an order that is then a guess, and is said to be one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.model.facts import UnitOptions
from sharing.source.alignment import anchored

SOURCE = "int first, second; long third;\nint sum(void) { return first + second + (int)third; }\n"
TRIPLES = ("aarch64-linux-gnu", "riscv64-linux-gnu", "x86_64-linux-gnu")


@pytest.mark.parametrize("level", ["0", "1", "2"])
@pytest.mark.parametrize("triple", TRIPLES)
def test_anchors_are_expected_where_gcc_makes_them(tmp_path: Path, triple: str, level: str) -> None:
    compiler = shutil.which(f"{triple}-gcc")
    if compiler is None:
        pytest.skip(f"{triple}-gcc is not installed")
    source = tmp_path / "anchors.c"
    source.write_text(SOURCE)
    command = [compiler, f"-O{level}", "-S", "-o", "-", str(source)]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert anchored(UnitOptions("gcc", level), triple) == ("LANCHOR" in made)


@pytest.mark.parametrize("triple", TRIPLES)
def test_clang_makes_none(triple: str) -> None:
    assert not anchored(UnitOptions("clang", "2"), triple)
