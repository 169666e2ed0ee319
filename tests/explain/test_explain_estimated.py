"""A counter that newly meets what other threads use, of which an estimate alone says that both do so often."""

from __future__ import annotations

from sharing.explain.activity import observe
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.finding import Severity
from sharing.model.image import Image
from tests.builders.image import BSS, Builder, threads


def estimated(apart: int, *, counts: bool = True, work: int = 1000) -> Image:
    """Two threads that work, and now and then call what counts one word, and what reads the other one."""
    b = Builder()
    threads(b, "left", "right")
    for name, helper in (("left", "count"), ("right", "look")):
        b.function(name).call("work", loop=1).call(helper, loop=1, rarity=12)
    b.function("work").statements = work
    counting = b.function("count")
    (counting.rmw if counts else counting.store)("mine", loop=1)
    b.function("look").load("theirs", loop=1)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 8, BSS + apart)
    return b.image()


def told(**how: object) -> Comparison:
    """What comes of it that the two share a line now."""
    old, new = estimated(256, **how), estimated(8, **how)  # type: ignore[arg-type]
    return explain(old, new, default_knowledge(), ExplainOptions(demangle=lambda names: names))


def layout(found: Comparison) -> tuple[list[float], bool]:
    """(strengths of causes that are the layout, is it ruled out)"""
    strengths = [cause.strength for cause in found.causes if cause.kind is CauseKind.LAYOUT]
    return strengths, any(one.kind is CauseKind.LAYOUT for one in found.ruled_out)


def test_what_is_often_by_estimate_is_possible() -> None:
    activity = observe(estimated(8), default_knowledge(), 64, 128, lambda names: {name: name for name in names})
    assert [draft.severity for draft in activity.drafts(BSS)] == [Severity.NOTE]
    assert layout(told()) == ([0.3], False)


def test_what_is_no_counter_or_seldom_is_as_before() -> None:
    for how in ({"counts": False}, {"work": 1_000_000}):
        strengths, _ = layout(told(**how))
        assert max(strengths, default=0.0) <= 0.15
