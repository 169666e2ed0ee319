"""Addresses of operands from sampled registers, many samples at once.

Owns the choice between the registers at the interrupt and those of user mode, and the sum that makes an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.arch import machine_named, machine_of_uname
from sharing.model.attribution import Reason
from sharing.model.operands import Holds, MappedFile, OperandFlag, Segment
from sharing.model.samples import Field, Mode, Samples
from sharing.sampled.attribution.regions import THREAD_BASE

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

REGISTERS = 64  # bits of a mask


@dataclass(frozen=True, slots=True)
class Names:
    """Perf's numbers of the registers that the attribution asks for by name, None where they are not known."""

    ip: int | None = None
    stack: int | None = None
    waited: int | None = None  # of a system call, the first argument: what a futex call waits for

    @property
    def complete(self) -> bool:
        return None not in (self.ip, self.stack, self.waited)


def names_of(samples: Samples, files: Sequence[MappedFile]) -> Names:
    """Of the machine that recorded; where the profile does not say which, of the one that the target is for."""
    if samples.recording.architecture:
        machine = machine_of_uname(samples.recording.architecture)
    else:
        machine = machine_named(files[0].architecture) if files else None
    if machine is None or machine.perf is None:
        return Names()
    perf, calls = machine.perf, machine.calls
    waited = perf.number(calls.arguments[0]) if calls is not None else None
    return Names(perf.number(perf.ip), perf.number(perf.stack), waited)


@dataclass(frozen=True, slots=True)
class RegisterFile:
    """Where each register of each sample is."""

    samples: Samples
    ranks: Table  # by event, interrupt or user, register: place after the first sampled one, -1 not sampled
    names: Names = Names()

    @classmethod
    def of(cls, samples: Samples, names: Names = Names()) -> RegisterFile:
        ranks = np.full((max(len(samples.events), 1), 2, REGISTERS), -1, np.int16)
        for number, event in enumerate(samples.events):
            for which, mask in enumerate((event.regs_intr_mask, event.regs_user_mask)):
                bits = [bit for bit in range(REGISTERS) if mask >> bit & 1]
                ranks[number, which, bits] = np.arange(len(bits))
        return cls(samples, ranks, names)

    @property
    def any(self) -> bool:
        return bool((self.ranks >= 0).any())

    def read(
        self, rows: Table, bits: Column, *, user: bool = False, at: Column | None = None
    ) -> tuple[npt.NDArray[np.uint64], Column]:
        """Register ``bits[i]`` of each sample (of those ``at``) and whether it is known.  A bit below 0 is 0, known.

        In user mode the two sets are the same moment.  ``user``: only as of the last switch from user mode.
        """
        values, known = np.zeros(len(bits), np.uint64), bits < 0

        def column(name: str) -> Column:
            return np.asarray(rows[name] if at is None else rows[name][at])

        event = column("event")
        bit = np.maximum(bits, 0)
        for which, name in ((0, "regs_intr"), (1, "regs_user")):
            if (which == 0 and user) or known.all():
                continue
            rank = self.ranks[event, which, bit].astype(np.int64)
            position = column(name)
            have = ~known & (rank >= 0) & (position >= 0)
            if which == 1 and not user:
                have &= column("mode") == Mode.USER
            here = np.flatnonzero(have)
            if not len(here):
                continue
            values[here] = self.samples.registers.at(position[here] + rank[here])
            known |= have
        return values, known

    def read_one(
        self, rows: Table, number: int | None, *, user: bool = False, at: Column | None = None
    ) -> tuple[npt.NDArray[np.uint64], Column]:
        """As ``read``, one register of all; None is known of no sample."""
        count = len(rows) if at is None else len(at)
        if number is None:
            return np.zeros(count, np.uint64), np.zeros(count, np.bool_)
        return self.read(rows, np.full(count, number, np.int8), user=user, at=at)

    def read_stack(
        self, rows: Table, address: npt.NDArray[np.uint64], at: Column
    ) -> tuple[npt.NDArray[np.uint64], Column]:
        """The word at an address of each of the samples ``at``, where the copy of its stack has it."""
        behind = np.array([event.regs_user_mask.bit_count() for event in self.samples.events] or [0], np.int64)
        copied = np.array([bool(event.fields & Field.STACK_USER) for event in self.samples.events] or [False])
        event, position = rows["event"][at], np.asarray(rows["regs_user"][at], np.int64)
        pointer, known = self.read_one(rows, self.names.stack, user=True, at=at)
        known &= copied[event] & (position >= 0) & (rows["mode"][at] == Mode.USER)
        with np.errstate(over="ignore"):
            offset = (address - pointer).astype(np.int64)
        return self.samples.registers.stack(np.where(known, position + behind[event], -1), offset)


@dataclass(frozen=True, slots=True)
class Addresses:
    """``reason`` is NONE where ``address`` is known; ``own``: it is an offset in the thread's own storage."""

    address: npt.NDArray[np.uint64]
    reason: npt.NDArray[np.uint8]
    own: npt.NDArray[np.bool_]


def addresses(
    registers: RegisterFile,
    rows: Table,
    at: Column,
    operand: Table,
    site: npt.NDArray[np.uint64],
    bias: npt.NDArray[np.uint64],
) -> Addresses:
    """The run-time address that the ``operand`` of each of the samples ``at`` had.

    ``site``: its static address, 0 unknown; ``bias``: of the file that holds the code, in the sample's process.
    """
    held = operand["holds"] == Holds.YES
    base, base_known = registers.read(rows, operand["base"], at=at)
    index, index_known = registers.read(rows, operand["index"], at=at)
    flags, segment = operand["flags"], operand["segment"]
    with np.errstate(over="ignore"):
        address = operand["displacement"].astype(np.uint64) + base + index * operand["scale"].astype(np.uint64)
        address += np.where(flags & OperandFlag.LINK != 0, bias, np.uint64(0))
        own = segment == Segment.FS
        address = np.where(own, address + np.uint64(THREAD_BASE), address)
        fine = held & base_known & index_known & (segment != Segment.GS)
        static = ~fine & (site != 0)
        address = np.where(static, site + bias, address)
    stale = (operand["holds"] == Holds.OVERWRITTEN) & registers.any
    reason = np.where(stale, int(Reason.OVERWRITTEN), int(Reason.NO_REGISTERS))
    reason = np.where(fine | static, int(Reason.NONE), reason)
    return Addresses(address, reason.astype(np.uint8), own & ~static)
