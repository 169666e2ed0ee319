"""All rules of all kinds, in one row.  Owns the order of the kinds."""

from __future__ import annotations

from sharing.rules.declaration.table import DECLARATION_RULES
from sharing.rules.line.table import LINE_RULES
from sharing.rules.row import Rule
from sharing.rules.sampled.table import SAMPLED_RULES

RULES: tuple[Rule, ...] = (*LINE_RULES, *DECLARATION_RULES, *SAMPLED_RULES)
