"""Findings that say which of several files, or members of an archive, they are of.  Owns nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sharing.model.finding import Finding


def of_target(findings: Iterable[Finding], name: str) -> Iterable[Finding]:
    """The findings with that name, where they have none; without a name as they are."""
    if not name:
        return findings
    return (msgspec.structs.replace(finding, target=finding.target or name) for finding in findings)
