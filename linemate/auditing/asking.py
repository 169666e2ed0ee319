"""What a process that audits one file after another is asked and answers.  Owns neither the process nor the audit."""

from __future__ import annotations

import msgspec

from linemate.auditing.framed import Child
from sharing.model.finding import Report


class Answer(msgspec.Struct, frozen=True):
    """What became of a file: its report, or the line that says why there is none."""

    report: Report | None = None
    error: str = ""


class AuditingProcess(Child[Answer]):
    """Asked with ``AuditOptions``, answers with ``Answer``."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.answering", Answer)
