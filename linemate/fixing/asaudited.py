"""Where an audit shown before parts another variable than the edit of a check: it knows what is linked beside them.

Owns that comparison, and what is said of it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from linemate.lastreport import last_reports
from sharing.fix.edits import Planned
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Participant, Remedy

COMMAND = "audit"


def parted_otherwise(chosen: Iterable[tuple[Finding, tuple[Planned, ...]]]) -> list[str]:
    """A line for each finding that the last audit which has it would part by another of its variables."""
    lines = []
    for finding, plans in chosen:
        edited = {one.participant.name for one in plans if one.plan is not None}
        seen = _last_audited(finding.id) if edited else None
        if seen is None:
            continue
        audited, path = seen
        parted = {who.name for who in audited.participants if any(_parts(one, who) for one in audited.remedies)}
        others = sorted(parted - edited)
        if others and not edited & parted:
            # What else is in a record sources know; what libraries do to it the audited code alone tells.
            inside = any("." in name for name in others)
            taken = "its report with --in REPORT.json" if inside else f"--binary {path}"
            lines.append(
                f"  the last audit of {path} parts {', '.join(others)} instead: it knows what is linked beside them; "
                f"{taken} takes that edit"
            )
    return lines


def _parts(remedy: Remedy, who: Participant) -> bool:
    """Whether a remedy names a variable, or a member as ``closed_ of inbox``."""
    owner, _, member = who.name.partition(".")
    said = (who.name, f"{member} of {owner}") if member else (who.name,)
    return any(re.search(rf"(?<![\w:.\[\]+]){re.escape(one)}(?![\w:\[+]|\.\w)", remedy.text) for one in said)


def _last_audited(identity: str) -> tuple[Finding, str] | None:
    """The finding of that id in the last report of an audit that has it, and the file that was audited."""
    with contextlib.suppress(LinemateError):
        for report, _ in last_reports((identity,)):
            found = next((one for one in report.findings if one.id == identity), None)
            if found is not None and report.command == COMMAND and len(report.targets) == 1:
                return found, report.targets[0].path
    return None
