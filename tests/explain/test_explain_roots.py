"""Causes in the order of cause: a root stands before what follows from it, and is as strong."""

from __future__ import annotations

from sharing.explain.causes.base import ranked
from sharing.model.comparison import Cause, CauseKind
from sharing.model.finding import Confidence
from tests.explain.conftest import BuildTableCache, Explain


def cause(kind: CauseKind, strength: float, *, root: bool = True, improves: bool = False) -> Cause:
    follows = None if root else CauseKind.TOOLCHAIN
    return Cause(kind, Confidence.STATIC, strength, kind.value, follows=follows, improves=improves)


def told(*causes: Cause) -> list[tuple[str, float]]:
    return [(c.summary, c.strength) for c in ranked(causes)]


def test_what_follows_stands_behind_its_root_which_is_as_strong() -> None:
    found = ranked([cause(CauseKind.LAYOUT, 0.9, root=False), cause(CauseKind.TOOLCHAIN, 0.45)])
    assert [(c.kind.value, c.strength, c.by_itself) for c in found] == [
        ("toolchain", 0.9, 0.45),
        ("layout", 0.9, None),
    ]


def test_a_root_falls_with_what_follows_from_it() -> None:
    raised = ranked([cause(CauseKind.LAYOUT, 0.9, root=False), cause(CauseKind.TOOLCHAIN, 0.45)])
    halved = [c if c.follows is None else cause(CauseKind.LAYOUT, 0.5, root=False) for c in raised]
    assert told(*halved) == [("toolchain", 0.5), ("layout", 0.5)]
    gone = [c for c in raised if c.follows is None]
    assert told(*gone) == [("toolchain", 0.45)]


def test_what_follows_from_nothing_that_is_there_is_a_root() -> None:
    (found,) = ranked([cause(CauseKind.LAYOUT, 0.9, root=False)])
    assert found.follows is None


def test_another_root_stands_at_its_own_strength() -> None:
    found = told(
        cause(CauseKind.TOOLCHAIN, 0.45), cause(CauseKind.CODE, 0.6, root=False), cause(CauseKind.DEPENDENCY, 0.85)
    )
    assert found == [("dependency", 0.85), ("toolchain", 0.6), ("code", 0.6)]


def test_an_improvement_that_follows_raises_nothing() -> None:
    found = told(cause(CauseKind.TOOLCHAIN, 0.45), cause(CauseKind.LAYOUT, 0.9, root=False, improves=True))
    assert found == [("toolchain", 0.45), ("layout", 0.9)]


def test_a_level_stands_before_the_code_that_it_changed(table_cache: BuildTableCache, explained: Explain) -> None:
    found = explained(table_cache(), table_cache(flags="-O1 -g"))
    assert (found.causes[0].kind, found.causes[0].follows) == (CauseKind.TOOLCHAIN, None)
    assert {c.follows for c in found.causes[1:]} == {CauseKind.TOOLCHAIN}


def test_a_variable_that_was_added_is_a_root_beside_another_level(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    found = explained(table_cache(), table_cache("-DEXTRA_SYSVAR", flags="-O1 -g"))
    roots = {c.kind for c in found.causes if c.follows is None}
    assert CauseKind.TOOLCHAIN in roots
    layouts = [c for c in found.causes if c.kind is CauseKind.LAYOUT and c.strength >= 0.9]
    assert all(c.follows is None for c in layouts if any("added" in text for text in c.evidence))
