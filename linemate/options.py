"""What a run was asked to do, as values.  Owns the options of the pipeline; the command line fills them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sharing.model.finding import Confidence, Severity
from sharing.model.project import ProjectConfig


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Input of ``linemate.pipeline.audit``.

    ``line_size`` is in bytes, None means the architecture's.  Findings below ``min_severity`` or
    ``min_confidence`` are counted in ``Report.hidden``.  ``rules`` are rule ids and ``symbols`` globs over
    participant names; empty means all.  ``fail_on`` None means that findings never fail the run.
    """

    binary: str
    line_size: int | None = None
    samples: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.LAYOUT
    min_severity: Severity = Severity.LOW
    rules: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.HIGH
    debug_file: str | None = None
    project: ProjectConfig = field(default_factory=ProjectConfig)
