"""What ``strace -c`` prints: time, calls and errors by system call.

Owns that format only; several summaries in one text are told apart by the heading in front of each.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Measurement
from sharing.model.errors import Unrecognized

_HEADER = re.compile(r"^\s*% time\s+seconds\s+usecs/call\s+calls\s+errors\s+syscall\s*$")
_ROW = re.compile(
    r"^\s*(?P<time>\d{1,3}\.\d{2})\s++(?P<seconds>\d{1,12}\.\d{1,9})\s++(?:(?P<per_call>\d{1,15})\s++)?"
    r"(?P<calls>\d{1,15})(?:\s++(?P<errors>\d{1,15}))?\s++(?P<name>[a-z_][a-z0-9_]{0,60})\s*$"
)
# Possessive: lines of blanks, which several parts could match, would take the square of their length.
_HEADING = re.compile(
    r"^\s*+(?P<label>[^|%\n]{1,60}?):\s*+(?:(?P<value>\d{1,12}(?:\.\d{1,6})?)\s*+(?P<metric>[A-Za-z/]{1,12}))?\s*+$"
)


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """``seconds``, ``calls``, ``errors`` and ``% time`` by ``syscall``; the heading ("1-mysql: 245 TPS") is ``build``.

    Raises Unrecognized.
    """
    out: list[Measurement] = []
    build: tuple[tuple[str, str], ...] = ()
    heading: Measurement | None = None
    inside = False
    for line in text.splitlines():
        if _HEADER.match(line):
            inside = True
            if heading is not None:
                out.append(heading)
                heading = None
        elif inside and (found := _ROW.match(line)):
            if found["name"] == "total":
                continue
            labels = (*build, ("syscall", found["name"]))
            out.append(Measurement("% time", float(found["time"]), labels))
            out.append(Measurement("seconds", float(found["seconds"]), labels))
            out.append(Measurement("calls", float(found["calls"]), labels))
            out.append(Measurement("errors", float(found["errors"] or 0), labels))
        elif found := _HEADING.match(line):
            build, inside = (("build", found["label"].strip()),), False
            heading = Measurement(found["metric"], float(found["value"]), build) if found["value"] else None
    if not any(m.metric == "calls" for m in out):
        raise Unrecognized(path, "no summary of strace -c")
    return tuple(out)
