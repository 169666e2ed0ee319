"""The rules: a folder and a table (``table.py``) a kind, one module a rule.

Owns which tables there are.  A table is loaded when it is asked for: what rules of declarations and of profiles need
is a sixth of the audit of a small file, which uses neither.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sharing.rules.declaration.table import DECLARATION_RULES
    from sharing.rules.every import RULES
    from sharing.rules.line.table import LINE_RULES
    from sharing.rules.row import Rule
    from sharing.rules.sampled.table import SAMPLED_RULES

_HOMES = {
    "DECLARATION_RULES": f"{__name__}.declaration.table",
    "LINE_RULES": f"{__name__}.line.table",
    "RULES": f"{__name__}.every",
    "Rule": f"{__name__}.row",
    "SAMPLED_RULES": f"{__name__}.sampled.table",
}

__all__ = ["DECLARATION_RULES", "LINE_RULES", "RULES", "SAMPLED_RULES", "Rule"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(_HOMES[name]), name)
