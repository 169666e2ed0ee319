"""A log of revisions with results between them: ``revision-id: ...`` and below it ``# transactions: ...``.

Owns that format only.  The log runs from the newest revision to the oldest, as version control prints it.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Labels, Measurement
from sharing.model.errors import Unrecognized

_REVISION = re.compile(r"^(?P<indent>\s*)revision-id: (?P<id>\S{1,200})\s*$")
_RESULT = re.compile(
    r"^#+\s*(?P<name>[A-Za-z/ ]{1,40}):\s+(?P<count>\d{1,15})\s+\((?P<rate>\d{1,15}(?:\.\d{1,9})?) per sec\.\)\s*$"
)
_CONDITION = re.compile(r"^#{3,}+\s*+(?P<text>[^:\n]{1,80}?)\s*+$")
_DATE = re.compile(r"-(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})-")


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """Rates by ``revision`` with its ``date``, and ``condition`` where the log names one, oldest revision first.

    Raises Unrecognized.
    """
    groups: list[list[Measurement]] = []
    revision: Labels = ()
    condition: Labels = ()
    table = 0
    for number, line in enumerate(text.splitlines(), 1):
        if found := _REVISION.match(line):
            table = table or number
            revision, condition = _labels(found["id"]), ()
            groups.append([])
        elif (found := _RESULT.match(line)) and revision:
            labels = (*revision, *condition)
            groups[-1].append(Measurement(found["name"].strip(), float(found["rate"]), labels, number, table))
        elif (found := _CONDITION.match(line)) and revision:
            # A condition may repeat the revision's time stamp.
            words = [w for w in found["text"].split() if not re.fullmatch(r"\d{14}", w)]
            condition = (("condition", " ".join(words)),)
    out = [m for group in reversed(groups) for m in group]
    if not out:
        raise Unrecognized(path, "no revisions with results")
    return tuple(out)


def listed_revisions(text: str) -> tuple[str, ...]:
    """All revisions that a log lists, with a result or without, oldest first; none in other formats."""
    found = [match["id"] for line in text.splitlines() if (match := _REVISION.match(line))]
    return tuple(dict.fromkeys(reversed(found)))


def _labels(identity: str) -> Labels:
    """The revision, and the date that its identity carries."""
    date = _DATE.search(identity)
    if date is None:
        return (("revision", identity),)
    year, month, day, *_ = date.groups()
    return (("revision", identity), ("date", f"{year}-{month}-{day}"))
