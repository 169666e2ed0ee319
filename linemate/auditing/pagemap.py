"""The map of an image for a page, and the accesses to the lines of findings: their places in source and their code.

Owns how many are looked up and which files are read: regular ones below the current folder, since debug information may
name any file, and what a page shows is sent on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from elfscan.code.around import instructions_around
from linemate.auditing.image import AuditedImage
from linemate.sampled.sources import own_places_of
from reports.locations import Position, position
from reports.wording import target_name
from sharing.basics.naming import readable_names
from sharing.judge.memorymap import memory_map
from sharing.judge.passes import Passes
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Severity
from sharing.model.image import Image
from sharing.model.inputs import read_input
from sharing.model.memorymap import CodeLine, Excerpt, MemoryMap
from sharing.static.callees import function_name, names_of_callees

MAX_PLACES = 300  # each may lie in a line program of its own, which takes time to read
CODE_FROM = Severity.LOW  # findings whose instructions are shown
_LEADS = re.compile(r"\w+ #?0x([0-9a-f]{1,16})")  # an instruction with an address alone: a call or a jump
MAX_FILE_BYTES = 4 << 20
AROUND = 2  # lines of text before and after


def page_map(passes: Passes, audited: AuditedImage) -> MemoryMap:
    """All writable memory of an image, with what profiles and source say of it."""
    target = audited.target
    drawn = memory_map(passes, target.line_size, target_name(target) if target.member else "")
    return msgspec.structs.replace(drawn, sampled=list(audited.sampled), excerpts=excerpts(passes, audited.findings))


@dataclass(frozen=True, slots=True)
class _Access:
    """The busiest of a function to an address."""

    function: int
    address: int
    ip: int
    shows_code: bool


def excerpts(passes: Passes, findings: Sequence[Finding]) -> list[Excerpt]:
    """Accesses to the lines of findings, those of the worst first, where their source or code is known."""
    image = passes.image
    wanted = _accesses(passes, findings)
    names = {access.function: function_name(image, access.function) for access in wanted}
    shown = readable_names(list(names.values()), passes.demangle)
    places = own_places_of([(image.path, access.ip) for access in wanted])
    code = _code(image, [access.ip for access in wanted if access.shows_code], passes)
    files = _Files(Path.cwd())
    out = []
    for access in wanted:
        where = position(places.get((image.path, access.ip), ""))
        first, text = files.around(where) if where else (0, [])
        lines = code.get(access.ip, []) if access.shows_code else []
        if where or lines:
            out.append(
                Excerpt(
                    f"{access.address:#x}",
                    shown[names[access.function]],
                    f"{where.path}:{where.line}" if where else "",
                    first,
                    text,
                    f"{access.ip:#x}",
                    lines,
                )
            )
    return out


def _accesses(passes: Passes, findings: Sequence[Finding]) -> list[_Access]:
    """Of each function and address the busiest."""
    accesses = passes.accesses
    target = accesses.sites["target"]
    chosen: dict[tuple[int, int], _Access] = {}
    for finding in findings:
        start = int(finding.line.address, 16)
        first, last = np.searchsorted(target, np.array([start, start + finding.line.size], np.uint64)).tolist()
        shows_code = finding.severity.rank >= CODE_FROM.rank
        for row in sorted(range(first, last), key=lambda at: -float(accesses.weight[at])):
            function, address, ip = (int(accesses.sites[name][row]) for name in ("function", "target", "ip"))
            chosen.setdefault((function, address), _Access(function, address, ip, shows_code))
        if len(chosen) > MAX_PLACES:
            break
    return list(chosen.values())[:MAX_PLACES]


def _code(image: Image, ips: Iterable[int], passes: Passes) -> Mapping[int, list[CodeLine]]:
    """By each of ``ips`` the instructions around it; none where the file is an archive or is gone."""
    try:
        around = instructions_around(image.path, image.functions, np.unique(np.fromiter(ips, np.uint64)))
    except (LinemateError, OSError):
        return {}
    ends = {found[1] for lines in around.values() for _, text in lines if (found := _LEADS.fullmatch(text))}
    targets = sorted(int(end, 16) for end in ends)
    names = dict(zip(targets, names_of_callees(image, np.array(targets, np.uint64)), strict=True))
    shown = readable_names(list(filter(None, names.values())), passes.demangle)

    def told(text: str) -> str:
        found = _LEADS.fullmatch(text)
        name = names[int(found[1], 16)] if found else ""
        return f"{text} <{shown[name]}>" if name else text

    return {ip: [CodeLine(f"{at:#x}", told(text)) for at, text in lines] for ip, lines in around.items()}


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
