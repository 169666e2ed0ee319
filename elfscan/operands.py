"""Memory operands at and around sampled instructions, in terms of the registers that the samples have.

Owns the skid model's code half: which instruction came just before the sampled one, in time and not only in memory, and
through which registers, as they are at the sample, its operand can still be computed.  Does not read ELF (the caller
gives bytes and extents) and knows no sample.

What came before.  An interrupt is taken when the oldest instruction has retired, so the time since the last one was
spent on the instruction before the sampled one.  Within straight code that is the one before it in memory.  At the
target of backward branches it is the branch: loops run round more often than in.  A compare with memory and the branch
behind it retire as one.  Where several ways lead here and their last instructions touch different memory, nothing is
said (Reason.AMBIGUOUS).  After a call it is the return of the callee, at a function's start the call: neither counts.

What registers hold.  Along the straight run around a sampled instruction every register is a value number plus a
constant.  An operand can be computed when some register holds its value number at the sample, so that copies, constant
steps, push and pop between the two cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan import arm64text, x86text
from elfscan.effects import NONE, Effect, Flow, Memory
from elfscan.spins import spins, uses_result
from sharing.model.attribution import Reason
from sharing.model.image import AccessKind
from sharing.model.operands import (
    OPERAND_DTYPE,
    POINT_DTYPE,
    Holds,
    OperandFlag,
    PointFlag,
    Role,
)

Table = npt.NDArray[Any]

BEFORE_LIMIT, AFTER_LIMIT = 24, 16  # instructions of a run that are looked at
MAX_FUNCTION_BYTES = 1 << 20  # the largest functions of servers have 200 kB
MAX_TOTAL_BYTES = 1 << 25  # of functions that hold samples, in one file
FUTEX_NUMBERS = {"eax": "0xca", "x8": "0x62"}  # __NR_futex by where it stands
FUTEX_WAKES = (1, 3, 4, 5, 7, 10)  # FUTEX_WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, UNLOCK_PI, WAKE_BITSET

# As plain numbers: operations of enumerations would be a tenth of the time.
_ATOMIC, _LINK_FLAG, _IMPLICIT = int(OperandFlag.ATOMIC), int(OperandFlag.LINK), int(OperandFlag.IMPLICIT)
_SPINS, _USES = int(OperandFlag.SPINS), int(OperandFlag.USES)
_UPDATE = int(AccessKind.RMW)

_LINK, _NUMBER = -1, -2  # value numbers of constants: an address of the file, and any other


@dataclass(frozen=True, slots=True)
class Dialect:
    """What an architecture's text means."""

    flow: Callable[[str, str], tuple[Flow, int | None]]
    effect: Callable[[str, str, int, int], Effect]
    register: Callable[[str], int]  # number by name, negative for other words


@dataclass(frozen=True, slots=True)
class Futex:
    """Registers of a system call: its number, and the operation as its second argument."""

    number: str
    operation: tuple[str, ...]


FUTEX = {"x86-64": Futex("eax", ("esi", "rsi", "sil")), "aarch64": Futex("x8", ("x1", "w1"))}

DIALECTS = {
    "x86-64": Dialect(x86text.flow, x86text.effect, lambda name: x86text.REGISTERS.get(name, (NONE, 0))[0]),
    "aarch64": Dialect(arm64text.flow, arm64text.effect, lambda name: arm64text.register_of(name)[0]),
}


def _decoder(architecture: str) -> Any:
    import capstone

    if architecture == "x86-64":
        return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    return capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)


