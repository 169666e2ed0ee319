"""What is said of a use that is now a read and now a write: how often it is either, and how often a write."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from sharing.counted.shareduse import NamedSpan, SharedUse, evidence
from sharing.counted.weigh import Weighed

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
