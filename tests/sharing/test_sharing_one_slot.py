"""Two small objects side by side are looked at even when nothing else is on their line."""

from __future__ import annotations

import pytest

from sharing.model import SiteFlag
from tests.builders.image import BSS, Builder, threads
from tests.sharing.test_sharing_judge import judged


@pytest.mark.parametrize(("size", "apart"), [(8, 8), (4, 8), (4, 4), (1, 1)])
def test_two_adjacent_counters(size: int, apart: int) -> None:
    b = Builder()
    threads(b, "one", "two")
    b.function("one").rmw("left", size, loop=2, flags=SiteFlag.ATOMIC)
    b.function("two").rmw("right", size, loop=2, flags=SiteFlag.ATOMIC)
    b.variable("left", size, BSS), b.variable("right", size, BSS + apart)
    assert [f.rule for f in judged(b).findings] == ["independent-writers"]
