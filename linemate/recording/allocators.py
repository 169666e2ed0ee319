"""Where a running program's allocator is: its functions in the files that are mapped, and where to put a probe on each.

Owns that search.  Which functions allocate says ``pmu.probednotes``, how probes are opened ``pmu.uprobes``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elfscan.code.boundaries import code_of
from elfscan.code.query import read_assembly
from elfscan.fileformat import constants as c
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.symbols import UNDEFINED, read_symbols
from pmu.probednotes import CALLS, PREFIXES, Call
from pmu.uprobes import Probe
from sharing.model.errors import LinemateError
from sharing.model.process.table import files_with_code

_NAMES = {prefix + name: call for prefix in PREFIXES for name, call in CALLS.items()}
_LOOKED = 8  # instructions at the beginning of a function
# What the kernel does itself in the place of the instruction (arch/x86/kernel/uprobes.c); any other one it has the
# processor step over, which takes ten times as long where a virtual machine is entered for it.
_QUICK = re.compile(r"(pushq %|j\w+ 0x|nop$)")
# What may stand before it: nothing that leaves, moves the stack, or sets what the function was called with.
_HARMLESS = re.compile(r"endbr64|(test|cmp)[bwlq] |mov\w+ .*, %(r?[ab]x|e[ab]x|r(8|9|10|11)d?)$")
MAX_FILES = 256


@dataclass(frozen=True, slots=True)
class Found:
    """Probes in pairs, where a function begins and where it returns, and the call that each begins."""

    probes: tuple[Probe, ...]
    calls: tuple[Call, ...]
    files: tuple[str, ...]  # those that have an allocator


def in_process(pids: Sequence[int]) -> Found:
    """The allocators of running processes.  Raises LinemateError where there is none."""
    paths: dict[tuple[int, int], str] = {}
    for pid in pids:
        try:
            mapped = files_with_code(pid)
        except OSError as error:
            raise LinemateError(f"/proc/{pid}/maps: {error.strerror}: run as that user or as root") from None
        for path in mapped:
            try:
                there = os.stat(path)
            except OSError:
                continue  # deleted since, as after an upgrade
            paths.setdefault((there.st_dev, there.st_ino), path)
    return _in_files(list(paths.values())[:MAX_FILES])


def in_program(path: str) -> Found:
    """The allocator of a program that is linked statically.  Raises LinemateError where it has none."""
    return _in_files([path])


def is_static(path: str) -> bool:
    """Whether nothing can be loaded into the program in front of its own functions."""
    try:
        elf = ElfFile(path, map_file(path))
    except (LinemateError, OSError):
        return False  # a script: of what it starts nothing is known
    return elf.header.type in (c.ET_EXEC, c.ET_DYN) and not (elf.segments["type"] == c.PT_INTERP).any()


def _in_files(paths: Sequence[str]) -> Found:
    probes: list[Probe] = []
    calls: list[Call] = []
    files: list[str] = []
    for path in paths:
        try:
            for offset, name in _functions(path):
                probes += [Probe(path, offset, name), Probe(path, offset, name, returns=True)]
                calls += [_NAMES[name]] * 2
                files += [path] * (path not in files)
        except (LinemateError, OSError):
            continue  # no ELF file, or a broken one
    if not probes:
        raise LinemateError("no function that allocates is known in the program or its libraries: it has no symbols")
    return Found(tuple(probes), tuple(calls), tuple(files))


def _functions(path: str) -> Iterator[tuple[int, str]]:
    """(offset in the file, name) of each function that allocates; one of several names of one."""
    elf = ElfFile(path, map_file(path))
    symbols = read_symbols(elf)
    table = symbols.table
    known = (table["section"] != UNDEFINED) & (table["type"] == c.STT_FUNC) & (table["size"] > 0)
    rows = np.flatnonzero(known)
    at: dict[int, tuple[int, str]] = {}  # size and name
    for row, full in zip(rows.tolist(), symbols.names.decode(table["name"][rows]), strict=True):
        if full in _NAMES:
            at.setdefault(int(table["value"][row]), (int(table["size"][row]), full))
    starts = np.array(sorted(at), np.uint64)
    ends = starts + np.array([at[start][0] for start in starts.tolist()], np.uint64)
    text = read_assembly(elf.arch, starts, starts, ends, code_of(elf))
    for start in starts.tolist():
        quick = _quick_place(start, text.get(start, []))
        offset = elf.offset_of(quick)
        if offset is not None:
            yield offset, at[start][1]


def _quick_place(start: int, instructions: Sequence[tuple[int, str]]) -> int:
    """The first instruction at which a probe is quick and the function's arguments and stack are what they were."""
    for address, text in instructions[:_LOOKED]:
        if address < start:
            continue
        if _QUICK.match(text):
            return address
        if not _HARMLESS.match(text):
            break
    return start
