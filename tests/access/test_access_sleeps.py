"""A loop that only sleeps again after a signal is none; one that asks for a word of another thread, or counts, is."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from tests.access.conftest import Build

ONCE = ("again", "failed", "kept")
IN_LOOPS = ("stopped", "asked", "counted")
ALONE = "alone"  # in no other loop


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64", "gcc-aarch64"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_only_rounds_that_do_something_count(build: Build, compiler: str, level: str) -> None:
    image = next(read_images(build(compiler, "rounds/sleeps.c", level, "-shared", "-fPIC"), types=False))
    names = [image.names[name] if name >= 0 else "" for name in image.functions["name"].tolist()]
    calls = image.calls
    found = {
        name: int(calls["loop_depth"][calls["function"] == names.index(name)].max())
        for name in (*ONCE, *IN_LOOPS, ALONE)
    }
    assert found == {**dict.fromkeys((*ONCE, ALONE), 1), **dict.fromkeys(IN_LOOPS, 2)}
