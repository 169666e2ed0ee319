"""By what a finding is recognised in another build, another clone, or after an edit elsewhere.

Owns the fingerprint.  A finding's id is for people and commands of one run; it may name a line of the source.
"""

from __future__ import annotations

import hashlib
import posixpath

from reports.locations import position
from sharing.model import Finding, Participant

PAIR = 2  # participants that make a finding what it is; others come and go


def fingerprint(finding: Finding, root: str) -> str:
    """Equal for the same variables under the same rule, wherever they lie and in whatever clone of the sources.

    By rule, names and files of the first two participants; files below ``root`` count relative to it.
    """
    names = sorted(f"{who.full_name}@{_file(who, root)}" for who in finding.participants[:PAIR])
    digest = hashlib.sha256("\0".join([finding.rule, *names]).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{finding.rule}-{digest[:16]}"


def _file(who: Participant, root: str) -> str:
    """The path in file:line or file:line:column."""
    place = position(who.source)
    path = place.path if place else who.source
    path = posixpath.normpath(path) if path else ""
    return path.removeprefix(root.rstrip("/") + "/") if root else path
