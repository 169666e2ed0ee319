"""Types of memory without a declaration: which files are asked, and when.

Owns the two questions about each sampled instruction (where its address comes from, which variables are there) and that
they are asked once, for all lines that several threads use.  What cannot be read is left out: memory without a type is
no error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elfscan.debug.locals import read_locals
from sharing.model.attribution import Region
from sharing.model.errors import LinemateError
from sharing.model.locals import Locals
from sharing.model.operands import MappedFile, MappedFiles
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.objects import Code, SeenObject, object_at
from sharing.sampled.reached import Reached, reached

MAX_INSTRUCTIONS = 4096  # of one file that are asked for
_MEMORY = (Region.HEAP, Region.ANONYMOUS, Region.STACK, Region.SHARED)


class Objects:
    """The object around bytes of a line."""

    def __init__(self, lines: Sequence[LineUse], mapped: Sequence[MappedFiles]) -> None:
        self._files = {file.module.path: file for one in mapped for file in one.files if not file.module.missing}
        self._wanted: dict[str, set[int]] = {}
        for use in lines:
            if _shared(use):
                for site in use.sites:
                    self._wanted.setdefault(site.module, set()).add(site.ip)
        self._known: dict[Code, tuple[Reached, Locals]] | None = None

    def __call__(self, use: LineUse, start: int, end: int) -> SeenObject | None:
        """What the bytes [start, end) of a line are, None where it is not known."""
        if not _shared(use):
            return None
        if self._known is None:
            self._known = {}
            for path, ips in self._wanted.items():
                if path in self._files:
                    self._known |= _read(self._files[path], ips)
        return object_at(use, start, end, self._known)


def _shared(use: LineUse) -> bool:
    return use.link < 0 and use.region in _MEMORY and len(use.threads) > 1


def _read(file: MappedFile, wanted: set[int]) -> dict[Code, tuple[Reached, Locals]]:
    ips = np.array(sorted(wanted)[:MAX_INSTRUCTIONS], np.uint64)
    path = file.module.path
    try:
        rows = file.read_origins(ips)
        locals_ = read_locals(path, np.unique(rows["ip"]))
    except (LinemateError, OSError):
        return {}
    return {(path, int(ips[asked])): (one, locals_) for asked, one in reached(rows, locals_).items()}
