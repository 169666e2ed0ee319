"""Numbers of things in words: ``1 finding``, ``2,048 findings``.  Owns nothing else."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 finding``, ``2,048 findings``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
