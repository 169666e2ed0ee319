"""What a process that audits one file after another is asked and answers.  Owns neither the process nor the audit."""

from __future__ import annotations

import msgspec

from linemate.auditing.framed import Child
from linemate.options import AuditOptions
from sharing.model.finding import Report


class Task(msgspec.Struct, frozen=True):
    """A file by the bytes of its name, whatever they are, and how to audit it.

    ``store``: the folder of datasets that takes the results, "" for a report.  ``resume``: files that have not changed
    since they were stored are not read.
    """

    file: bytes
    options: AuditOptions
    store: str = ""
    resume: bool = False


class Stored(msgspec.Struct, frozen=True):
    """What became of a file whose results go to datasets; ``numbers`` are its findings by severity.

    ``known``: they were there already.
    """

    status: str
    error: str = ""
    numbers: dict[str, int] = {}
    known: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What became of a file: its report, where that was stored, or the line that says why there is neither.

    ``other``: it is no ELF file and no archive of such.  ``lost``: that was not of the file's own doing, as far as is
    known, and another try may go better.  ``last``: the process that says it ends.
    """

    report: Report | None = None
    stored: Stored | None = None
    error: str = ""
    other: bool = False
    lost: bool = False
    last: bool = False


class AuditingProcess(Child[Answer]):
    """Asked with ``Task``, answers with ``Answer``."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.answering", Answer)

    def answer(self) -> Answer | None:
        found = super().answer()
        if found is None or not found.last:
            return found
        self.close()  # what it were asked now, it would not read
        return msgspec.structs.replace(found, last=False)
