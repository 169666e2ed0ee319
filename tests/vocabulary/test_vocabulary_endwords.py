"""Words that say that two things are the ends of a queue, and what they do not say."""

from __future__ import annotations

import pytest

from sharing.knowledge.endwords import name_ends, put_and_take


@pytest.mark.parametrize(
    ("one", "other"),
    [("queue.head", "queue.tail"), ("ring.readPos", "ring.writePos"), ("r.prod_index", "r.cons_index")],
)
def test_two_ends_are_named_so(one: str, other: str) -> None:
    assert name_ends(one, other)
    assert name_ends(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("head.count", "tail.state"), ("queue.head", "queue.head_cached"), ("spread", "rewritten")]
)
def test_other_members_are_not(one: str, other: str) -> None:
    assert not name_ends(one, other)


@pytest.mark.parametrize(
    ("movers", "others"),
    [
        (["queue_push"], ["queue_pop"]),
        (["Queue<T>::enqueue(T const&)", "tryEnqueue"], ["bool Queue<T>::dequeue(T&)"]),
        (["mailbox::poll"], ["mailbox::post"]),
    ],
)
def test_functions_put_in_and_take_out(movers: list[str], others: list[str]) -> None:
    assert put_and_take(movers, others)


@pytest.mark.parametrize(
    ("movers", "others"),
    [(["object_get", "object_put"], ["object_take"]), (["push"], ["flush"]), ([], ["pop"]), (["push"], ["push_pop"])],
)
def test_who_counts_references_does_neither(movers: list[str], others: list[str]) -> None:
    assert not put_and_take(movers, others)
