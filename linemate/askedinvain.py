"""What a report advises where servers have no debug information: they were just asked, or the file is one's own build.

Owns the change of that advice: to ask them is none.  Where else names are says the note of ``distribution``.
"""

from __future__ import annotations

import msgspec

from reports.explain.wording import debug_options
from sharing.model.comparison import Comparison
from sharing.model.finding import ASK_SERVERS, EXPLAIN_ASKING, Report

_ASK_OR_NAME = f"{ASK_SERVERS}, or --debug-file FILE"
_NAME = "--debug-file FILE, see the note on names"
_OWN = "a build with -g, or --debug-file FILE: the file before it was stripped"


def names_from_files(report: Report, *, own: bool = False) -> Report:
    """The report whose remedies ask for a file with names, no server; ``own``: whoever built it has one."""
    findings = []
    for finding in report.findings:
        remedies = tuple(
            msgspec.structs.replace(remedy, text=remedy.text.replace(_ASK_OR_NAME, _OWN if own else _NAME))
            for remedy in finding.remedies
        )
        findings.append(msgspec.structs.replace(finding, remedies=remedies))
    return msgspec.structs.replace(report, findings=tuple(findings))


def both_from_files(comparison: Comparison) -> Comparison:
    """The comparison whose causes are confirmed with files that have the names of both builds."""
    again = f"linemate explain {debug_options(comparison)}"
    causes = tuple(
        msgspec.structs.replace(cause, confirm=tuple(step.replace(EXPLAIN_ASKING, again) for step in cause.confirm))
        for cause in comparison.causes
    )
    return msgspec.structs.replace(comparison, causes=causes)
