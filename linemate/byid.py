"""Findings by what a user types of their id: the whole, its beginning, or the digits behind its last dash.

Owns the look-up alone; what an id is made of is ``reports.fingerprint``'s and ``sharing``'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from sharing.model.finding import Finding


def with_id(findings: Iterable[Finding], wanted: str) -> list[Finding]:
    """The findings of that id, else those that begin so, else those that end so behind a dash."""
    every = list(findings)
    exact = [finding for finding in every if finding.id == wanted]
    begun = exact or [finding for finding in every if finding.id.startswith(wanted)]
    return begun or [finding for finding in every if wanted and finding.id.endswith(f"-{wanted}")]
