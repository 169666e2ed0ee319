"""Layouts that are predicted up to where their parts begin: what it costs a finding that it holds at some places only.

Owns no layout: which places there are, and at how many of them a pair meets, is the caller's.
"""

from __future__ import annotations

from sharing.basics import numbers


def steps_lost(share: float) -> int:
    """How many severities a pair loses that meets at this share of the possible positions."""
    return 0 if share >= numbers.LIKELY else 1 if share >= numbers.UNLIKELY else 2
