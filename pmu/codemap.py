"""Names of code that a program made while it ran, as runtimes note them for perf: ``/tmp/perf-PID.map``.

Owns finding that file and reading it: a line each, start and size in hexadecimal and the name behind them.  Code that
came later lies in front of what was there before.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sharing.model.inputs import NotReadable, open_input

MAX_BYTES = 64 << 20
MAX_NAME = 200  # characters
TEMPORARY = Path("/tmp")  # where runtimes write it, whatever TMPDIR says
_LINE = re.compile(rb"^(?:0x)?([0-9a-fA-F]{1,16}) (?:0x)?([0-9a-fA-F]{1,16}) (.+)$", re.MULTILINE)

Addresses = npt.NDArray[np.uint64]


class CodeMap:
    """The code of one process by its addresses at run time."""

    def __init__(self, path: Path, data: bytes) -> None:
        self.path = path
        found = _LINE.findall(data)
        start = np.array([int(one, 16) for one, _, _ in found], np.uint64)
        size = np.array([int(one, 16) for _, one, _ in found], np.uint64)
        # Of two at one address the later one counts: a stable sort leaves it behind the other.
        order = np.argsort(start, kind="stable")
        self._start, self._size = start[order], size[order]
        self._names = [found[i][2].decode("utf-8", "replace")[:MAX_NAME] for i in order.tolist()]

    def names(self, addresses: Addresses) -> list[str]:
        """Of the code at each address, "" where none is noted."""
        if not self._names:
            return [""] * len(addresses)
        at = np.searchsorted(self._start, addresses, "right") - 1
        inside = (at >= 0) & (addresses - self._start[at] < self._size[at])
        return [self._names[i] if known else "" for i, known in zip(at.tolist(), inside.tolist(), strict=True)]


def code_map(profile: Path, pid: int) -> CodeMap | None:
    """That of a process: beside the profile, else where it was written; None where there is none that can be read.

    Anybody may write there: a map of another user than root and us is none, as perf has it.
    """
    for folder in (profile.parent, TEMPORARY):
        path = folder / f"perf-{pid}.map"
        with contextlib.suppress(NotReadable), open_input(path) as file:
            if os.fstat(file.fileno()).st_uid in (0, os.geteuid()):
                return CodeMap(path, file.read(MAX_BYTES))
    return None
