"""Predicted sections, order, offsets and alignments of random C units equal those of the object files, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emission.units import compare, make

COMPILERS = ("gcc", "clang-19")
LEVELS = ("-O0", "-O1", "-O2", "-Os")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_a_unit_is_laid_out_as_its_compiler_does(tmp_path: Path, compiler: str, level: str, seed: int) -> None:
    compare(make(seed), tmp_path, compiler, (level, "-fno-pic"))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flag", ["-fPIC", "-fPIE"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_relocations_are_apart_in_position_independent_code(
    tmp_path: Path, compiler: str, flag: str, level: str
) -> None:
    compare(make(100, count=120), tmp_path, compiler, (level, flag))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_common_variables_are_placed_one_by_one(tmp_path: Path, compiler: str) -> None:
    compare(make(200), tmp_path, compiler, ("-O2", "-fno-pic", "-fcommon"))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_data_sections_give_each_variable_its_own(tmp_path: Path, compiler: str) -> None:
    compare(make(300), tmp_path, compiler, ("-O2", "-fno-pic", "-fdata-sections"))


def test_without_toplevel_reordering_gcc_keeps_the_order_of_the_source(tmp_path: Path) -> None:
    compare(make(400), tmp_path, "gcc", ("-O2", "-fno-pic", "-fno-toplevel-reorder"))
