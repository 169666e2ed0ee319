"""The order in which findings are shown.  Owns nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from sharing.model import Finding, Severity


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Findings by severity, then confidence, then score; the report's own order decides ties."""
    return sorted(findings, key=lambda f: (-f.severity.rank, -f.confidence.rank, -f.score))


def by_severity(findings: Sequence[Finding]) -> list[tuple[Severity, int]]:
    """(severity, number) for each severity that occurs, worst first."""
    worst = sorted(Severity, key=lambda severity: -severity.rank)
    numbers = {severity: sum(f.severity == severity for f in findings) for severity in worst}
    return [(severity, number) for severity, number in numbers.items() if number]
