"""The map of an image for a page, and where the accesses to the lines of findings stand in source, with the text there.

Owns how many are looked up and which files are read: regular ones below the current folder, since debug information may
name any file, and what a page shows is sent on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from linemate.auditing.image import AuditedImage
from linemate.sampled.sources import places_of
from reports.locations import Position, position
from reports.wording import target_name
from sharing.basics.naming import readable_names
from sharing.judge.memorymap import memory_map
from sharing.judge.passes import Passes
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding
from sharing.model.inputs import read_input
from sharing.model.memorymap import MemoryMap, SourceLine
from sharing.static.callees import function_name

MAX_PLACES = 300  # each may lie in a line program of its own, which takes time to read
MAX_FILE_BYTES = 4 << 20
AROUND = 2  # lines of text before and after


def page_map(passes: Passes, audited: AuditedImage) -> MemoryMap:
    """All writable memory of an image, with what profiles and source say of it."""
    target = audited.target
    drawn = memory_map(passes, target.line_size, target_name(target) if target.member else "")
    sources = source_lines(passes, audited.findings)
    return msgspec.structs.replace(drawn, sampled=list(audited.sampled), sources=sources)


def source_lines(passes: Passes, findings: Sequence[Finding]) -> list[SourceLine]:
    """Accesses to the lines of findings, those of the worst first, of each function and address the busiest."""
    accesses, image = passes.accesses, passes.image
    target = accesses.sites["target"]
    chosen: dict[tuple[int, int], int] = {}
    for finding in findings:
        start = int(finding.line.address, 16)
        first, last = np.searchsorted(target, np.array([start, start + finding.line.size], np.uint64)).tolist()
        for row in sorted(range(first, last), key=lambda at: -float(accesses.weight[at])):
            site = accesses.sites[row]
            chosen.setdefault((int(site["function"]), int(site["target"])), int(site["ip"]))
        if len(chosen) > MAX_PLACES:
            break
    wanted = list(chosen.items())[:MAX_PLACES]
    shown = readable_names([function_name(image, function) for (function, _), _ in wanted], passes.demangle)
    places = places_of([(image.path, ip) for _, ip in wanted])
    files = _Files(Path.cwd())
    out = []
    for (function, address), ip in wanted:
        if where := position(places.get((image.path, ip), "")):
            first, text = files.around(where)
            name = shown[function_name(image, function)]
            out.append(SourceLine(f"{address:#x}", name, f"{where.path}:{where.line}", first, text))
    return out


class _Files:
    """Files below a folder, each read once."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lines: dict[str, list[str]] = {}

    def around(self, where: Position) -> tuple[int, list[str]]:
        """The number of the first line and the lines; nothing of a file that is not below the folder."""
        if where.path not in self._lines:
            self._lines[where.path] = self._read(where.path)
        lines = self._lines[where.path]
        first = max(where.line - AROUND, 1)
        return first, lines[first - 1 : where.line + AROUND]

    def _read(self, name: str) -> list[str]:
        try:
            path = (self._root / name).resolve()
            if not path.is_relative_to(self._root):
                return []
            return read_input(path, MAX_FILE_BYTES).decode("utf-8", "replace").splitlines()
        except (LinemateError, OSError, ValueError):
            return []
