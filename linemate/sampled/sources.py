"""Where in source the instructions of sampled findings come from: ``file:line:column``, by the line tables.

Owns which files are asked, that only the programs of the line table that speak of these instructions are read, and that
what a library's header has inlined is where the program calls it.  What cannot be read is left out: an access without a
place in source is no error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from elfscan.debug.debugfile import DebugLinks, find_debug
from elfscan.debug.linetable import LineTable, read_lines
from elfscan.debug.locals import read_locals
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.basics.sourcepath import of_system
from sharing.model.errors import LinemateError
from sharing.sampled.lineuse.use import Site

MAX_MODULES = 8  # files that are asked, those with the most instructions


def sources_of(sites: Sequence[Site]) -> Mapping[tuple[str, int], str]:
    """(file, address) of each instruction whose line is known to ``file:line:column``."""
    return own_places_of([(site.module, site.ip) for site in sites])


def own_places_of(code: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
    """Link-time addresses in files to places in what their authors wrote.

    An instruction inlined from a header of the system (``atomic_base.h``, ``std_mutex.h``) is where the innermost
    function calls into it that is no library's; where nothing says that, it stays where the line table has it.
    """
    out = dict(places_of(code))
    inlined: dict[str, list[int]] = {}
    for (path, ip), place in out.items():
        if of_system(place):
            inlined.setdefault(path, []).append(ip)
    for path, ips in inlined.items():
        try:
            functions = read_locals(path, np.array(sorted(ips), np.uint64)).functions
        except (LinemateError, OSError):
            continue
        for ip in ips:
            calls = [one.call for one in functions.get(ip, ()) if one.call]
            out[path, ip] = next((call for call in calls if not of_system(call)), out[path, ip])
    return out


def places_of(code: Sequence[tuple[str, int]]) -> Mapping[tuple[str, int], str]:
    """The same for link-time addresses in files."""
    wanted: dict[str, set[int]] = {}
    for path, address in code:
        wanted.setdefault(path, set()).add(address)
    out: dict[tuple[str, int], str] = {}
    for module in sorted(wanted, key=lambda one: (-len(wanted[one]), one))[:MAX_MODULES]:
        ips = np.array(sorted(wanted[module]), np.uint64)
        try:
            lines = _lines(module, ips)
        except (LinemateError, OSError):
            continue
        for ip, row in zip(ips.tolist(), lines.at(ips).tolist(), strict=True):
            if row >= 0 and lines.rows["line"][row] and lines.rows["file"][row] >= 0:
                place = lines.rows[row]
                column = f":{place['column']}" if place["column"] else ""
                out[module, ip] = f"{lines.files[place['file']]}:{place['line']}{column}"
    return out


def _lines(path: str, ips: np.typing.NDArray[np.uint64]) -> LineTable:
    """From the file itself, or from its debug file."""
    elf = ElfFile(path, map_file(path))
    if not elf.has_dwarf:
        found = find_debug(path, DebugLinks.of(elf))
        if found.main is None:
            return read_lines(elf, ips)
        elf = ElfFile(found.main, map_file(found.main))
    return read_lines(elf, ips)
