"""What code does where a call failed, or time ran out while it waited, is rare."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind, Image
from tests.access.conftest import Build

SELDOM = 40
# Rarer than even by what a negative number and a way that returns at once say.
USUAL_LIMIT = 11
COMPILERS = [
    ("gcc-x86-64", "-O0"),
    ("clang-x86-64", "-O0"),
    *((compiler, "-O2") for compiler in ("gcc-x86-64", "clang-x86-64", "gcc-aarch64", "clang-aarch64", "gcc-riscv64")),
]
# A number of an error and -1 are no operands of a RISC-V branch, and clang puts -1 into a register at -O0.
OTHERWISE = {("gcc-riscv64", "-O2"): {"r_timed", "r_map"}, ("clang-x86-64", "-O0"): {"r_map"}}


def rarities(image: Image) -> dict[str, int]:
    """By variable how rare its rarest access is."""
    found: dict[str, int] = {}
    for one in image.variables:
        name = image.names[one["name"]] if one["name"] >= 0 else ""
        rows = image.sites[(image.sites["target"] == one["address"]) & (image.sites["kind"] != AccessKind.ADDRESS)]
        if name.startswith(("r_", "f_")) and len(rows):
            found[name] = int(rows["rarity"].max())
    return found


@pytest.mark.parametrize(("compiler", "level"), COMPILERS)
def test_where_a_call_failed_is_rare_and_where_it_only_said_no_is_not(build: Build, compiler: str, level: str) -> None:
    found = rarities(next(read_images(build(compiler, "rounds/failures.c", level), types=False)))
    rare = {name for name in found if name.startswith("r_")} - OTHERWISE.get((compiler, level), set())
    assert len(rare) >= 9
    assert {name: found[name] for name in rare if found[name] < SELDOM} == {}
    usual = {name: rarity for name, rarity in found.items() if name.startswith("f_")}
    assert len(usual) >= 7
    assert {name: rarity for name, rarity in usual.items() if rarity > USUAL_LIMIT} == {}


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
def test_where_a_clock_says_behind_a_wait_that_its_time_has_come_is_rare(build: Build, compiler: str) -> None:
    """libstdc++ asks the clock and not the wait, inlined."""
    found = rarities(next(read_images(build(compiler, "rounds/timed.cpp", "-O2"), types=False)))
    assert {name: rarity >= SELDOM for name, rarity in found.items()} == {
        **dict.fromkeys(("r_ticks", "r_until", "r_left", "r_status"), True),
        **dict.fromkeys(("f_woken", "f_any", "f_passed", "f_early"), False),
    }


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
def test_where_less_was_written_than_was_asked_for_is_rare(build: Build, compiler: str) -> None:
    found = rarities(next(read_images(build(compiler, "rounds/written.c", "-O2"), types=False)))
    assert {name: rarity >= SELDOM for name, rarity in found.items()} == {
        **dict.fromkeys(("r_short", "r_word", "r_file", "r_round"), True),
        **dict.fromkeys(("f_other", "f_read", "f_sent", "f_whole", "f_changed", "f_negative"), False),
    }
