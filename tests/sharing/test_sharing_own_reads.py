"""What each thread was handed for itself alone takes part in no rank of what the program reads."""

from __future__ import annotations

import dataclasses

import numpy as np

from sharing.model.image import ALLOCATED, Section, SectionKind
from sharing.static import numbers
from sharing.static.correlate import Slots, thresholds
from tests.builders.image import Builder

RECORD, BEGIN = "struct task", 0x4000_0000
MANY = 2 * numbers.HOT_RANK


def limit(of_threads: frozenset[str]) -> float:
    """From which score on reads are hot, where most that is read is in one record."""
    section = Section(0, ALLOCATED, SectionKind.WRITABLE, BEGIN, 8 * MANY, 16, None)
    image = dataclasses.replace(
        Builder().image(), sections=(section,), identities={BEGIN: RECORD}, of_threads=of_threads
    )
    addresses = np.array([0x1000, *range(BEGIN, BEGIN + 8 * MANY, 8)], np.uint64)
    reads = np.array([100.0, *[1000.0] * MANY])
    none = np.zeros(len(addresses))
    return thresholds(Slots(addresses, none, reads, none > 0, np.ones(len(addresses), np.int64)), image).read


def test_own_records_do_not_outrank_what_is_shared() -> None:
    assert limit(frozenset({RECORD})) < limit(frozenset())
    assert limit(frozenset({"struct other"})) == limit(frozenset())
