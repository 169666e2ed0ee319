"""Samples → places: every sample gets the bytes that it touched, or the reason why those are not known.

Owns the order of work.  The skid model is ``sampledcode``'s and ``linemate-access``', regions are ``regions``', sums
of registers ``evaluate``'s, what lies at an address ``placing``'s, samples of which only the function is known
``byfunction``'s.

1. The distinct threads and instructions of the profile.  2. Their operands, file by file.  3. Piece by piece: the
address of each sample, from the sample itself or from its registers, and what lies there.  Pieces bound what
temporary columns cost: a profile has millions of samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.attribution import PLACED_DTYPE, Attribution, Basis, Reason, Region, TouchFlag
from sharing.model.image import AccessKind, Image
from sharing.model.operands import MappedFiles, PointFlag
from sharing.model.samples import (
    DATA_SRC_HITM,
    DATA_SRC_LOAD,
    DATA_SRC_LOCKED,
    DATA_SRC_PEER,
    DATA_SRC_REMOTE,
    DATA_SRC_STORE,
    Mode,
    Samples,
)
from sharing.sampled.attribution.awaited import awaited
from sharing.sampled.attribution.byfunction import spread
from sharing.sampled.attribution.carried import carried
from sharing.sampled.attribution.evaluate import RegisterFile, addresses, names_of
from sharing.sampled.attribution.placing import Addressed, Parts, describe, locate
from sharing.sampled.attribution.processes import Processes, keys
from sharing.sampled.attribution.regions import SP_DTYPE, survey
from sharing.sampled.attribution.sampledcode import PERF_TYPE_BREAKPOINT, CodeKeys, SampledCode, Skid, read_code, skids
from sharing.sampled.attribution.stackowners import StackOwners
from sharing.sampled.attribution.witnesses import Witnesses

Table = npt.NDArray[Any]
Column = npt.NDArray[Any]

PIECE = 1 << 16  # samples at a time
STACK_SAMPLES = 1 << 14  # whose stack pointers say where stacks are
FUTEX_BYTES = 4


def attribute(samples: Samples, image: Image, files: MappedFiles, knowledge: Knowledge) -> Attribution:
    """Places the samples of a profile.  ``files`` come from ``linemate.modules``; the first is ``image``'s."""
    registers = RegisterFile.of(samples, names_of(samples, files.files))
    instructions = CodeKeys.of(files)
    thread_keys, instruction_keys = _distinct(samples, instructions, registers)
    processes = Processes.number(samples, thread_keys)
    code = read_code(instruction_keys, files, image, knowledge)
    pointers = _stack_samples(samples, processes, registers)
    memory = survey(samples, files, processes, pointers)
    parts = Parts(samples, files, processes, memory, code, registers, instructions, *_templates(code))
    out = np.zeros(len(samples.samples), PLACED_DTYPE)
    for start in range(0, len(out), PIECE):
        piece = slice(start, start + PIECE)
        _piece(parts, samples.samples[piece], out[piece])
    _by_carried_pointers(parts, out)
    _by_awaited_loads(parts, out)
    threads = processes.threads()
    functions, shares = spread(samples, image, code.functions, out)
    witnesses = Witnesses(parts, out)
    return Attribution(
        samples=samples,
        rows=out,
        spaces=memory.spaces,
        threads=threads,
        functions=functions,
        modules=tuple(one.module for one in files.files),
        witnesses=witnesses.find,
        near=witnesses.near,
        notes=(*files.notes, *code.notes, *_unnamed(registers)),
        spread=shares,
        stack_owner=StackOwners(memory, pointers, threads).thread,
    )


def _unnamed(registers: RegisterFile) -> list[str]:
    """What is missing where nobody knows which register is which."""
    if not registers.any or registers.names.complete:
        return []
    of = registers.samples.recording.architecture or "the profile's architecture, which it does not name"
    return [f"registers of {of} are not known by name: stacks and what system calls wait for are not told"]


