"""The distinct instructions of a profile: where each is in which file, and which of its operands is charged.

Owns the skid model's event half and the key that stands for an instruction in every process.

- Timers and counters without precision: the interrupt waits for the oldest instruction, so the one before the sampled
  one is charged if it names memory, else the sampled one, which is about to.
- Precise events (``Event.precise`` of 2 and more, PERF_RECORD_MISC_EXACT_IP): the sampled instruction.  The kernel's
  clocks take that request and cannot keep it: plain ``perf record`` asks for it on a machine without counters.
- Breakpoints on data: the processor traps after the access, so the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import picked
from sharing.model.attribution import Reason
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.model.operands import OPERAND_DTYPE, POINT_DTYPE, Holds, MappedFiles, OperandFlag, Role, Segment
from sharing.model.samples import Event, Mode, SampleFlag

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

PERF_TYPE_SOFTWARE, PERF_TYPE_BREAKPOINT = 1, 5
SOFTWARE_CLOCKS = (0, 1)  # attr.config of cpu-clock and task-clock
ADDRESS_BITS = 52  # of a key; the file's number plus 1 is above
MAX_FILES = (1 << (64 - ADDRESS_BITS)) - 2
_LOW = np.uint64((1 << ADDRESS_BITS) - 1)
_SIGN = np.uint64(1 << (ADDRESS_BITS - 1))


class Skid(IntEnum):
    """Rows of ``SampledCode.charged``."""

    TIMER = 0
    PRECISE = 1
    TRAP = 2


def skids(events: tuple[Event, ...], rows: Table) -> npt.NDArray[np.int8]:
    """The Skid of each sample."""
    table = [_skid(event) for event in events] or [Skid.TIMER]
    out = np.array(table, np.int8)[rows["event"]]
    exact = (rows["flags"] & SampleFlag.EXACT_IP != 0) & (out == Skid.TIMER)
    out[exact] = Skid.PRECISE
    return np.asarray(out)


def _skid(event: Event) -> Skid:
    if event.type == PERF_TYPE_BREAKPOINT:
        return Skid.TRAP
    return Skid.PRECISE if event.precise >= 2 and not is_software_clock(event) else Skid.TIMER


def is_software_clock(event: Event) -> bool:
    """Is it a timer of the kernel, which interrupts wherever the program is?"""
    if event.type < 0:
        return event.name.partition(":")[0] in ("cpu-clock", "task-clock")
    return event.type == PERF_TYPE_SOFTWARE and event.config in SOFTWARE_CLOCKS


def skid_is_known(events: tuple[Event, ...], rows: Table) -> npt.NDArray[np.bool_]:
    """By sample: counters without precision interrupt some instructions late, and nobody knows how many."""
    known = np.array([is_software_clock(event) for event in events] or [False], np.bool_)
    of_event = rows["event"]
    return np.asarray(known[of_event] | (skids(events, rows) != Skid.TIMER))


@dataclass(frozen=True, slots=True)
class CodeKeys:
    """Instructions as numbers.  Columns are by mapping; their last row is that of no mapping."""

    file: npt.NDArray[np.uint64]  # number plus 1 in the bits above an address, 0 none
    bias: npt.NDArray[np.uint64]
    modes: npt.NDArray[np.bool_]  # in which processor modes the files are executed

    @classmethod
    def of(cls, files: MappedFiles) -> CodeKeys:
        number = np.where(files.bias_known & (files.of_mapping < MAX_FILES), files.of_mapping, -1)
        last = 0 if files.unmapped else -1
        modes = np.zeros(256, np.bool_)
        modes[[Mode.UNKNOWN, Mode.KERNEL if files.kernel else Mode.USER]] = True
        return cls(
            (np.append(number, last) + 1).astype(np.uint64) << np.uint64(ADDRESS_BITS),
            np.append(files.bias, np.uint64(0)),
            modes,
        )

    def at(self, mapping: Column, ip: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """The instruction at each run-time address, 0 where its file is not known."""
        file = self.file[mapping]
        with np.errstate(over="ignore"):
            key = (ip - self.bias[mapping]) & _LOW | file
        key[(file == 0) | (ip == 0)] = 0  # listings of symbols have no address
        return np.asarray(key)

    def of_samples(self, rows: Table) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """(instruction, load bias of its file) of each sample."""
        mapping, mode = rows["mapping"], rows["mode"]
        key = self.at(mapping, rows["ip"])
        key[~self.modes[mode]] = 0
        return key, self.bias[mapping]


def instruction_keys(files: Column, ips: Column) -> npt.NDArray[np.uint64]:
    """The key of link-time addresses in files, by their numbers."""
    return np.asarray((files.astype(np.int64) + 1).astype(np.uint64) << np.uint64(ADDRESS_BITS) | ips & _LOW)


def split_keys(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64]]:
    """(file, link-time address) of keys that are not 0."""
    link = keys & _LOW
    return (keys >> np.uint64(ADDRESS_BITS)).astype(np.int32) - 1, np.where(link & _SIGN != 0, link | ~_LOW, link)


@dataclass(frozen=True, slots=True)
class SampledCode:
    """``points`` in the order of ``keys`` (sorted); their rows of operands and functions are those of this value.

    ``charged`` and ``reason`` have a row for each Skid.  ``site`` is the static address of an operand where the judge's
    own reading of the code knows one, 0 none.
    """

    keys: npt.NDArray[np.uint64]
    file: npt.NDArray[np.int32]
    points: Table
    operands: Table
    charged: npt.NDArray[np.int32]
    reason: npt.NDArray[np.uint8]
    functions: tuple[str, ...]
    locks: npt.NDArray[np.bool_]  # by function: takes or releases a lock
    named: npt.NDArray[np.bool_]  # by function: that is known by its name
    waits: npt.NDArray[np.bool_]  # by function: does not only release
    site: npt.NDArray[np.uint64]
    can_witness: npt.NDArray[np.bool_]  # by operand: its instruction was executed, and where it was is known
    notes: tuple[str, ...]  # files whose code could not be read

    def rows(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """Row of each key; -1 for 0."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int32)
        at = np.searchsorted(self.keys, keys).astype(np.int32)
        at[keys == 0] = -1
        return at


