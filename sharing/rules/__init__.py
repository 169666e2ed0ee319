"""The rules.  Owns the registry: one module a rule, one row here, in order of precedence on a line."""

from __future__ import annotations

from sharing.rules import (
    adjacent_pair,
    aligned_tail,
    fragile,
    hot_lock,
    independent_writers,
    read_mostly,
    split_access,
    thread_slots,
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
)

__all__ = ["RULES", "Context", "Draft", "Rule", "Scope"]
