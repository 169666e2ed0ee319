"""Audits of installed files, and their times beside those of another tree.

Owns the list ``files.json`` and what is kept of a report.  Words of the page are ``page``'s.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec

from bench.places import REPOSITORY

FILES = Path(__file__).parent / "files.json"
SECONDS = 900.0  # of one audit: one that takes longer is ended, and said to have been
THREADS = "threads: "


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    group: str
    paths: tuple[str, ...]


class _Participant(msgspec.Struct, frozen=True):
    name: str


class _Finding(msgspec.Struct, frozen=True):
    severity: str
    rule: str
    participants: tuple[_Participant, ...]


class _Coverage(msgspec.Struct, frozen=True):
    notes: tuple[str, ...] = ()


class _Report(msgspec.Struct, frozen=True):
    coverage: _Coverage
    findings: tuple[_Finding, ...]


class Audited(msgspec.Struct, frozen=True):
    """What an audit said of a file.  ``failed`` is the last line of an error, "" where there is a report."""

    path: str
    group: str
    status: int
    severities: dict[str, int]
    named: tuple[str, ...]  # findings at medium and above: severity, rule, participants
    threads: str
    failed: str = ""


class Timed(msgspec.Struct, frozen=True):
    """Seconds of processors that audits took: of this tree, and of the other one, each run in its turn."""

    path: str
    own: tuple[float, ...]
    other: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Of the least of each: what else a machine does only adds to a time."""
        return min(self.own) / min(self.other)

    @property
    def ratio_of_medians(self) -> float:
        return statistics.median(self.own) / statistics.median(self.other)


def read() -> tuple[Group, ...]:
    return msgspec.json.decode(FILES.read_bytes(), type=tuple[Group, ...])


def audit(path: str, group: str) -> Audited:
    command = [*_linemate(REPOSITORY), path, "--format", "json", "--min-severity", "low", "--fail-on", "never"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Audited(path, group, -1, {}, (), "", f"longer than {SECONDS:.0f} s")
    try:
        report = msgspec.json.decode(done.stdout, type=_Report)
    except msgspec.DecodeError:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no report"])[-1]
        return Audited(path, group, done.returncode, {}, (), "", reason)
    threads = next((n.removeprefix(THREADS) for n in report.coverage.notes if n.startswith(THREADS)), "")
    return Audited(
        path,
        group,
        done.returncode,
        dict(Counter(f.severity for f in report.findings)),
        tuple(_named(f) for f in report.findings if f.severity != "low"),
        threads,
    )


def time_in_turns(path: str, other: Path, rounds: int) -> Timed:
    """``other`` is a checkout that is set up as this one is."""
    own: list[float] = []
    others: list[float] = []
    for _ in range(rounds):
        own.append(_seconds(REPOSITORY, path))
        others.append(_seconds(other, path))
    return Timed(path, tuple(own), tuple(others))


def _seconds(tree: Path, path: str) -> float:
    command = [*_linemate(tree), path, "--format", "json", "--fail-on", "never", "-o", os.devnull]
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False)
    return os.times().children_user - before.children_user


def _linemate(tree: Path) -> list[str]:
    python = tree / ".venv" / "bin" / "python"
    return [str(python) if python.exists() else sys.executable, "-m", "linemate", "audit"]


def _named(finding: _Finding) -> str:
    return f"{finding.severity} {finding.rule}: {' / '.join(p.name for p in finding.participants)}"