def read_code(keys: npt.NDArray[np.uint64], files: MappedFiles, image: Image, knowledge: Knowledge) -> SampledCode:
    """Everything about the sampled instructions ``keys`` (sorted, distinct, without 0)."""
    file, link = split_keys(keys)
    points = [np.zeros(0, POINT_DTYPE)]
    operands = [np.zeros(0, OPERAND_DTYPE)]
    functions: list[str] = []
    helpers: set[int] = set()
    notes: list[str] = []
    held = seen = 0
    for number in np.unique(file).tolist():
        low, high = np.searchsorted(file, [number, number + 1])
        # Within a file keys are in order of their low bits: of a kernel's addresses too.
        code = files.files[number].read_code(link[low:high])
        part, more = code.points.copy(), code.operands.copy()
        for name, base in (("before", held), ("at", held), ("first", held), ("function", len(functions))):
            part[name][part[name] >= 0] += base
        more["point"] += seen
        helpers |= {row + len(functions) for row in code.lock_helpers}
        points.append(part)
        operands.append(more)
        functions += code.functions
        notes += code.notes
        held += len(more)
        seen += len(part)
    table, all_operands = np.concatenate(points), np.concatenate(operands)
    effects = [[effect for _, _, effect in knowledge.lock_calls(name)] for name in functions]
    named = np.array([any(e in ("lock", "unlock") for e in one) for one in effects], np.bool_)
    waits = np.array([row in helpers or "lock" in one for row, one in enumerate(effects)], np.bool_)
    locks = named.copy()
    locks[sorted(helpers)] = True
    charged, reason = _charged(table, all_operands)
    site = _sites(all_operands, file, image) if len(all_operands) else np.zeros(0, np.uint64)
    return SampledCode(
        keys,
        file,
        table,
        all_operands,
        charged,
        reason,
        tuple(functions),
        locks,
        named,
        waits,
        site,
        _can_witness(table, all_operands, site),
        tuple(notes),
    )


def _charged(points: Table, operands: Table) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """(operand, Reason where there is none) by Skid and point."""
    before = points["before"]
    explicit = np.append(operands["flags"] & OperandFlag.IMPLICIT == 0, False)
    own = points["at"]
    at = np.where(explicit[own], own, -1)
    undecoded = points["reason"] == Reason.UNDECODED
    unsure = points["reason"] == Reason.AMBIGUOUS
    charged = np.empty((len(Skid), len(points)), np.int32)
    charged[Skid.TIMER] = np.where(unsure, -1, np.where(before >= 0, before, at))
    charged[Skid.PRECISE] = at
    charged[Skid.TRAP] = before
    reason = np.where(charged >= 0, int(Reason.NONE), int(Reason.NO_ACCESS))
    reason[:, undecoded] = Reason.UNDECODED
    for skid in (Skid.TIMER, Skid.TRAP):
        reason[skid, unsure & (charged[skid] < 0)] = Reason.AMBIGUOUS
    return charged, reason.astype(np.uint8)


def _can_witness(points: Table, operands: Table, site: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Which operands can be witnesses."""
    good = (operands["holds"] == Holds.YES) | (site != 0)
    good &= (operands["flags"] & OperandFlag.IMPLICIT == 0) & (operands["segment"] == Segment.NONE)
    good &= operands["role"] != Role.AWAITED  # in the run it is a witness as well
    unsure = points["reason"][operands["point"]] == Reason.AMBIGUOUS
    return np.asarray(good & ~(unsure & (operands["role"] == Role.BEFORE)))


def _sites(operands: Table, file: Column, image: Image) -> npt.NDArray[np.uint64]:
    """Where the target's code touches one known static address, by operand."""
    out = np.zeros(len(operands), np.uint64)
    sites = image.sites
    if not len(sites):
        return out
    sites = picked(sites, (sites["flags"] & SiteFlag.VIA_CALL == 0) & (sites["kind"] != AccessKind.ADDRESS))
    first = np.searchsorted(sites["ip"], operands["ip"])
    count = np.searchsorted(sites["ip"], operands["ip"], "right") - first
    row = np.minimum(first, max(len(sites) - 1, 0))
    if not len(sites):
        return out
    alone = (count == 1) & (file[operands["point"]] == 0) & (sites["flags"][row] & SiteFlag.INDEXED == 0)
    alone &= (sites["kind"][row] == operands["kind"]) & (operands["holds"] != Holds.NEVER)
    out[alone] = sites["target"][row[alone]]
    return out
