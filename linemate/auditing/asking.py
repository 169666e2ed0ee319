"""What a process that audits one file after another is asked and answers.  Owns neither the process nor the audit."""

from __future__ import annotations

import msgspec

from linemate.auditing.framed import Child
from linemate.options import AuditOptions
from sharing.model.finding import Report


class Task(msgspec.Struct, frozen=True):
    """A file by the bytes of its name, whatever they are, and how to audit it."""

    file: bytes
    options: AuditOptions


class Answer(msgspec.Struct, frozen=True):
    """What became of a file: its report, or the line that says why there is none.

    ``lost``: that was not of the file's own doing, as far as is known, and another try may go better.
    """

    report: Report | None = None
    error: str = ""
    lost: bool = False


class AuditingProcess(Child[Answer]):
    """Asked with ``Task``, answers with ``Answer``."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.answering", Answer)