def _in_system_calls(
    samples: Samples, instructions: CodeKeys, registers: RegisterFile, rows: Table
) -> tuple[Column, npt.NDArray[np.uint64]]:
    """(samples in the kernel whose user registers are known, the instruction that they came from)."""
    if instructions.modes[Mode.KERNEL] or not registers.any:
        return np.zeros(0, np.int64), np.zeros(0, np.uint64)
    at = np.flatnonzero((rows["mode"] == Mode.KERNEL) & (rows["regs_user"] >= 0))
    ip, known = registers.read_one(rows, registers.names.ip, user=True, at=at)
    at, ip = at[known], ip[known]
    mapping = samples.spaces.resolve(rows["pid"][at], ip, rows["time"][at])
    return at, instructions.at(mapping, ip)


def _distinct(
    samples: Samples, keys_of: CodeKeys, registers: RegisterFile
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Sorted distinct threads, and sorted distinct instructions without 0."""
    threads: list[Column] = []
    instructions: list[Column] = []
    for start in range(0, len(samples.samples), PIECE):
        rows = samples.samples[start : start + PIECE]
        threads.append(_unique(keys(rows)))
        instructions.append(_unique(keys_of.of_samples(rows)[0]))
        instructions.append(_unique(_in_system_calls(samples, keys_of, registers, rows)[1]))
    all_threads = _unique(np.concatenate([np.zeros(0, np.int64), *threads]))
    all_instructions = _unique(np.concatenate([np.zeros(0, np.uint64), *instructions]))
    return all_threads, all_instructions[all_instructions != 0]


def _unique(values: Column) -> Column:
    """The distinct values, sorted; numpy's own is slower."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _stack_samples(samples: Samples, processes: Processes, registers: RegisterFile) -> Table:
    """Some samples of every thread with their stack pointers."""
    rows = samples.samples
    if not registers.any or not len(rows):
        return np.zeros(0, SP_DTYPE)
    chosen = rows[:: max(1, len(rows) // STACK_SAMPLES)]
    pointer, known = registers.read_one(chosen, registers.names.stack)
    chosen, pointer = chosen[known], pointer[known]
    out = np.zeros(len(chosen), SP_DTYPE)
    out["time"], out["pid"], out["pointer"] = chosen["time"], chosen["pid"], pointer
    out["thread"] = processes.thread_rows(chosen)
    return out


def _by_carried_pointers(parts: Parts, out: Table) -> None:
    """Fills in again what others in the same frame tell the address of."""
    sample, address = carried(parts, out["reason"])
    if not len(sample):
        return
    again = np.zeros(len(sample), PLACED_DTYPE)
    _piece(parts, parts.samples.samples[sample], again, address)
    out[sample] = again


def _by_awaited_loads(parts: Parts, out: Table) -> None:
    """Fills in again, of samples at no access, those whose instruction waited for a load."""
    for sample, operand, address in awaited(parts, np.flatnonzero(out["reason"] == Reason.NO_ACCESS)):
        again = np.zeros(len(sample), PLACED_DTYPE)
        _piece(parts, parts.samples.samples[sample], again, address)
        describe(again, parts.code, operand)
        known = again["basis"] == Basis.DERIVED
        again["basis"][known] = Basis.AWAITED
        out[sample[known]] = again[known]


def _piece(parts: Parts, rows: Table, out: Table, told: npt.NDArray[np.uint64] | None = None) -> None:
    """Fills in some rows.  ``told`` are the addresses of all of them, where something else than registers says so."""
    samples, code = parts.samples, parts.code
    key, bias = parts.keys.of_samples(rows)
    point = code.rows(key)
    thread = parts.processes.thread_rows(rows)
    process = parts.processes.process_rows(rows, thread)
    row = skids(samples.events, rows).astype(np.int32) * (len(code.points) + 1) + point
    np.take(parts.templates, row, out=out, mode="wrap")
    operand = parts.charged[row]
    out["thread"] = thread
    outside = np.flatnonzero(point < 0)
    if len(outside):
        kernel = (rows["mode"][outside] != Mode.USER) & (rows["mode"][outside] != Mode.UNKNOWN)
        out["reason"][outside[kernel]] = Reason.KERNEL
        out["module"][outside] = _module(parts, rows["mapping"][outside])

    # 1. Samples with a data address.
    address = rows["addr"].copy()
    for number, event in enumerate(samples.events):
        if event.type == PERF_TYPE_BREAKPOINT and event.config1:
            address[(rows["event"] == number) & (address == 0)] = event.config1
    given = address != 0

    # 2. The others: what the instruction's operand was.
    reason = out["reason"].copy()
    derive = np.flatnonzero(~given & (operand >= 0))
    own = np.zeros(len(rows), np.bool_)
    if len(derive):
        chosen = operand[derive]
        found = addresses(parts.registers, rows, derive, code.operands[chosen], code.site[chosen], bias[derive])
        address[derive], own[derive] = found.address, found.own
        reason[derive] = found.reason
    if told is not None:
        address, reason = told, np.full_like(reason, Reason.NONE)
    placed = given | (reason == Reason.NONE)

    # 3. What lies there.
    at = np.flatnonzero(placed)
    locate(parts, rows, Addressed(thread, process, address, at, own[at]), out)
    # A user's instruction cannot have touched the kernel: such an address was computed from something else.
    beyond = ~given[at] & (out["region"][at] == Region.KERNEL) & (rows["mode"][at] == Mode.USER)
    unmapped = at[(out["space"][at] < 0) | beyond]
    out["basis"][at] = np.where(given[at], int(Basis.ADDRESS), int(Basis.DERIVED))
    lost = unmapped[~given[unmapped]]
    out["basis"][lost], reason[lost] = Basis.NONE, Reason.UNMAPPED
    out["place"][lost], out["space"][lost], out["region"][lost] = 0, -1, Region.UNKNOWN
    kept = unmapped[given[unmapped]]  # the processor says so, though no mapping does
    out["place"][kept], out["space"][kept] = address[kept], process[kept]
    reason[given] = Reason.NONE
    out["reason"] = reason
    _from_data_source(rows, given, out)
    _breakpoints(samples, rows, out)
    _waits(parts, rows, thread, process, out)
    unknown = np.flatnonzero((out["basis"] == Basis.NONE) & (operand >= 0))
    for name in ("kind", "size", "flags"):
        out[name][unknown] = 0


def _module(parts: Parts, mapping: Column) -> Column:
    """The file of code that could not be read."""
    if not len(parts.files.of_mapping):
        return np.full(len(mapping), -1, np.int32)
    return np.where(mapping >= 0, parts.files.of_mapping[mapping], -1)


def _templates(code: SampledCode) -> tuple[Table, npt.NDArray[np.int32]]:
    """What is the same for all samples of one instruction: (PLACED_DTYPE row, charged operand) by Skid and point.

    After the points of each Skid comes a row for samples outside of known code.
    """
    count = len(code.points)
    out = np.zeros((len(Skid), count + 1), PLACED_DTYPE)
    charged = np.full((len(Skid), count + 1), -1, np.int32)
    charged[:, :count] = code.charged
    out["space"] = out["data_module"] = out["module"] = out["function"] = -1
    out["reason"] = Reason.NO_CODE
    for skid in Skid:
        rows = out[skid, :count]
        rows["reason"], rows["module"] = code.reason[skid], code.file
        rows["function"], rows["ip"] = code.points["function"], code.points["ip"]
        describe(rows, code, code.charged[skid])
    return out.reshape(-1), charged.reshape(-1)


def _from_data_source(rows: Table, given: Column, out: Table) -> None:
    """What the processor itself says of an access, where the event has it."""
    source = rows["data_src"]
    at = np.flatnonzero(given & (source != 0))
    if not len(at):
        return
    source = source[at]

    def has(bits: int) -> Column:
        return np.asarray(source & np.uint64(bits) == np.uint64(bits))

    load, store, locked = has(DATA_SRC_LOAD), has(DATA_SRC_STORE), has(DATA_SRC_LOCKED)
    kind = np.where(load & store, int(AccessKind.RMW), np.where(store, int(AccessKind.STORE), int(AccessKind.LOAD)))
    # A locked access reads and writes; so does a load that its instruction writes back.
    told = load | store
    kind = np.where(locked & told, int(AccessKind.RMW), kind)
    kind = np.where(load & (out["kind"][at] == AccessKind.RMW), int(AccessKind.RMW), kind)
    out["kind"][at] = np.where(told, kind, out["kind"][at])
    flags = np.where(has(DATA_SRC_HITM), int(TouchFlag.HITM), 0) | np.where(locked & told, int(TouchFlag.ATOMIC), 0)
    flags |= np.where(has(DATA_SRC_REMOTE) & told, int(TouchFlag.REMOTE), 0)
    flags |= np.where(has(DATA_SRC_PEER), int(TouchFlag.PEER), 0)
    out["flags"][at] |= flags.astype(np.uint8)


def _breakpoints(samples: Samples, rows: Table, out: Table) -> None:
    """A breakpoint says how many bytes it watches, and that they were written if it is for writes."""
    for number, event in enumerate(samples.events):
        if event.type != PERF_TYPE_BREAKPOINT:
            continue
        here = np.flatnonzero((rows["event"] == number) & (out["basis"] == Basis.ADDRESS))
        bare = here[out["kind"][here] == AccessKind.UNKNOWN]
        if event.breakpoint_type == 2:
            out["kind"][bare] = AccessKind.STORE
        out["size"][bare] = min(event.config2, 8)


def _waits(parts: Parts, rows: Table, thread: Column, process: Column, out: Table) -> None:
    """Samples in the kernel on behalf of a function that locks: the futex is the first argument of the call."""
    at, key = _in_system_calls(parts.samples, parts.keys, parts.registers, rows)
    point = parts.code.rows(key)
    code = parts.code
    use = (point >= 0) & (out["basis"][at] == Basis.NONE)
    at, point = at[use], point[use]
    if not len(at):
        return
    function = code.points["function"][point]
    flags = code.points["flags"][point]
    use = (flags & PointFlag.FUTEX_CALL != 0) & np.append(code.locks, False)[function]
    at, point, function, flags = at[use], point[use], function[use], flags[use]
    address, known = parts.registers.read_one(rows, parts.registers.names.waited, user=True, at=at)
    use = known & (address & np.uint64(FUTEX_BYTES - 1) == 0) & (address != 0)
    at, point, function, flags, address = at[use], point[use], function[use], flags[use], address[use]
    if not len(at):
        return
    found = parts.memory.locate(rows[at], process[at], address, lambda rest: np.zeros(len(rest), np.uint64))
    # What a helper without a name waits for on a stack is a thread's end, not a lock.
    like = (found["known"] == 1) & (found["writable"] == 1) & (found["region"] != Region.KERNEL)
    like &= np.append(code.named, False)[function] | (found["region"] != Region.STACK)
    at, point, function, flags, found = at[like], point[like], function[like], flags[like], found[like]
    for name in ("place", "link", "space", "data_module", "region"):
        out[name][at] = found[name]
    out["function"][at], out["module"][at] = function, code.file[point]
    out["ip"][at] = code.points["ip"][point]
    # Waiting reads the word; waking only names it.
    wakes = flags & PointFlag.WAKES != 0
    out["size"][at] = FUTEX_BYTES
    out["kind"][at] = np.where(wakes, int(AccessKind.UNKNOWN), int(AccessKind.LOAD))
    out["basis"][at], out["reason"][at] = Basis.DERIVED, Reason.NONE
    waits = ~wakes & code.waits[function]
    out["flags"][at] = np.where(waits, int(TouchFlag.LOCK_CALL | TouchFlag.WAITS), int(TouchFlag.LOCK_CALL))
