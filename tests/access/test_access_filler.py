"""Traps in a row fill gaps: they are passed over, and what stands around them is found as it is without them."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import Image
from tests.access.conftest import Build

NONE, SOME = 0, 10_000  # as many as are still followed as one piece
MANY = 200_000
TRAPS = [("gcc-x86-64", ""), ("gcc-x86-64", '-DTRAP="ud2\\n"'), ("gcc-aarch64", ""), ("clang-riscv64", "")]


def scanned(build: Build, compiler: str, trap: str, count: int) -> Image:
    flags = [flag for flag in ("-O0", f"-DCOUNT={count}", trap) if flag]
    return next(read_images(build(compiler, "rounds/filler.c", *flags), types=False))


def places(image: Image) -> list[tuple[str, int, int, int]]:
    """(variable, kind, loops around, rarity) of each access to one of the variables, in the order of the code."""
    names = {int(v["address"]): image.names[v["name"]] for v in image.variables if v["name"] >= 0}
    known = {at: name for at, name in names.items() if name in ("before", "inside", "behind")}
    rows = [row for row in image.sites if int(row["target"]) in known]
    return [(known[int(r["target"])], int(r["kind"]), int(r["loop_depth"]), int(r["rarity"])) for r in rows]


@pytest.mark.parametrize(("compiler", "trap"), TRAPS)
def test_filler_changes_nothing_around_it(build: Build, compiler: str, trap: str) -> None:
    expected = places(scanned(build, compiler, trap, NONE))
    assert {name for name, *_ in expected} == {"before", "inside", "behind"}
    assert any(name == "inside" and depth == 1 for name, _, depth, _ in expected)
    assert places(scanned(build, compiler, trap, SOME)) == expected


@pytest.mark.parametrize(("compiler", "trap"), TRAPS)
def test_what_is_behind_much_filler_is_found(build: Build, compiler: str, trap: str) -> None:
    found = {name for name, *_ in places(scanned(build, compiler, trap, MANY))}
    assert found == {"before", "inside", "behind"}
