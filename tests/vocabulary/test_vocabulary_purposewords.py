"""Words that say what a variable counts, and words that only look like them."""

from __future__ import annotations

import pytest

from sharing.knowledge.purposewords import counts_events, counts_references, counts_statistics


@pytest.mark.parametrize("name", ["refs", "object.refCount", "page.use_count", "node.ref_cnt", "reference_counter"])
def test_counts_of_references(name: str) -> None:
    assert counts_references(name)


@pytest.mark.parametrize("name", ["refresh", "refs.next", "use_cache", "count_use", "preferred"])
def test_other_names(name: str) -> None:
    assert not counts_references(name)


def test_the_order_of_events() -> None:
    assert counts_events("ring.seq")
    assert counts_events("nextTicket")
    assert not counts_events("generate")


def test_statistics() -> None:
    assert counts_statistics("bytes_sent")
    assert counts_statistics("Cache::misses_")
    assert not counts_statistics("rng.state")
    assert not counts_statistics("counts.next")
