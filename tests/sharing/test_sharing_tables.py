"""A table that is read at any of its elements, beside a word that another thread writes all the time."""

from __future__ import annotations

import pytest

from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, SiteFlag
from sharing.model.finding import Severity
from tests.builders.image import BSS, Builder

LINE = BSS + 1024  # on which the word stands, and the table's first elements
ELEMENT = 8


def beside(elements: int = 64, *, loop: int = 0, stride: int = ELEMENT, typed: bool = True) -> int:
    """How severe (a rank; -1: not said) it is that the first elements of a table and a counter are on one line.

    One thread looks something up, each time around; with ``loop`` the look-up goes through the table, and without
    ``stride`` it reads the first element.
    """
    b = Builder()
    b.function("main").call("pthread_create", None, None, "left").call("pthread_create", None, None, "right")
    b.function("left").call("look", loop=1)
    b.function("look").access(AccessKind.LOAD, "table", ELEMENT, loop=loop, stride=stride)
    b.function("right").rmw("word", loop=1, flags=SiteFlag.ATOMIC)
    row = b.array(b.base("long", 8), elements) if typed else -1
    b.variable("table", elements * ELEMENT, LINE + 8, type=row)
    b.variable("word", 8, LINE)
    found = judge(b.image(), JudgeOptions(64, 128, edits=False), default_knowledge()).findings
    met = [f.severity.rank for f in found if {p.name for p in f.participants} >= {"table", "word"}]
    return max(met, default=-1)


def test_a_table_that_keys_index_is_seldom_read_on_a_given_line() -> None:
    assert beside(elements=4) >= Severity.MEDIUM.rank
    assert beside(elements=64) < Severity.LOW.rank


@pytest.mark.parametrize(("stride", "loop"), [(0, 0), (ELEMENT, 1)], ids=["one element", "all elements"])
def test_what_is_known_to_read_the_line_reads_it_each_time(stride: int, loop: int) -> None:
    assert beside(elements=64, stride=stride, loop=loop) == beside(elements=4, stride=stride, loop=loop)


def test_of_a_table_of_unknown_extent_nothing_follows() -> None:
    assert beside(elements=64, typed=False) >= Severity.LOW.rank
