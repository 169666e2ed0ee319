"""Words of gcc in headers that clang does not know."""

from __future__ import annotations

from pathlib import Path

from tests.analyzer.units import database, entry, run, variables


def test_what_frees_the_memory_is_no_error(tmp_path: Path) -> None:
    # gcc 11 and later; the near miss is an attribute that no compiler takes so.
    (tmp_path / "a.c").write_text(
        "void put(void *);\nvoid *get(unsigned long) __attribute__((malloc(put), malloc(put, 1)));\nint *one;\n"
    )
    (tmp_path / "b.c").write_text("int one __attribute__((unused(1)));\n")
    answer = run("-p", database(tmp_path, *(entry(tmp_path, name) for name in ("a.c", "b.c"))), cwd=tmp_path)
    whole, partly = answer.units
    assert not whole.errors
    assert "one" in variables(whole)
    assert len(partly.errors) == 1
