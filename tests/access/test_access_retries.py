"""A loop that only tries an exchange again runs once where threads do not meet, and counts as no loop.

Of optimised code for x86-64: without optimisation what was found goes through the frame first.
Elsewhere all loops count.
"""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind, Image
from tests.access.conftest import Build

ONCE = ("spinning", "yielding", "swapped", "checked", "guarded")
IN_LOOPS = ("taking", "each", "popped", "kept", "added", "replaced", "counted")


def depths(image: Image) -> dict[str, int]:
    """By variable, the most loops that one of its uses stands in."""
    named = {image.names[one["name"]]: int(one["address"]) for one in image.variables if one["name"] >= 0}
    used = image.sites[image.sites["kind"] != AccessKind.ADDRESS]
    return {name: int(used["loop_depth"][used["target"] == named[name]].max(initial=0)) for name in (*ONCE, *IN_LOOPS)}


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_only_rounds_that_do_something_count(build: Build, compiler: str, level: str) -> None:
    image = next(read_images(build(compiler, "rounds/retries.c", level), types=False))
    found = depths(image)
    assert {name: found[name] for name in ONCE} == dict.fromkeys(ONCE, 0)
    assert {name: found[name] for name in IN_LOOPS} == dict.fromkeys(IN_LOOPS, 1)
