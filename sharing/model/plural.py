"""Numbers of things in words: ``2,048 findings``, ``a, b and 4 more``, ``99.9 %``.  Owns nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 finding``, ``2,048 findings``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def named(names: Sequence[str], most: int, total: int = 0, between: str = ", ") -> str:
    """The first ``most`` by name, the others by their number: ``a, b and 1,024 more``.

    ``total`` is how many there are in all, where ``names`` are only some of them.
    """
    others = max(len(names), total) - min(len(names), most)
    return between.join(names[:most]) + (f" and {others:,} more" if others > 0 else "")


def percent(part: int, whole: int) -> str:
    """``99.9 %``, rounded down: nothing but the whole is 100 %."""
    return f"{math.floor(min(part / whole, 1.0) * 1000) / 10:g} %"
