"""As ``test_sharing_rare``, of images that are made here and not by a compiler."""

from __future__ import annotations

import pytest

from sharing.basics.numbers import SELDOM
from sharing.model import AccessKind, Image
from sharing.model.image import SectionKind
from sharing.static.rarecode import with_rarity
from tests.builders.image import Builder


def test_what_stands_beside_a_message_to_the_error_stream_is_rare() -> None:
    b = Builder()
    b.variable("stderr", 8)
    b.variable("stdout", 8)
    b.variable("count", 8)
    body = b.function("main")
    for order, stream in enumerate(("stderr", "stdout"), 1):
        body.load(stream, rarity=4, order=order).call("fprintf", rarity=4, order=order)
        body.access(AccessKind.RMW, "count", rarity=4, order=order)
    image = with_rarity(b.image())
    found = image.sites["rarity"][image.sites["kind"] == AccessKind.RMW].tolist()
    assert found == [SELDOM, 4]


@pytest.mark.parametrize(("section", "rare"), [(".data..read_mostly", True), (".data", False)])
def test_what_is_declared_to_be_read_mostly_is_hardly_ever_written(section: str, rare: bool) -> None:
    b = Builder()
    b.section(section, SectionKind.WRITABLE, 0x900000, 64)
    b.variable("generation", 8, at=0x900000)
    b.function("resize").access(AccessKind.RMW, "generation", loop=1, rarity=4).load("generation", loop=1, rarity=4)
    found = with_rarity(b.image()).sites
    assert found["rarity"][found["kind"] == AccessKind.RMW].tolist() == [SELDOM if rare else 4]
    assert found["rarity"][found["kind"] == AccessKind.LOAD].tolist() == [4]


def test_a_loop_that_tells_of_something_and_sleeps_sleeps() -> None:
    """Its message is no error that would make the sleep rare."""
    b = Builder()
    b.variable("stderr", 8), b.variable("ticks", 8)
    body = b.function("work").call("sleep", loop=1, order=1).load("stderr", loop=1, order=1)
    body.call("fprintf", "stderr", loop=1, order=1)
    image = with_rarity(b.image())
    (slept,) = image.calls["rarity"][image.calls["callee"] == _address(image, "sleep")]
    (told,) = image.calls["rarity"][image.calls["callee"] == _address(image, "fprintf")]
    assert slept == 0
    assert told >= SELDOM


def _address(image: Image, name: str) -> int:
    return next(address for address, called in image.callee_names.items() if called == name)


def test_what_is_behind_an_argument_is_as_rare_where_the_program_ends() -> None:
    """An error that a function counts in the record which it was given."""
    b = Builder()
    worker = b.function("worker").through(0, 8, AccessKind.RMW, rarity=4).call("abort", rarity=4)
    worker.through(0, 16, AccessKind.RMW, rarity=4)
    b.function("main").call("worker")
    image = with_rarity(b.image())
    assert dict(zip(image.params["offset"].tolist(), image.params["rarity"].tolist(), strict=True)) == {
        8: SELDOM,
        16: 4,
    }
