"""Words that say what a variable counts, and words that only look like them."""

from __future__ import annotations

import pytest

from sharing.knowledge.purposewords import counts_events, counts_failures, counts_references, counts_statistics


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


@pytest.mark.parametrize(
    "name",
    [
        *("parse_errors", "badcmd", "loop_errors.short", "g_err.type", "Reader::errors_.eof", "pool.errors.full"),
        *("errStats.closed", "err_counts[3].n", "error_counters.seen"),
    ],
)
def test_failures_by_the_name_of_a_counter_or_of_what_it_is_in(name: str) -> None:
    assert counts_failures(name)


@pytest.mark.parametrize(
    "name",
    [
        *("reads", "badge.count", "errors.log.lines", "error_handler.calls", "err_pages.sent", "failover.requests"),
        *("stats.reads", "terror.count", "errors_writer.lines", "counters.reads"),
    ],
)
def test_what_only_stands_beside_failures_is_none(name: str) -> None:
    assert not counts_failures(name)
