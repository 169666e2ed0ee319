"""What is said of a use that is now a read and now a write: how often it is either, and how often a write."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from sharing.basics import numbers
from sharing.counted.shareduse import NamedSpan, SharedUse, evidence, graded
from sharing.counted.weigh import Weighed
from sharing.model.executions import CountedThread
from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Access, Actor, Heat, LineProfile, Role
from sharing.rules.line.base import Draft

LOCK, HEAD = NamedSpan("lock", (0, 20)), NamedSpan("head", (48, 56))


@pytest.mark.parametrize(
    ("use_writes", "said"),
    [
        (0.0, "two read head 900 times"),
        (900.0, "two wrote head 900 times"),
        (3.0, "two used head 900 times, 3 of them writes"),
        (0.031, "two used head 900 times, 0.031 of them writes"),
    ],
)
def test_reads_are_not_said_to_be_writes(use_writes: float, said: str) -> None:
    labels = SimpleNamespace(label=("one", "two").__getitem__, together=False)
    found = SharedUse(LOCK, HEAD, 0, 1, 500.0, 900.0, use_writes, 1000.0, 0.1)
    told, _ = evidence(found, cast(Weighed, SimpleNamespace(counted=labels)))
    assert told == f"one wrote lock 500 times per million instructions, {said}"


def test_numbers_of_writes_are_written_like_those_beside_them() -> None:
    labels = SimpleNamespace(label=("one", "two").__getitem__, together=False)
    found = SharedUse(LOCK, HEAD, 0, 1, 500.0, 20826.0, 10413.0, 1000.0, 0.1)
    told, _ = evidence(found, cast(Weighed, SimpleNamespace(counted=labels)))
    assert told.endswith("two used head 20,826 times, 10,413 of them writes")


@pytest.mark.parametrize(("together", "whose"), [(False, "the busiest thread"), (True, "all threads")])
def test_the_share_is_of_the_time_that_it_is_reckoned_from(together: bool, whose: str) -> None:
    labels = SimpleNamespace(label=("one", "two").__getitem__, together=together)
    found = SharedUse(LOCK, HEAD, 0, 1, 500.0, 900.0, 0.0, 1000.0, 0.094)
    _, told = evidence(found, cast(Weighed, SimpleNamespace(counted=labels)))
    assert told.startswith(
        f"at most 9.4 % of the time of {whose} if each use misses, near the step from medium to high"
    )


@pytest.mark.parametrize(
    ("share", "step"),
    [(0.094, "medium to high"), (0.105, "medium to high"), (0.043, "low to medium"), (0.07, ""), (0.3, "")],
)
def test_where_another_run_may_give_another_severity_that_is_said(share: float, step: str) -> None:
    labels = SimpleNamespace(label=("one", "two").__getitem__, together=False)
    found = SharedUse(LOCK, HEAD, 0, 1, 500.0, 900.0, 0.0, 1000.0, share)
    _, told = evidence(found, cast(Weighed, SimpleNamespace(counted=labels)))
    assert ("between runs" in told) == bool(step)
    assert step in told


def less(**of_both: object) -> str:
    """Why two counters whose threads can lose 91 % of their time are no more than low."""
    mine, theirs = (actor(name, 8 * at, Heat.HOT, **of_both) for at, name in enumerate(("mine", "theirs")))
    line = LineProfile(0, 64, (mine, theirs))
    draft = Draft("rule", Severity.LOW, Verdict.FALSE_SHARING, line, line.actors, (), "", (), 1.0)
    labels = SimpleNamespace(
        threads=(CountedThread(1, 2, 1000), CountedThread(1, 3, 1000)), instructions=np.full(2, 1000.0), together=False,
        label=("one", "two").__getitem__,
    )  # fmt: skip
    used = np.array([100.0, 100.0])
    weighed = SimpleNamespace(counted=labels, uses=lambda span: (used, used))
    (graded_one,) = graded([draft], cast(Weighed, weighed))
    assert graded_one.severity is Severity.LOW
    assert not any("near the step" in text for text in graded_one.counted)
    return graded_one.counted[2].partition(": ")[2] if len(graded_one.counted) > 2 else ""


@pytest.mark.parametrize(
    ("share", "at", "said", "why"),
    [
        (
            0.5,
            Severity.HIGH,
            Severity.MEDIUM,
            "medium and not high, as that share allows: counts name the array as a whole",
        ),
        (
            0.05,
            Severity.HIGH,
            Severity.LOW,
            "low and not medium, as that share allows: counts name the array as a whole",
        ),
        (0.5, Severity.LOW, Severity.LOW, "low and not high, as that share allows: counts name the array as a whole"),
        (0.03, Severity.HIGH, Severity.LOW, ""),  # low either way
    ],
)
def test_an_array_that_is_counted_as_a_whole_says_what_that_takes_off(
    share: float, at: Severity, said: Severity, why: str
) -> None:
    (slots,) = (actor("slots", 0, Heat.HOT),)
    line = LineProfile(0, 64, (slots,))
    draft = Draft("rule", at, Verdict.FALSE_SHARING, line, line.actors, (), "", (), 1.0)
    labels = SimpleNamespace(
        threads=(CountedThread(1, 2, 1000), CountedThread(1, 3, 1000)), instructions=np.full(2, 1e6), together=False,
        label=("one", "two").__getitem__,
    )  # fmt: skip
    # Transfers of which that share of the time, stalls among it, comes.
    used = np.full(2, share / (1.0 - share) * 1e6 * numbers.INSTRUCTION_NS / numbers.TRANSFER_NS)
    (graded_one,) = graded([draft], cast(Weighed, SimpleNamespace(counted=labels, uses=lambda span: (used, used))))
    assert graded_one.severity is said
    assert "".join(graded_one.counted[2:]).startswith(why)
    assert len(graded_one.counted) == 2 + bool(why)
    assert ("which elements each of them used" in graded_one.counted[0]) == (not why)


def actor(name: str, at: int, heat: Heat, **more: object) -> Actor:
    made = {"accesses": (Access(f"use_{name}", 1.0, 1, True, True, True, False),), **more}
    return Actor(name, name, (at, at + 8), (at, at + 8), ((at, at + 8),), Role.COUNTER, write_heat=heat, **made)  # type: ignore[arg-type]


def test_what_is_milder_than_its_share_allows_says_why() -> None:
    assert less(guards=frozenset({"queue_lock"})) == "both are used under queue_lock, which one thread holds at a time"
    both = (Access("step", 1.0, 1, True, True, True, False),)
    assert less(accesses=both) == "step uses both, for which the line is fetched once"
    plain = (Access("step", 1.0, 1, True, True, False, False),)
    assert "mine is plain data" in less(accesses=plain)
    assert less() == "the two belong together by how code uses them"
