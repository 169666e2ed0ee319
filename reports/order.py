"""The order in which findings are shown and the counts above them.  Owns nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from reports.escape import count
from sharing.model import Finding, Report, Severity


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Findings by severity, then confidence, then score; the report's own order decides ties."""
    return sorted(findings, key=lambda f: (-f.severity.rank, -f.confidence.rank, -f.score))


def by_severity(findings: Sequence[Finding]) -> list[tuple[Severity, int]]:
    """(severity, number) for each severity that occurs, worst first."""
    worst = sorted(Severity, key=lambda severity: -severity.rank)
    numbers = {severity: sum(f.severity == severity for f in findings) for severity in worst}
    return [(severity, number) for severity, number in numbers.items() if number]


def tally(report: Report) -> str:
    """``4 findings: 1 critical, 3 high; 12 more hidden by --min-severity or --min-confidence; 2 suppressed``."""
    parts = [count(len(report.findings), "finding") if report.findings else "no findings"]
    if report.findings:
        parts[0] += ": " + ", ".join(f"{number:,} {severity}" for severity, number in by_severity(report.findings))
    if report.hidden:
        parts.append(f"{report.hidden:,} more below --min-severity or --min-confidence")
    if report.suppressed:
        parts.append(f"{report.suppressed:,} suppressed by the project")
    return "; ".join(parts)


# What a reader needs to know how far to trust the report; the JSON document has every count.
_FACTS = {
    "lines_profiled": ("busy line", "busy lines"),
    "variables": ("variable", "variables"),
    "variables_typed": ("with a type", "with a type"),
    "objects_recovered": ("object recovered", "objects recovered"),
    "access_sites": ("access site", "access sites"),
    "lock_calls": ("lock call", "lock calls"),
    "functions": ("function", "functions"),
    "thread_entries": ("thread entry", "thread entries"),
}


def facts(report: Report) -> str:
    """The coverage counts in one sentence: ``18,311 variables, 231,112 access sites``; without the ones that are 0."""
    counts = report.coverage.counts
    return ", ".join(count(counts[name], *words) for name, words in _FACTS.items() if counts.get(name))
