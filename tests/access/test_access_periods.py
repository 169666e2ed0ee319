"""What code does once in a period by a clock is rare: what the clock said is compared with what is kept of it then."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.clocktimes import ClockTime, clock_time_of
from sharing.model.image import AccessKind, Image
from tests.access.conftest import Build

SELDOM = 40
USUAL_LIMIT = 11
COMPILERS = [(compiler, level) for compiler in ("gcc-x86-64", "clang-x86-64") for level in ("-O0", "-O2")]
# A function that is called tells nothing of units.
NOT_INLINED = {"r_scaled"}


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
def test_once_in_a_period_is_rare_and_what_differs_each_time_is_not(build: Build, compiler: str, level: str) -> None:
    found = rarities(next(read_images(build(compiler, "rounds/periods.c", level), types=False)))
    rare = {name for name in found if name.startswith("r_")} - (NOT_INLINED if level == "-O0" else set())
    assert len(rare) >= 10
    assert {name: found[name] for name in rare if found[name] < SELDOM} == {}
    usual = {name: rarity for name, rarity in found.items() if name.startswith("f_")}
    assert len(usual) == 8
    assert {name: rarity for name, rarity in usual.items() if rarity > USUAL_LIMIT} == {}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("time", ClockTime.SECONDS),
        ("gettimeofday", ClockTime.FILLS_FIRST),
        ("clock_gettime", ClockTime.FILLS_SECOND),
        ("_ZNSt6chrono3_V212steady_clock3nowEv", ClockTime.NANOSECONDS),
        ("uv_now", ClockTime.MILLISECONDS),
        ("clock", None),  # of the processor's time
        ("times", None),
    ],
)
def test_functions_that_tell_the_time(name: str, told: ClockTime | None) -> None:
    assert clock_time_of(name) == told
