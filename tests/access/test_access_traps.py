"""Nothing follows an instruction that traps, but in a kernel, which warns by it and goes on."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind, FunctionFlag, Image
from tests.access.conftest import Build

SELDOM, NEVER = 40, 255
COMPILERS = [
    (compiler, level)
    for compiler in ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64")
    for level in ("-O0", "-O2")
]


def scanned(build: Build, compiler: str, *flags: str) -> Image:
    return next(read_images(build(compiler, "rounds/traps.c", *flags), types=False))


def place(image: Image, name: str) -> tuple[int, int]:
    """(loops around, rarity) of the first access to a variable: what gcc puts into a cold part is as rare as can be."""
    (at,) = (int(one["address"]) for one in image.variables if one["name"] >= 0 and image.names[one["name"]] == name)
    first = image.sites[(image.sites["target"] == at) & (image.sites["kind"] != AccessKind.ADDRESS)][0]
    apart = image.functions["flags"][first["function"]] & FunctionFlag.COLD
    return int(first["loop_depth"]), NEVER if apart else int(first["rarity"])


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_what_leads_to_a_trap_is_in_no_loop_and_rare(build: Build, compiler: str, level: str) -> None:
    image = scanned(build, compiler, level)
    for name in ("warned", "failed"):
        depth, rarity = place(image, name)
        assert depth == 0, name
        assert rarity >= SELDOM, name
    assert place(image, "rounds")[0] == 1
    assert place(image, "after") == (0, 0)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_a_kernel_goes_on_behind_it(build: Build, compiler: str, level: str) -> None:
    image = scanned(build, compiler, level, "-DTABLE")
    depth, rarity = place(image, "warned")
    assert depth == 1
    assert rarity < SELDOM
