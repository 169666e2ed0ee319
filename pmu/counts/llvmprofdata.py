"""The reader of ``llvm-profdata show --all-functions --counts``: how often each function was entered.

Owns that text.  Counters within a function are not used: the text does not say which block one belongs to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np

from sharing.model.errors import Malformed, Unrecognized
from sharing.model.executions import EXECUTION_DTYPE, Executions, NamedCounts
from sharing.model.inputs import open_input

MAX_LINE_BYTES = 1 << 22  # all counters of a function are one line
MAX_NAME_BYTES = 1 << 16
MAX_FUNCTIONS = 1 << 22
MAX_COUNT = 1 << 60
NAME = re.compile(rb"  (\S.*):$")
COUNT = re.compile(rb"    Function count: (\d{1,20})$")
FIRST = re.compile(rb"    Block counts: \[(\d{1,20})[,\]]")  # of counters that the optimiser placed


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file."""
    runs: dict[str, int] = defaultdict(int)
    name, at, ended = "", 0, False
    with open_input(path, "a file of counts") as file:
        if file.readline(64).rstrip() != b"Counters:":
            raise Unrecognized(str(path), "does not begin with Counters: as llvm-profdata show does")
        at = file.tell()
        while line := file.readline(MAX_LINE_BYTES):
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                raise Malformed(str(path), at, f"has a line of more than {MAX_LINE_BYTES} bytes")
            text = line.rstrip(b"\r\n")
            ended |= text.startswith(b"Total functions:")
            begin = NAME.match(text)
            if begin is not None:
                if len(begin[1]) > MAX_NAME_BYTES or len(runs) >= MAX_FUNCTIONS:
                    raise Malformed(str(path), at, "has a longer name or more functions than linemate reads")
                # Functions of one unit alone are named after it: "file.c:name", since LLVM 17 "file.c;name".
                name = re.split("[;:]", begin[1].decode("utf-8", "replace"))[-1]
            elif text.startswith(b"    Function count:") or (FIRST.match(text) and name not in runs):
                found = COUNT.match(text) or FIRST.match(text)
                if found is None or not name or int(found[1]) > MAX_COUNT:
                    raise Malformed(str(path), at, "has no count of a function where one belongs")
                runs[name] += int(found[1])
            at += len(line)
    if not ended:
        raise Malformed(str(path), at, "ends before the number of functions: it was cut off")
    if not runs:
        raise Malformed(str(path), None, "counts no function: give llvm-profdata show --all-functions --counts")
    named = NamedCounts(runs=dict(runs))
    return Executions(np.empty(0, EXECUTION_DTYPE), (), (), (), "", "llvm-profdata", named)
