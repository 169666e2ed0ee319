"""What ``strace -c`` prints: time, calls and errors by system call.

Owns that format only; several summaries in one text are told apart by the heading in front of each.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Labels, Measurement
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
    build: Labels = ()
    heading: Measurement | None = None
    inside = False
    # All summaries of a text are one table: each is of another build.
    table = 0
    for number, line in enumerate(text.splitlines(), 1):
        if _HEADER.match(line):
            inside = True
            table = table or (heading.line if heading is not None else number)
            if heading is not None:
                out.append(heading.at(heading.line, table))
                heading = None
        elif inside and (found := _ROW.match(line)):
            if found["name"] == "total":
                continue
            labels = (*build, ("syscall", found["name"]))
            figures = {
                "% time": found["time"], "seconds": found["seconds"], "calls": found["calls"], "errors": found["errors"]
            }  # fmt: skip
            out += [Measurement(name, float(text or 0), labels, number, table) for name, text in figures.items()]
        elif found := _HEADING.match(line):
            build, inside = (("build", found["label"].strip()),), False
            heading = Measurement(found["metric"], float(found["value"]), build, number) if found["value"] else None
    if not any(m.metric == "calls" for m in out):
        raise Unrecognized(path, "no summary of strace -c")
    return tuple(out)