@dataclass(slots=True)
class DecodedFunction:
    """One decoded function: instructions in memory order, and who jumps where."""

    dialect: Dialect
    instructions: list[tuple[int, int, str, str]]  # address, length, mnemonic, operands
    row_of: dict[int, int]
    flows: list[Flow]
    sources: dict[int, list[int]]  # by row of a target
    effects: dict[int, Effect] = field(default_factory=dict)
    waiting: dict[int, bool] = field(default_factory=dict)
    loops: dict[int, frozenset[int]] = field(default_factory=dict)  # of ``spins``
    _looped: list[int] | None = None  # by row, jumps back that lead over it

    @classmethod
    def decode(cls, decoder: Any, dialect: Dialect, code: bytes, start: int) -> DecodedFunction:
        instructions = list(decoder.disasm_lite(code, start))
        row_of = {one[0]: row for row, one in enumerate(instructions)}
        flows: list[Flow] = []
        sources: dict[int, list[int]] = {}
        kinds: dict[str, Flow] = {}
        for row, (_, _, mnemonic, operands) in enumerate(instructions):
            kind = kinds.get(mnemonic)
            if kind is None:
                kind = kinds[mnemonic] = dialect.flow(mnemonic, operands)[0]
            flows.append(kind)
            if kind is Flow.BRANCH or kind is Flow.JUMP:
                target = row_of.get(dialect.flow(mnemonic, operands)[1] or -1)
                if target is not None:
                    sources.setdefault(target, []).append(row)
        return cls(dialect, instructions, row_of, flows, sources)

    def effect(self, row: int) -> Effect:
        found = self.effects.get(row)
        if found is None:
            address, length, mnemonic, operands = self.instructions[row]
            found = self.effects[row] = self.dialect.effect(mnemonic, operands, address, length)
        return found

    def waits(self, row: int) -> bool:
        """Whether it only waits for the value that it reads."""
        found = self.waiting.get(row)
        if found is None:
            found = self.waiting[row] = spins(self, row, self.dialect.register)
        return found

    def may_repeat(self, row: int) -> bool:
        """Whether a jump back leads over an instruction, as one does in every loop that it is part of."""
        if self._looped is None:
            over = [0] * (len(self.instructions) + 1)
            for to, rows in self.sources.items():
                if (last := max(rows)) >= to:
                    over[to] += 1
                    over[last + 1] -= 1
            self._looped = list(accumulate(over))
        return bool(self._looped[row])

    def falls_into(self, row: int) -> bool:
        """Whether control can come from the instruction before in memory."""
        if row == 0:
            return False
        address, length, _, _ = self.instructions[row - 1]
        flow = self.flows[row - 1]
        return address + length == self.instructions[row][0] and flow not in (Flow.JUMP, Flow.RETURN, Flow.STOP)

    def only_way(self, row: int) -> int:
        """The one instruction that control can come from, -1 where there are several, none, or a call."""
        sources = self.sources.get(row, ())
        if self.falls_into(row):
            return row - 1 if not sources else -1
        return sources[0] if len(sources) == 1 else -1

    def last_touch(self, row: int) -> int:
        """The instruction with memory operands that retires when ``row`` does, -1 none."""
        if self.flows[row] is Flow.CALL:
            return -1
        if self.flows[row] is Flow.BRANCH and self.only_way(row) == row - 1 and self.effect(row - 1).fuses:
            return row - 1
        return row if any(not memory.implicit for memory in self.effect(row).memory) else -1

    def came_before(self, row: int) -> tuple[int, bool]:
        """(the one instruction that touched memory just before ``row``, -1 none; whether it came before at all).

        Where that is not certain, a breakpoint that was hit still says that it did.
        """
        sources = self.sources.get(row, [])
        ways = [source for source in sources if source >= row] or list(sources)
        if self.falls_into(row) and not (ways and ways[0] >= row):
            ways.append(row - 1)
        found = {self.last_touch(way) for way in ways}
        if len(found) <= 1:
            return (found.pop() if found else -1), True
        alike = len({self.effect(one).memory for one in found - {-1}}) == 1
        return (max(found) if alike else -1), alike and -1 not in found

    def run(self, row: int) -> list[int]:
        """Instructions that were executed if ``row`` was: those before it, itself, and those behind up to a branch."""
        before: list[int] = []
        at = row
        while len(before) < BEFORE_LIMIT:
            at = self.only_way(at)
            if at < 0 or at == row:
                break
            before.append(at)
        after: list[int] = []
        at = row
        while len(after) < AFTER_LIMIT and self.flows[at] is Flow.NEXT and at + 1 < len(self.instructions):
            if self.sources.get(at + 1) or not self.falls_into(at + 1):
                break
            at += 1
            after.append(at)
        return [*reversed(before), row, *after]


@dataclass(slots=True)
class _Values:
    """Value numbers of registers along a run: ``of[r]`` is (number, constant) of register r."""

    of: dict[int, tuple[int, int]] = field(default_factory=dict)
    next_number: int = 0

    def get(self, register: int) -> tuple[int, int]:
        found = self.of.get(register)
        if found is None:
            found = self.of[register] = (self.next_number, 0)
            self.next_number += 1
        return found

    def step(self, effect: Effect) -> None:
        if not effect.writes:
            return
        known = []
        for register, source, constant, link in effect.values:
            number, offset = (_LINK if link else _NUMBER, 0) if source == NONE else self.get(source)
            known.append((register, (number, offset + constant)))
        for register in effect.writes:
            self.of[register] = (self.next_number, 0)
            self.next_number += 1
        for register, value in known:
            self.of[register] = value


