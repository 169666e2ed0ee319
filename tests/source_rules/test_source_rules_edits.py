"""Edits that rules of declarations print: they compile with gcc and clang as they are, tags and bounds included."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import cast

import pytest

from sharing.rules.declaration.base import SourceContext, aligned_record, wrapper

CONTEXT = cast(SourceContext, type("Lines", (), {"line_size": 64, "macro": ""}))
USE = "int used(void) { return &hits != 0; }\n"
KNOWN = "struct point { long x, y; };\n"


@pytest.mark.parametrize("language", ["C", "C++"])
@pytest.mark.parametrize(
    "kind", ["volatile long", "struct point", "const struct point *", "long[8]", "long[2][4]", "void (*)(int)"]
)
def test_a_wrapper_holds_the_type_as_written_and_fills_its_lines(language: str, kind: str, tmp_path: Path) -> None:
    edit = wrapper("hits", kind, language, CONTEXT, storage="static")
    word = "static_assert" if language == "C++" else "_Static_assert"
    check(f'{KNOWN}{edit}\n{word}(sizeof(hits) == 64, "lines");\n{USE}', language, tmp_path)
    assert edit.splitlines()[1].startswith("static ")
    assert "static" not in wrapper("hits", kind, language, CONTEXT), "the type alone, where the rule knows no more"


@pytest.mark.parametrize("language", ["C", "C++"])
def test_an_aligned_record_compiles_with_its_members(language: str, tmp_path: Path) -> None:
    edit = aligned_record("node", language, CONTEXT)
    word = "static_assert" if language == "C++" else "_Static_assert"
    members = next(line for line in edit.splitlines() if "members" in line)
    check(f'{edit.replace(members, "long n;")}\n{word}(sizeof(struct node) == 64, "lines");\n', language, tmp_path)
    assert "..." not in edit


def check(text: str, language: str, folder: Path) -> None:
    source = folder / ("edit.cc" if language == "C++" else "edit.c")
    source.write_text(text)
    for tool in ("g++", "clang++-19") if language == "C++" else ("gcc", "clang-19"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
        command = [tool, "-Wall", "-Werror", "-Wno-address", "-Wno-tautological-pointer-compare", "-fsyntax-only"]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{text}\n{done.stderr}"
