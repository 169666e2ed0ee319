"""Pairs that a load does not come to: a profile that hardly has their functions excludes them."""

from __future__ import annotations

import pytest

from sharing.explain.causes.base import Builds
from sharing.explain.compare import ExplainOptions, compare, document
from sharing.explain.exercised import exercised
from sharing.explain.samples import Profile
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Cause, CauseKind
from sharing.model.image import Image
from tests.builders.image import BSS, Builder, threads

TOTAL = 10_000


def image(apart: int, *, locked: bool = False) -> Image:
    """Two threads: one counts, the other one counts elsewhere, or takes a lock."""
    b = Builder(path="program")
    threads(b, "left", "right")
    b.function("left").rmw("mine", loop=1)
    right = b.function("right")
    if locked:
        right.call("pthread_mutex_lock", "theirs", loop=1)
    else:
        right.rmw("theirs", loop=1)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 40, BSS + apart)
    return b.image()


def judged(new: dict[str, int], *, total: int = TOTAL, locked: bool = False) -> Cause:
    """The layout cause of the pair that met, where the new build was sampled so."""
    old = Profile("cycles", {"left": 5000, "right": 5000}, TOTAL)
    return document(exercised(_builds(locked=locked), old, Profile("cycles", new, total))).causes[0]


def _builds(*, locked: bool) -> Builds:
    sides = (image(256, locked=locked), image(8, locked=locked))
    return compare(*sides, default_knowledge(), ExplainOptions(demangle=lambda names: names))


@pytest.mark.parametrize(
    "counts",
    [{"left": 60, "right": 40, "work": 9900}, {"left": 4000, "right": 0, "work": 6000}],
    ids=["hardly any time", "one side is not used"],
)
def test_a_pair_that_the_load_does_not_use_explains_nothing(counts: dict[str, int]) -> None:
    cause = judged(counts)
    assert (cause.kind, cause.strength) == (CauseKind.LAYOUT, 0.15)
    assert "this load hardly comes to the pair" in cause.evidence[0]


@pytest.mark.parametrize(
    ("counts", "total"),
    [
        ({"left": 600, "right": 400, "work": 9000}, TOTAL),
        ({"left": 4000, "right": 20, "work": 5980}, TOTAL),
        ({"left": 6, "right": 4, "work": 90}, 100),  # too few samples to say so
        ({"left": 60, "right": 40, "work": 9900}, 20_000),  # the top of a listing
    ],
)
def test_a_pair_that_may_have_time_that_matters_stays(counts: dict[str, int], total: int) -> None:
    assert judged(counts, total=total).strength > 0.3


def test_time_on_a_lock_is_spent_in_the_library_that_takes_it() -> None:
    idle = {"left": 60, "right": 40, "work": 9900}
    waiting = {"left": 60, "right": 40, "work": 5900, "[libc.so.6]": 4000}
    assert judged(idle, locked=True).strength == 0.15
    assert judged(waiting, locked=True).strength > 0.3
