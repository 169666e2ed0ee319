"""What lies at the addresses of a piece of samples, and what the code says of each access.

Owns the columns of a placed row that both the samples themselves (``attribute``) and the accesses beside them
(``witnesses``) fill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Region, TouchFlag
from sharing.model.operands import MappedFiles, OperandFlag, Role
from sharing.model.samples import Samples
from sharing.sampled.attribution.evaluate import RegisterFile
from sharing.sampled.attribution.processes import Processes
from sharing.sampled.attribution.regions import Memory
from sharing.sampled.attribution.sampledcode import CodeKeys, SampledCode

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Parts:
    """What all pieces need."""

    samples: Samples
    files: MappedFiles
    processes: Processes
    memory: Memory
    code: SampledCode
    registers: RegisterFile
    keys: CodeKeys
    templates: Table  # see ``attribute``
    charged: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Addressed:
    """Addresses by row of a piece, with thread and process; known of the rows ``at``, thread-local where ``own``."""

    thread: Column
    process: Column
    address: Column
    at: Column
    own: Column


def locate(parts: Parts, rows: Table, addressed: Addressed, out: Table) -> None:
    """Place, space, region and file of the addresses that are known; space -1 where nothing is mapped."""
    at, own, address = addressed.at, addressed.own, addressed.address
    # A copy of whole samples costs more than all the rest.
    every = len(at) == len(rows)
    some, into = (rows, slice(None)) if every else (rows[at], at)

    def pointers(which: Column) -> Column:
        if not parts.registers.any:
            return np.zeros(len(which), np.uint64)
        value, known = parts.registers.read_one(some, parts.registers.names.stack, at=which)
        return np.where(known, value, np.uint64(0))

    found = parts.memory.locate(some, addressed.process[into], address[into], pointers)
    mapped, space = found["known"] == 1, found["space"]
    found["space"] = np.where(mapped, space, -1)
    if own.any():
        found["space"][own] = parts.memory.thread_space(addressed.thread[at[own]])
        found["place"][own], found["region"][own] = address[at[own]], Region.TLS
        found["link"][own], found["data_module"][own] = 0, -1
    for name in ("place", "link", "space", "data_module", "region"):
        column = found[name]
        out[name][into] = column


def describe(out: Table, code: SampledCode, operand: Column) -> None:
    """What the charged instruction says of each access: its own address, kind, size, flags."""
    here = np.flatnonzero(operand >= 0)
    if not len(here):
        return
    of = code.operands[operand[here]]
    ip, size, kind = of["ip"], of["size"], of["kind"]
    out["ip"][here], out["size"][here], out["kind"][here] = ip, size, kind
    flags = np.where(of["flags"] & OperandFlag.ATOMIC != 0, int(TouchFlag.ATOMIC), 0)
    flags |= np.where(of["role"] == Role.AT, int(TouchFlag.AT_IP), 0)
    flags |= np.where(of["flags"] & OperandFlag.SPIN_WAITS != 0, int(TouchFlag.SPIN_WAITS), 0)
    out["uses"][here] = of["flags"] & OperandFlag.USES != 0
    function = out["function"][here]
    locks = np.append(code.locks, False)[function]
    out["flags"][here] |= (flags | np.where(locks, int(TouchFlag.LOCK_CALL), 0)).astype(np.uint8)
