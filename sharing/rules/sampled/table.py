"""The rules on a line of a profile, a row each.

The order of the table is the order of precedence: of rules that exclude each other on a line, the first speaks.
"""

from __future__ import annotations

from sharing.rules.sampled import (
    false_sharing,
    lock_contention,
    lock_with_data,
    read_mostly,
    slots,
    split_access,
    true_sharing,
)
from sharing.rules.sampled.base import SampledRule

SAMPLED_RULES: tuple[SampledRule, ...] = (
    split_access.RULE,
    slots.RULE,
    lock_with_data.RULE,
    read_mostly.RULE,
    false_sharing.RULE,
    lock_contention.RULE,
    true_sharing.RULE,
)
