"""The rules.  Owns the registry: one module a rule, one row here, in order of precedence on a line."""

from __future__ import annotations

from sharing.rules import (
    adjacent_pair,
    aligned_tail,
    alignment_below_line,
    array_alignment,
    constructive_interference,
    fragile,
    free_tail,
    heap_alignment,
    hot_lock,
    independent_writers,
    macro_as_name,
    pad_arithmetic,
    read_mostly,
    sampled_false_sharing,
    sampled_lock_contention,
    sampled_lock_with_data,
    sampled_read_mostly,
    sampled_slots,
    sampled_split_access,
    sampled_true_sharing,
    split_access,
    thread_slots,
    two_layouts,
    two_locks,
)
from sharing.rules.base import Context, Draft, Rule, Scope

RULES: tuple[Rule, ...] = (
    split_access.RULE,
    aligned_tail.RULE,
    hot_lock.RULE,
    two_locks.RULE,
    independent_writers.RULE,
    read_mostly.RULE,
    thread_slots.RULE,
    adjacent_pair.RULE,
    fragile.RULE,
    two_layouts.RULE,
    macro_as_name.RULE,
    array_alignment.RULE,
    heap_alignment.RULE,
    alignment_below_line.RULE,
    pad_arithmetic.RULE,
    constructive_interference.RULE,
    free_tail.RULE,
    sampled_split_access.RULE,
    sampled_slots.RULE,
    sampled_lock_with_data.RULE,
    sampled_read_mostly.RULE,
    sampled_false_sharing.RULE,
    sampled_lock_contention.RULE,
    sampled_true_sharing.RULE,
)

__all__ = ["RULES", "Context", "Draft", "Rule", "Scope"]
