"""Headers that belong to the compiler of a unit, where clang has none of that name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.analyzer.units import database, entry, run, variables


def of_gcc() -> Path:
    """gcc's own folder of headers."""
    found = subprocess.run(["gcc", "-print-file-name=include"], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip())


@pytest.mark.parametrize(
    ("header", "declaration"),
    [("omp.h", "omp_lock_t"), ("quadmath.h", "__float128")],
)
def test_what_gcc_alone_has_is_found(tmp_path: Path, header: str, declaration: str) -> None:
    if not (of_gcc() / header).exists():
        pytest.skip(f"this gcc has no {header}")
    (tmp_path / "a.c").write_text(f"#include <{header}>\n{declaration} one[2];\n")
    answer = run("-p", database(tmp_path, entry(tmp_path, "a.c")), cwd=tmp_path)
    assert not answer.unit.errors
    assert variables(answer.unit)["one"].size > 0


@pytest.mark.parametrize(
    ("header", "declaration", "flags"),
    [
        ("immintrin.h", "__m128i one;", ()),
        # Clang's own includes the next one of its name, where there is one.
        ("stdatomic.h", "atomic_int one; void add(void) { atomic_fetch_add(&one, 1); }", ("-std=c11",)),
        ("limits.h", "int one[INT_MAX > 1];", ()),
        ("float.h", "float one[FLT_DIG];", ()),
        ("stdint.h", "intptr_t one;", ()),
    ],
)
def test_what_both_have_is_clangs(tmp_path: Path, header: str, declaration: str, flags: tuple[str, ...]) -> None:
    # gcc's own are made of builtin functions that clang has not.
    (tmp_path / "a.c").write_text(f"#include <{header}>\n{declaration}\n")
    path = database(tmp_path, entry(tmp_path, "a.c", *flags))
    answer = run("-p", path, cwd=tmp_path)
    assert not answer.unit.errors
    assert "one" in variables(answer.unit)
    assert not any(str(of_gcc()) in str(file) for file in answer.unit.files)


def test_a_project_s_own_comes_first(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "omp.h").write_text("typedef struct { char bytes[9]; } omp_lock_t;\n")
    (tmp_path / "a.c").write_text("#include <omp.h>\nomp_lock_t one;\n")
    answer = run("-p", database(tmp_path, entry(tmp_path, "a.c", "-isystem", "include")), cwd=tmp_path)
    assert variables(answer.unit)["one"].size == 9


def test_a_unit_that_wants_none_gets_none(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <omp.h>\nint one;\n")
    answer = run("-p", database(tmp_path, entry(tmp_path, "a.c", "-nostdinc")), cwd=tmp_path)
    assert any("omp.h" in error for error in map(str, answer.unit.errors))


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
