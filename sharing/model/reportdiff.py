"""What two reports of one program differ in: findings that are new, gone, moved to another line, or judged otherwise.

Owns the result document of ``diff``; reporters render it and know nothing else.  msgspec structs; addresses are hex
strings of SVMAs.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from sharing.model.finding import Confidence, Severity, Target, Verdict

DIFF_SCHEMA = "linemate-diff-1"


class Difference(StrEnum):
    """What became of a finding; in the order in which they are shown."""

    NEW = "new"
    CHANGED = "changed"  # another severity, confidence or verdict, wherever it lies
    GONE = "gone"
    MOVED = "moved"  # judged as before, on another line


class Judged(msgspec.Struct, frozen=True):
    """A finding as one of the reports has it.  ``line`` is an address, ``place`` the line in words or ""."""

    id: str
    severity: Severity
    confidence: Confidence
    verdict: Verdict
    line: str
    place: str = ""


class FindingDifference(msgspec.Struct, frozen=True):
    """One finding of either report.  ``names`` are its first participants; None is the side that lacks it."""

    kind: Difference
    rule: str
    names: tuple[str, ...]
    old: Judged | None
    new: Judged | None

    @property
    def worse(self) -> bool:
        """New, or of a higher severity than before."""
        return self.new is not None and (self.old is None or self.new.severity.rank > self.old.severity.rank)


class ReportDiff(msgspec.Struct, frozen=True):
    """The result document.  ``same`` counts findings that are as they were.

    ``incomplete``: one of the two reports is, so that a finding may be missing for that alone; ``notes`` say more.
    """

    schema: str
    command: str
    old: tuple[Target, ...]
    new: tuple[Target, ...]
    differences: tuple[FindingDifference, ...]
    same: int
    incomplete: bool = False
    notes: tuple[str, ...] = ()
