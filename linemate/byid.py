"""Findings by what a user types of their id: the whole, its beginning, or the digits behind its last dash.

Owns the look-up alone; what an id is made of is ``reports.fingerprint``'s and ``sharing``'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sharing.model.finding import Finding

_ID = re.compile(r"(?:[a-z][a-z-]*-)?[0-9a-f]{10}(?:-[0-9]+)?")  # whole, or the digits that tables show


def looks_like_id(text: str) -> bool:
    """Whether a user may mean a finding by it."""
    return _ID.fullmatch(text) is not None


def with_id(findings: Iterable[Finding], wanted: str) -> list[Finding]:
    """The findings of that id, else those that begin so, else those that end so behind a dash."""
    every = list(findings)
    exact = [finding for finding in every if finding.id == wanted]
    begun = exact or [finding for finding in every if finding.id.startswith(wanted)]
    return begun or [finding for finding in every if wanted and finding.id.endswith(f"-{wanted}")]
