"""Findings of a program of one shape held against what is true of it.

Owns when a finding tells of the shape.  How programs are built and judged is that of the planted programs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bench.planted.build import SOURCE, compiled
from bench.planted.judge import findings
from bench.shapes.truth import Shape, flags, sources
from sharing.model.finding import Finding

# Of a stripped file no member is named, and the truth has no addresses.
KINDS = ("gcc -O2", "clang -O2", "gcc -O0", SOURCE)
# It says that elements of a type meet at their ends: which of their members do so differs from line to line.
OF_A_TYPE = "thread-elements-meet"


@dataclass(frozen=True, slots=True)
class Judged:
    """A program in one kind of build: what linemate says from low on, and whether some of it tells of the shape."""

    name: str
    kind: str
    found: bool
    said: tuple[Finding, ...]


def judge(name: str, shape: Shape, kind: str, folder: Path) -> Judged:
    """Build a program and judge it."""
    files = sources(name)
    said = findings(compiled(name, files, flags(files), kind, folder), kind)
    return Judged(name, kind, any(names(finding, shape) for finding in said), said)


def names(finding: Finding, shape: Shape) -> bool:
    """Does a finding name both sides?  One name can be both: of slots of one array, of members called alike."""
    said = [part.full_name for part in finding.participants]
    if shape.one and finding.rule == OF_A_TYPE and _some(shape.owners, said):
        return True
    return _some(shape.a, said) and _some(shape.b or shape.a, said)


def _some(patterns: tuple[str, ...], said: list[str]) -> bool:
    return any(re.search(pattern, name) for pattern in patterns for name in said)
