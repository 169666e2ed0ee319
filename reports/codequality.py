"""The report as GitLab's Code Quality JSON: a list of issues that a merge request shows beside the changed lines.

Owns the mapping: severities to GitLab's words, the first known declaration to the place.  GitLab wants a place in the
repository of every issue: what has no declaration stands at the first line of the binary.
"""

from __future__ import annotations

import posixpath
from typing import Any

from reports.escape import shorten, visible
from reports.jsontext import encode
from reports.locations import position, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import target_name
from sharing.model import Finding, Report, Severity

DESCRIPTION_WIDTH = 600
SEVERITIES = {
    Severity.NOTE: "info",
    Severity.LOW: "minor",
    Severity.MEDIUM: "major",
    Severity.HIGH: "critical",
    Severity.CRITICAL: "blocker",
}


def render(report: Report, options: RenderOptions) -> str:
    """One issue a finding; those of equal id in several files are told apart by the file."""
    report = relative(report, options.source_root)
    issues: list[dict[str, Any]] = []
    taken: set[str] = set()
    for finding in worst_first(report.findings):
        key = visible(finding.id)
        if key in taken:
            key = f"{key}@{visible(finding.target)}"
        if key in taken:
            continue
        taken.add(key)
        path, line = _place(finding, report)
        issues.append(
            {
                "description": shorten(visible(finding.message), DESCRIPTION_WIDTH),
                "check_name": visible(finding.rule),
                "fingerprint": key,
                "severity": SEVERITIES[finding.severity],
                "location": {"path": path, "lines": {"begin": line}},
            }
        )
    return encode(issues)


def _place(finding: Finding, report: Report) -> tuple[str, int]:
    known = next(filter(None, (position(who.source) for who in finding.participants)), None)
    if known is not None:
        return visible(posixpath.normpath(known.path)), known.line
    path = finding.target or next((target.path for target in report.targets), "")
    named = next((target.path for target in report.targets if target_name(target) == path), path)
    return visible(posixpath.normpath(named)) if named else "linemate", 1
