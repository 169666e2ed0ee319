"""The rules on a line of an image, a row each.

The order of the table is the order of precedence: of rules that exclude each other on a line, the first speaks.
"""

from __future__ import annotations

from sharing.rules.line import (
    adjacent_pair,
    aligned_tail,
    fragile,
    hot_lock,
    independent_writers,
    read_mostly,
    shared_counter,
    split_access,
    thread_slots,
    two_locks,
)
from sharing.rules.line.base import LineRule

LINE_RULES: tuple[LineRule, ...] = (
    split_access.RULE,
    aligned_tail.RULE,
    hot_lock.RULE,
    two_locks.RULE,
    independent_writers.RULE,
    read_mostly.RULE,
    thread_slots.RULE,
    shared_counter.RULE,
    adjacent_pair.RULE,
    fragile.RULE,
)

# What they say of an array is of all of it: which member of its elements they name is the one that is used most.
OF_WHOLE_ARRAYS = frozenset(rule.id for rule in LINE_RULES if rule.per_object == 1)
