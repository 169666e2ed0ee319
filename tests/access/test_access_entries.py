"""Where loops are entered: a second entry brings nothing into a loop, and only what skips a loop is the rarer way."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind
from tests.access.conftest import Build

HALF, SKIPPED = 4, 12  # steps of rarity, four a halving; 12 of 100
COMPILERS = [
    (compiler, level)
    for compiler in ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64")
    for level in ("-O0", "-O1")
]
Places = dict[str, tuple[int, int]]


def written(build: Build, compiler: str, level: str) -> Places:
    """By variable (loops around, rarity) of what writes it."""
    image = next(read_images(build(compiler, "rounds/entries.c", level), types=False))
    names = {int(v["address"]): image.names[v["name"]] for v in image.variables if v["name"] >= 0}
    writes = image.sites[(image.sites["kind"] == AccessKind.STORE) | (image.sites["kind"] == AccessKind.RMW)]
    return {names[int(s["target"])]: (int(s["loop_depth"]), int(s["rarity"])) for s in writes}


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_what_is_in_front_of_a_loop_with_two_entries_is_no_part_of_it(build: Build, compiler: str, level: str) -> None:
    places = written(build, compiler, level)
    depths = {name: places[name][0] for name in ("once", "rounds", "inner", "middle", "behind")}
    assert depths == {"once": 0, "rounds": 1, "inner": 2, "middle": 2, "behind": 0}
    assert places["rounds"][1] <= 1
    assert places["middle"][1] <= HALF


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_a_way_to_a_loop_is_as_likely_as_another_that_leads_there(build: Build, compiler: str, level: str) -> None:
    places = written(build, compiler, level)
    assert places["failed"][1] <= HALF + 1  # or one branch asks for both
    assert places["passed"] == (0, 2 * HALF)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_a_loop_is_entered_more_often_than_skipped(build: Build, compiler: str, level: str) -> None:
    assert written(build, compiler, level)["skipped"] == (0, SKIPPED)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_the_next_round_of_a_loop_is_none_that_is_entered(build: Build, compiler: str, level: str) -> None:
    """Though it begins with a loop."""
    places = written(build, compiler, level)
    assert places["idle"][1] >= HALF
    assert HALF < places["worked"][1] < 3 * HALF
