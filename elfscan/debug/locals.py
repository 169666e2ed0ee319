"""Local variables at given instructions, by the debug information of a file.

Owns the join of ``debugfile`` (where it is) and ``dwarf`` (what is in it), and the way from DWARF's numbers of
registers to perf's.  Only the units that hold the instructions are read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from elfscan.debug.debugfile import DebugLinks, find_debug
from elfscan.debug.dwarf import DwarfFunction, start_locals
from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.arch import machine_named
from sharing.model.arrays import picked
from sharing.model.locals import Around, Local, Locals, Static
from sharing.model.types import TypeTable


def read_locals(path: str, ips: npt.NDArray[np.uint64]) -> Locals:
    """The variables at sorted link-time addresses of the ELF file ``path``; none where there is no debug information.

    Raises LinemateError where what there is cannot be read.
    """
    elf = ElfFile(path, map_file(path))
    machine = machine_named(elf.arch.name)
    registers = machine.perf.dwarf_numbers() if machine is not None and machine.perf is not None else {}
    found = find_debug(path, DebugLinks.of(elf))
    if found.main is None or not registers or not len(ips):
        return Locals()
    job = start_locals(found.main, ips, frames=path, alt=found.alt)
    document = job.result()
    at: dict[int, list[Local]] = {}
    for one in document.locals:
        if one.register in registers:
            register = registers[one.register]
            at.setdefault(one.ip, []).append(
                Local(one.name, one.function, one.type, register, one.offset, one.in_memory)
            )
    languages = {unit.language for unit in document.units}
    statics = [Static(one.name, one.address, one.type) for one in document.variables if not one.tls]
    return Locals(
        at={ip: tuple(some) for ip, some in at.items()},
        statics=tuple(statics),
        own=tuple(Static(one.name, one.address + start, one.type) for one in document.variables if one.tls)
        if (start := _own_start(elf)) is not None
        else (),
        types=TypeTable(document.types),
        pointees={pointer: target for pointer, target in document.pointees if pointer >= 0 <= target},
        files=tuple(document.files),
        functions={ip: _around(functions, document.files) for ip, functions in document.functions},
        results={ip: functions[-1].result for ip, functions in document.functions if functions[-1].result >= 0},
        language=languages.pop() if len(languages) == 1 else "",
    )


def _around(functions: Sequence[DwarfFunction], files: Sequence[str]) -> tuple[Around, ...]:
    """Each is at the place where it calls the one that is inlined in it."""
    calls = [
        f"{files[one.file]}:{one.line}{f':{one.column}' if one.column else ''}" if one.file >= 0 and one.line else ""
        for one in functions
    ]
    placed = zip(functions, ["", *calls], strict=False)
    return tuple(Around(one.name, call, one.gives_memory) for one, call in placed if one.name)


def _own_start(elf: ElfFile) -> int | None:
    """Where a program's thread-local storage starts, from the thread pointer; None where that is not known."""
    blocks = picked(elf.segments, elf.segments["type"] == c.PT_TLS)
    if not elf.machine.tls_ends_at_pointer or len(blocks) != 1:
        return None
    size, align = int(blocks[0]["size"]), max(int(blocks[0]["align"]), 1)
    return -(-(-size // align) * align)
