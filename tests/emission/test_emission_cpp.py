"""Predicted sections, order, offsets and alignments of random C++ units equal those of the object files, exactly.

With inline variables, statics of inline functions, dynamic initialisers and the guards that come with them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emission.units import compare, make

COMPILERS = ("g++", "clang++-19")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("seed", range(4))
def test_a_unit_is_laid_out_as_its_compiler_does(tmp_path: Path, compiler: str, level: str, seed: int) -> None:
    compare(make(seed, "C++"), tmp_path, compiler, (level, "-fno-pic"), "C++")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", [("-O0", "-fPIC"), ("-O2", "-fPIE"), ("-O1", "-fdata-sections")])
def test_sections_follow_the_options(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    compare(make(100, "C++", count=100), tmp_path, compiler, flags, "C++")
