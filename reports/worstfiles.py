"""Which files of a report have the worst findings.  Owns the order and the numbers, not how they are shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from reports.order import by_severity, worst_first
from reports.wording import target_name
from sharing.model import Finding, Report, Severity

SHOWN = 10


class FileRow(msgspec.Struct, frozen=True):
    """A file (of an archive alone a member) and its findings, the worst first."""

    name: str
    findings: Sequence[Finding]

    @property
    def numbers(self) -> str:
        """``2 high, 1 low``"""
        return ", ".join(f"{number:,} {severity}" for severity, number in by_severity(self.findings))


def worst_files(report: Report) -> list[FileRow]:
    """Files with findings, by their worst findings; none where the report is of one file."""
    paths = {target.path for target in report.targets}
    file_of = {target_name(target): target.path for target in report.targets} if len(paths) > 1 else {}
    found: dict[str, list[Finding]] = defaultdict(list)
    for finding in worst_first(report.findings):
        if finding.target:
            found[file_of.get(finding.target, finding.target)].append(finding)
    rows = [FileRow(name, findings) for name, findings in found.items()]
    return sorted(rows, key=_rank) if len(report.targets) > 1 else []


def _rank(row: FileRow) -> tuple[tuple[int, ...], float, str]:
    numbers = dict(by_severity(row.findings))
    worst = sorted(Severity, key=lambda severity: -severity.rank)
    return tuple(-numbers.get(severity, 0) for severity in worst), -max(f.score for f in row.findings), row.name
