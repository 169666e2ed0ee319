"""The rules on declarations of a program's source, a row each.

Of equally severe findings those of the earlier rule come first.
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
