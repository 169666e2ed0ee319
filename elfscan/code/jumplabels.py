"""Branches of a kernel that a static key switches: an instruction that does nothing, or a jump, which are exchanged.

Owns reading the table of them (``__jump_table``), as kernels for 64 bits have it since Linux 4.19, and which way each
branch takes when the kernel has started.  Whether code has such an instruction there is the access scanner's to see.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from elfscan.relocation.dynamic import PLACEHOLDER_BYTES
from sharing.model import ImageKind, SectionKind
from sharing.model.arrays import words_at
from sharing.model.inputs import open_input

Array = npt.NDArray[Any]

TABLE = "__jump_table"
BOUNDS = ("__start_", "__stop_")  # of a table in a linked kernel
TRACEPOINT = b"__tracepoint_"
MESSAGES = "__dyndbg"  # what pr_debug and the like say
ALIGNMENT = 8
PLACED_SHARE = 0.5  # of the entries; where fewer lead to code, it is another kind of table

# All three are distances from the field itself; of the key's the two lowest bits are flags.
ENTRY = (("code", "i4"), ("target", "i4"), ("key", "i8"))
ENTRY_BYTES = 16
# 4 * -log2 of the chance that the other way is open.  Tracing is switched on by whom it is to help, for a while.  Of
# other keys many are on wherever something is in use: what they open is no rarer than other code that is hardly used.
DIAGNOSIS, OTHERS = 160, 13
_OFFSETS = {"code": 0, "target": 4, "key": 8}
LABEL_DTYPE = np.dtype([("code", "<u8"), ("target", "<u8"), ("way", "<u4"), ("rarity", "<u4")])
_ON_BRANCHES, _FLAGS = 1, 3


class Way(IntEnum):
    """Which way a branch goes as long as nobody switches its key."""

    AS_LINKED = 0  # the key is another file's: what the instruction does
    CONTINUES = 1
    JUMPS = 2


def jump_labels(program: Program, kind: ImageKind) -> Array:
    """LABEL_DTYPE of a kernel or module, by code.  A table that is none is a loss."""
    none = np.zeros(0, LABEL_DTYPE)
    elf = program.elf
    if kind not in (ImageKind.KERNEL, ImageKind.MODULE) or elf.header.bits != 64:
        return none
    then = "code that static keys switch counts as code that always runs"
    return elf.losses.attempt("the table of static keys", partial(_read, program), none, then=then, incomplete=False)


def _read(program: Program) -> Array:
    elf = program.elf
    start, end = _extent(program, TABLE)
    size = end - start
    if size < 0 or size % ENTRY_BYTES or start % ALIGNMENT:
        raise elf.malformed(None, f"{size} bytes at {start:#x} are no entries of {ENTRY_BYTES} bytes")
    data = _bytes(program, start, end)
    if data.size != size:
        raise elf.malformed(None, f"{size} bytes at {start:#x} reach outside of their section")
    entries = data.view(np.dtype([(name, elf.order + kind) for name, kind in ENTRY]))
    at = np.uint64(start) + np.arange(len(entries), dtype=np.uint64) * np.uint64(ENTRY_BYTES)

    def named(field: str, distance: Array) -> Array:
        """The addresses that a field of the entries leads to."""
        place = at + np.uint64(_OFFSETS[field])
        result: Array = place + distance.astype(np.int64).view(np.uint64)
        return result

    labels = np.zeros(len(entries), LABEL_DTYPE)
    labels["code"], labels["target"] = named("code", entries["code"]), named("target", entries["target"])
    placed = _in_code(program, labels["code"]) & _in_code(program, labels["target"])
    if placed.sum() < PLACED_SHARE * len(entries):
        raise elf.malformed(None, f"{int((~placed).sum())} of {len(entries)} entries at {start:#x} lead to no code")
    key = entries["key"].astype(np.int64)
    keys = named("key", key & ~np.int64(_FLAGS))
    on = _switched_on(program, keys)
    jumps = (on > 0) != (key & _ON_BRANCHES != 0)
    labels["way"] = np.where(on < 0, Way.AS_LINKED, np.where(jumps, Way.JUMPS, Way.CONTINUES))
    labels["rarity"] = np.where(_for_diagnosis(program, keys), DIAGNOSIS, OTHERS)
    labels = labels[placed]
    result: Array = labels[np.argsort(labels["code"], kind="stable")]
    return result


def _extent(program: Program, name: str) -> tuple[int, int]:
    """Where a table begins and ends, the same twice where there is none."""
    for section in program.layout.sections:
        if section.name == name:
            return section.address, section.end
    start, end = (program.symbols.lookup(bound + name) for bound in BOUNDS)
    return (0, 0) if start is None or end is None else (start, end)


def _bytes(program: Program, start: int, end: int) -> Array:
    """The file's bytes between two addresses of one section, relocated; none where the section does not hold them."""
    elf = program.elf
    for section, offset in zip(program.layout.sections, program.file_offsets, strict=True):
        if not (section.address <= start <= end <= section.end) or section.file_offset is None or offset < 0:
            continue
        if program.code_path == elf.path:
            at = section.file_offset - elf.base + start - section.address
            return np.ascontiguousarray(elf.data[at : at + end - start])
        with open_input(program.code_path) as stream:
            stream.seek(offset + start - section.address)
            return np.frombuffer(stream.read(end - start), np.uint8)
    return np.zeros(0, np.uint8)


def _in_code(program: Program, addresses: Array) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(addresses), bool)
    for section in program.layout.sections:
        if section.kind is SectionKind.CODE:
            found |= (addresses >= section.address) & (addresses < section.end)
    return found


def _for_diagnosis(program: Program, keys: Array) -> npt.NDArray[np.bool_]:
    """Which keys are part of a tracepoint or of a message for debugging."""
    symbols, imports = program.symbols, program.linkage.placeholders
    named = symbols.names.starts_with(symbols.table["name"], TRACEPOINT)
    rows = np.flatnonzero(named & (program.section >= 0))
    others = imports["slot"][named[imports["value"].astype(np.int64)]]
    first, last = _extent(program, MESSAGES)
    start = np.concatenate([program.address[rows], others, np.array([first], np.uint64)])
    sizes = np.concatenate([symbols.table["size"][rows], np.full(len(others), PLACEHOLDER_BYTES, np.uint64)])
    end = start + np.append(sizes, np.uint64(max(last - first, 0)))
    order = np.argsort(start, kind="stable")
    at = np.searchsorted(start[order], keys, "right") - 1
    found: npt.NDArray[np.bool_] = (at >= 0) & (keys < end[order][np.maximum(at, 0)])
    return found


def _switched_on(program: Program, keys: Array) -> npt.NDArray[np.int8]:
    """Of the keys at these addresses: 1 those that the file has switched on, 0 off, -1 not in this file."""
    result = np.full(len(keys), -1, np.int8)
    for section in program.layout.sections:
        if section.kind is SectionKind.CODE or section.size < 4:
            continue
        rows = np.flatnonzero((keys >= section.address) & (keys <= section.end - 4))
        if not len(rows):
            continue
        data = _bytes(program, section.address, section.end)
        if data.size == section.size:
            at = (keys[rows] - np.uint64(section.address)).astype(np.int64)
            result[rows] = words_at(data, at, f"{program.elf.order}i4") > 0  # struct static_key begins with its count
        elif section.file_offset is None:
            result[rows] = 0
    return result
