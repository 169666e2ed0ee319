"""What a thread gets where it finds in its own storage that it has none yet, it gets once."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.basics.numbers import SELDOM
from sharing.model.image import AccessKind
from tests.access.conftest import Build

ONCE = ("numbers", "records", "caches")  # the last by a function that alone sets the word
# Used up and filled again; set back elsewhere; set by another function as well; given up where there is one.
AGAIN = ("refills", "states", "entered", "left_again")


@pytest.mark.parametrize(("compiler", "level"), [("gcc-x86-64", "-O0"), ("gcc-x86-64", "-O2"), ("clang-x86-64", "-O2")])
def test_a_word_that_was_compared_with_none_and_is_set_there_alone(build: Build, compiler: str, level: str) -> None:
    image = next(read_images(build(compiler, "rounds/firsts.c", level), types=False))
    named = {image.names[one["name"]]: int(one["address"]) for one in image.variables if one["name"] >= 0}
    used = image.sites[image.sites["kind"] != AccessKind.ADDRESS]
    rarity = {name: int(used["rarity"][used["target"] == named[name]].max()) for name in (*ONCE, *AGAIN)}
    assert {name: rarity[name] >= SELDOM for name in rarity} == {name: name in ONCE for name in rarity}