@dataclass(frozen=True, slots=True)
class _Place:
    """An operand in value numbers."""

    row: int
    memory: Memory
    base: tuple[int, int] | None
    index: tuple[int, int] | None


@dataclass(slots=True)
class _Writer:
    """Rows of the two tables as they are found."""

    registers: int  # how many general registers the architecture has, by perf's numbers
    futex: Futex
    points: list[tuple[Any, ...]] = field(default_factory=list)
    operands: list[tuple[Any, ...]] = field(default_factory=list)

    def point(self, function: DecodedFunction, row: int, name_row: int) -> None:
        """The sampled instruction ``row``: its operands and those around it."""
        before, certain = function.came_before(row)
        run = function.run(row)
        here = run.index(row)
        first, rows = len(self.operands), {Role.BEFORE: -1, Role.AT: -1, Role.WITNESS: -1}
        around = before >= 0 and before not in run[:here]
        if around:
            # The branch of a loop leads here: only that branch is between the access and the sample.
            rows[Role.BEFORE] = first
            writes = function.effect(before).writes
            for memory in function.effect(before).memory[:1]:
                stale = Holds.OVERWRITTEN if {memory.base, memory.index} & writes else Holds.YES
                self._operand(
                    function, before, memory, (memory.base, memory.index), memory.displacement, stale, Role.BEFORE
                )
        for place, held in _places(function, run, here, self.registers):
            if around and place.row == before:
                continue
            role = Role.AT if place.row == row else Role.BEFORE if place.row == before else Role.WITNESS
            if role is not Role.WITNESS and rows[role] >= 0:
                role = Role.WITNESS  # of two operands the first is charged
            rows[role] = len(self.operands)
            self._place(function, place, held, role)
        flags = PointFlag.DECODED | _futex(function, run, here, self.futex)
        reason = Reason.NONE if certain else Reason.AMBIGUOUS
        self.points.append(
            (
                function.instructions[row][0],
                name_row,
                rows[Role.BEFORE],
                rows[Role.AT],
                first,
                len(self.operands) - first,
                int(reason),
                int(flags),
                0,
            )
        )

    def nothing(self, ip: int, name_row: int) -> None:
        """A sampled address at which no instruction begins."""
        self.points.append((ip, name_row, -1, -1, len(self.operands), 0, int(Reason.UNDECODED), 0, 0))

    def _place(self, function: DecodedFunction, place: _Place, held: dict[int, tuple[int, int]], role: Role) -> None:
        memory = place.memory
        displacement, link, holds = memory.displacement, memory.link, Holds.YES
        registers = [NONE, NONE]
        for which, value, register, scale in (
            (0, place.base, memory.base, 1),
            (1, place.index, memory.index, memory.scale),
        ):
            if value is None:
                holds = holds if register == NONE else Holds.NEVER
                continue
            number, offset = value
            if number == _LINK:
                link = True
                holds = Holds.NEVER if scale != 1 or memory.link else holds
            elif number in held:
                registers[which], now = held[number]
                offset -= now
            elif number != _NUMBER:
                holds = max(holds, Holds.OVERWRITTEN)
            displacement += offset * scale
        self._operand(function, place.row, memory, tuple(registers), displacement, holds, role, link=link)

    def _operand(
        self,
        function: DecodedFunction,
        row: int,
        memory: Memory,
        registers: tuple[int, ...],
        displacement: int,
        holds: Holds,
        role: Role,
        *,
        link: bool | None = None,
    ) -> None:
        flags = _ATOMIC * memory.atomic | _LINK_FLAG * (memory.link if link is None else link)
        flags |= _IMPLICIT * memory.implicit
        flags |= _SPINS * function.waits(row)
        flags |= _USES * (memory.kind == _UPDATE and uses_result(function, row))
        displacement &= (1 << 64) - 1
        self.operands.append(
            (
                function.instructions[row][0],
                displacement - (displacement >> 63 << 64),
                max(registers[0], NONE),
                max(registers[1], NONE),
                memory.scale,
                memory.segment,
                memory.size,
                memory.kind,
                flags,
                role,
                Holds.NEVER if memory.base < NONE or memory.index < NONE else holds,
                0,
                len(self.points),
            )
        )


