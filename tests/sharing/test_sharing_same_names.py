"""Findings about statics of one name in two units have two ids."""

from __future__ import annotations

from sharing.model import SiteFlag
from tests.builders.image import BSS, Builder, threads
from tests.sharing.test_sharing_judge import judged


def test_identities_are_unique() -> None:
    b = Builder()
    threads(b, "one", "two")
    b.function("one").rmw("left", loop=1, flags=SiteFlag.ATOMIC)
    b.function("two").rmw("right", loop=1, flags=SiteFlag.ATOMIC)
    b.functions["one"].rmw(BSS + 0x100, loop=1, flags=SiteFlag.ATOMIC)
    b.functions["two"].rmw(BSS + 0x108, loop=1, flags=SiteFlag.ATOMIC)
    b.variable("left", 8, BSS), b.variable("right", 8, BSS + 8)
    b.variable("left#2", 8, BSS + 0x100), b.variable("right#2", 8, BSS + 0x108)
    ids = [f.id for f in judged(b).findings]
    assert len(ids) == 2
    assert len(set(ids)) == 2
