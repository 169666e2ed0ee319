"""``python -m elfscan`` shows what was read."""

from __future__ import annotations

import pytest

from elfscan.__main__ import main
from tests.elf.conftest import Build

TEXT = "int counter; static long hidden; int main(void) { counter++; return (int)hidden++; }"


def test_sections_and_symbols(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build(TEXT, "gcc", "-O0")
    assert main([str(path), "--no-types", "--sections", "--symbols"]) == 0
    out = capsys.readouterr().out
    assert f"{path}: pie for x86-64, 64 bits" in out
    assert "writable" in out
    assert "counter" in out
    assert "hidden [local]" in out
    assert " main [" in out


@pytest.mark.usefixtures("native")
def test_sites_of_a_variable(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    path = build(TEXT, "gcc", "-g", "-O2")
    assert main([str(path), "--variables", "--sites", "counter"]) == 0
    out = capsys.readouterr().out
    assert "rmw counter+0 size 4 loop 0 in main" in out
    assert "int program.c:1" in out.replace(str(path.parent) + "/", "")


def test_an_unknown_symbol_is_an_error(build: Build, capsys: pytest.CaptureFixture[str], native: None) -> None:
    path = build(TEXT, "gcc", "-O0")
    assert main([str(path), "--no-types", "--sites", "nobody"]) == 2
    assert capsys.readouterr().err == f"elfscan: {path}: no variable nobody\n"