def _places(
    function: DecodedFunction, run: list[int], here: int, registers: int
) -> Iterator[tuple[_Place, dict[int, tuple[int, int]]]]:
    """The operands along a run, and for each value number the register that holds it at the sample, and how far off."""
    values = _Values()
    found: list[_Place] = []
    held: dict[int, tuple[int, int]] = {}
    for at, row in enumerate(run):
        effect = function.effect(row)
        if at == here:
            for register in range(registers):
                values.get(register)
            held = {number: (register, offset) for register, (number, offset) in values.of.items() if number >= 0}
        for memory in effect.memory:
            if not memory.implicit or at == here:
                base = values.get(memory.base) if memory.base >= 0 else None
                index = values.get(memory.index) if memory.index >= 0 else None
                found.append(_Place(row, memory, base, index))
        values.step(effect)
    for place in found:
        yield place, held


def _futex(function: DecodedFunction, run: list[int], here: int, futex: Futex) -> PointFlag:
    """Whether the instruction before is a futex system call (its number is set in the same run), and whether it wakes.

    A wrapper builds the operation from its argument, as in ``xor $0x81, %sil``: the constant is the operation with the
    private flag flipped.
    """
    flags = PointFlag(0)
    if not here or function.flows[run[here - 1]] is not Flow.SYSCALL:
        return flags
    number = operation = None
    for row in reversed(run[: here - 1]):
        _, _, mnemonic, operands = function.instructions[row]
        if function.flows[row] in (Flow.CALL, Flow.SYSCALL):
            break
        register, _, value = operands.partition(", ")
        constant = value.lstrip("#")
        if number is None and register == futex.number:
            number = constant if mnemonic.startswith("mov") else ""
        if operation is None and register in futex.operation and constant[:1].isdigit():
            operation = int(constant, 0) & 0x7F
    if number == FUTEX_NUMBERS[futex.number]:
        flags |= PointFlag.FUTEX_CALL
        flags |= PointFlag.WAKES if operation in FUTEX_WAKES else 0
    return flags


def read_operands(
    architecture: str, ips: Table, starts: Table, ends: Table, code: Callable[[int, int], bytes]
) -> tuple[Table, Table]:
    """(POINT_DTYPE in the order of ``ips``, OPERAND_DTYPE).

    ``ips``: sorted distinct link-time addresses.  ``starts`` and ``ends``: disjoint extents of functions, sorted; their
    rows are the points' ``function``.  ``code`` gives the bytes between two addresses, fewer where the file has none.
    """
    row = np.searchsorted(starts, ips, "right") - 1
    inside = (row >= 0) & (ips < ends[np.maximum(row, 0)]) if len(starts) else np.zeros(len(ips), bool)
    row = np.where(inside, row, -1)
    writer = _Writer(24 if architecture == "x86-64" else 32, FUTEX.get(architecture, FUTEX["x86-64"]))
    dialect = DIALECTS.get(architecture)
    decoder = _decoder(architecture) if dialect is not None else None
    budget = MAX_TOTAL_BYTES
    now, function = -1, None
    for ip, name_row in zip(ips.tolist(), row.tolist(), strict=True):
        if name_row != now:
            now, function = name_row, None
            start = int(starts[now]) if now >= 0 else 0
            size = int(ends[now]) - start if now >= 0 else 0
            if dialect is not None and 0 < size <= min(MAX_FUNCTION_BYTES, budget):
                budget -= size
                function = DecodedFunction.decode(decoder, dialect, code(start, start + size), start)
        at = function.row_of.get(ip) if function is not None else None
        if function is None or at is None:
            writer.nothing(ip, name_row)
        else:
            writer.point(function, at, name_row)
    return np.array(writer.points, POINT_DTYPE), np.array(writer.operands, OPERAND_DTYPE)


def direct_targets(architecture: str, extents: list[tuple[int, int]], code: Callable[[int, int], bytes]) -> set[int]:
    """Where the functions at ``extents`` call or jump to by name, outside of themselves."""
    dialect = DIALECTS.get(architecture)
    if dialect is None:
        return set()
    decoder = _decoder(architecture)
    out: set[int] = set()
    for start, end in extents:
        for _, _, mnemonic, operands in decoder.disasm_lite(code(start, end), start):
            if dialect.flow(mnemonic, operands)[0] in (Flow.CALL, Flow.JUMP, Flow.BRANCH):
                text = operands.rpartition("#")[2]
                target = int(text, 16) if text.startswith("0x") else start
                if not start <= target < end:
                    out.add(target)
    return out
