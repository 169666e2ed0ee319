"""The rules.  Owns the registry: one module a rule, one row here.

The order of a table is the order of precedence: of rules that exclude each other on a line, the first speaks.
"""

from __future__ import annotations

from sharing.rules.declaration import (
    alignment_below_line,
    array_alignment,
    constructive_interference,
    free_tail,
    heap_alignment,
    macro_as_name,
    pad_arithmetic,
    thread_elements,
    two_layouts,
)
from sharing.rules.declaration.base import DeclarationRule
from sharing.rules.line import (
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
from sharing.rules.line.base import LineRule
from sharing.rules.row import Rule
from sharing.rules.sampled import (
    false_sharing as sampled_false_sharing,
)
from sharing.rules.sampled import (
    lock_contention as sampled_lock_contention,
)
from sharing.rules.sampled import (
    lock_with_data as sampled_lock_with_data,
)
from sharing.rules.sampled import (
    read_mostly as sampled_read_mostly,
)
from sharing.rules.sampled import (
    slots as sampled_slots,
)
from sharing.rules.sampled import (
    split_access as sampled_split_access,
)
from sharing.rules.sampled import (
    true_sharing as sampled_true_sharing,
)
from sharing.rules.sampled.base import SampledRule

LINE_RULES: tuple[LineRule, ...] = (
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

DECLARATION_RULES: tuple[DeclarationRule, ...] = (
    two_layouts.RULE,
    macro_as_name.RULE,
    array_alignment.RULE,
    thread_elements.RULE,
    heap_alignment.RULE,
    alignment_below_line.RULE,
    pad_arithmetic.RULE,
    constructive_interference.RULE,
    free_tail.RULE,
)

SAMPLED_RULES: tuple[SampledRule, ...] = (
    sampled_split_access.RULE,
    sampled_slots.RULE,
    sampled_lock_with_data.RULE,
    sampled_read_mostly.RULE,
    sampled_false_sharing.RULE,
    sampled_lock_contention.RULE,
    sampled_true_sharing.RULE,
)

RULES: tuple[Rule, ...] = (*LINE_RULES, *DECLARATION_RULES, *SAMPLED_RULES)

__all__ = ["DECLARATION_RULES", "LINE_RULES", "RULES", "SAMPLED_RULES", "Rule"]
