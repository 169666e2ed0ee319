"""Summaries of a fifth argument are not those of the next function."""

from __future__ import annotations

from sharing.model import AccessKind
from sharing.static import flow
from tests.builders.image import Builder


def test_fifth_argument_is_not_the_first_of_the_next_function() -> None:
    b = Builder()
    b.variable("a", 8), b.variable("c", 8)
    b.function("five").through(4, 0, AccessKind.STORE)
    b.function("one").through(0, 0, AccessKind.STORE)
    b.function("f").call("five", None, None, None, None, "a").call("one", "c")
    assert len(flow.through_arguments(b.image())) == 2
