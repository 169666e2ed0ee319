"""gcc for AArch64: exact offsets without optimisation; with section anchors the members and which order is a guess."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sharing.source.emission import contributions
from tests.emission.units import built, compare, make, options_of

GCC, TRIPLE = "aarch64-linux-gnu-gcc", "aarch64-unknown-linux-gnu"


@pytest.mark.parametrize("seed", range(3))
def test_without_optimisation_offsets_are_exact(tmp_path: Path, seed: int) -> None:
    compare(make(seed), tmp_path, GCC, ("-O0", "-fno-pic"), triple=TRIPLE)


@pytest.mark.parametrize("level", ["-O1", "-Os"])
def test_with_section_anchors_members_are_known_and_order_is_not_claimed(tmp_path: Path, level: str) -> None:
    if shutil.which(GCC) is None:
        pytest.skip(f"{GCC} is not installed")
    unit, flags = make(3), (level, "-fno-pic")
    model = contributions(
        unit.variables, options_of(GCC, flags), "C", TRIPLE, functions=unit.functions, symbols=unit.symbols
    )
    truth = built(unit, tmp_path, (GCC, *flags))
    assert not any(c.exact for c in model)
    assert {c.section: (c.alignment, {m.identity for m in c.members}) for c in model} == {
        name: (align, {member for member, _ in members}) for name, (align, members) in truth.items()
    }
