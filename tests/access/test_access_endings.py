"""Nothing follows a call that does not come back: no round of the loop that stands behind it, and no other code."""

from __future__ import annotations

import pytest

from elfscan.code import accessscan
from elfscan.code.accessscan import never_returns
from elfscan.image import read_images
from sharing.model.image import AccessKind, FunctionFlag, Image, Table
from tests.access.conftest import Build

SELDOM, HALF = 40, 4
COMPILERS = [
    (compiler, level)
    for compiler in ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64")
    for level in ("-O0", "-O2")
]


def scanned(build: Build, compiler: str, level: str) -> Image:
    return next(read_images(build(compiler, "rounds/endings.c", level), types=False))


def accesses(image: Image, name: str) -> Table:
    (at,) = (int(one["address"]) for one in image.variables if one["name"] >= 0 and image.names[one["name"]] == name)
    return image.sites[(image.sites["target"] == at) & (image.sites["kind"] != AccessKind.ADDRESS)]


def place(image: Image, name: str) -> tuple[int, int]:
    """(loops around, rarity) of the first access to a variable."""
    first = accesses(image, name)[0]
    return int(first["loop_depth"]), int(first["rarity"])


def is_apart(image: Image, name: str) -> bool:
    """Did the compiler put it into a part of the function that it takes to be cold?"""
    return bool(image.functions["flags"][accesses(image, name)["function"][0]] & FunctionFlag.COLD)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_what_leads_to_the_end_is_in_no_loop_and_rare(build: Build, compiler: str, level: str) -> None:
    image = scanned(build, compiler, level)
    for name in ("last", "checked"):
        depth, rarity = place(image, name)
        assert depth == 0, name
        assert rarity >= SELDOM or is_apart(image, name)


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_what_goes_on_is_as_often_as_without_the_end(build: Build, compiler: str, level: str) -> None:
    image = scanned(build, compiler, level)
    assert place(image, "before") == (0, 0)
    assert place(image, "after") == (0, 0)
    depth, rarity = place(image, "rounds")
    assert depth == 1
    assert rarity <= 1  # the test for the loop's end, at its end, is taken for one of an error
    assert place(image, "noted") == (1, rarity + HALF)  # a call that comes back


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-aarch64", "gcc-riscv64"])
def test_a_call_of_which_nothing_is_known_comes_back(
    build: Build, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    """Behind it the loop goes on, where no optimisation has put the way elsewhere."""
    monkeypatch.setattr(accessscan, "never_returns", lambda name, own=False: False)
    image = scanned(build, compiler, "-O0")
    assert place(image, "last") == (1, HALF)


def test_only_another_files_functions_are_known_by_common_names() -> None:
    assert never_returns("exit")
    assert never_returns("_ZSt20__throw_length_errorPKc")
    assert not never_returns("exit", own=True)  # a shell's command, say
    assert never_returns("__stack_chk_fail", own=True)  # a kernel's
    assert not never_returns("exit_group_later")
    assert not never_returns("_ZSt4cerr")
