"""Images made by hand: functions with what they do, variables, sections and types, in a few readable lines.

Owns the addresses (functions every 0x100 from 0x1000, variables a line each from the start of .bss unless placed)
and the encoding into tables.  Names stand for addresses; a name that nothing defines is an import.

    b = Builder()
    b.function("main").call("pthread_create", None, None, "worker")
    b.function("worker").rmw("hits", loop=1)
    b.variable("hits", 8)
    image = b.image()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sharing.model import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    KEPT_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    VARIABLE_DTYPE,
    AccessKind,
    Architecture,
    ArgKind,
    Image,
    ImageKind,
    Section,
    SectionKind,
    SiteFlag,
    TypeKind,
    TypeMember,
    TypeRecord,
    TypeTable,
)
from sharing.model.image import SlotKind, Table, Unit

X86_64 = Architecture("x86-64", 64, "little", 64, 128, True)
AARCH64 = Architecture("aarch64", 64, "little", 64, 128, True)
STATEMENT_BYTES = 4
KNOWN_CALLEE = SlotKind.UNKNOWN, STATEMENT_BYTES
CODE, IMPORTS, DATA, BSS, SECTION_BYTES = 0x1000, 0x10000, 0x20000, 0x30000, 0x8000


@dataclass(frozen=True)
class Param:
    """The function's own argument ``number`` plus ``offset`` bytes, passed on."""

    number: int
    offset: int = 0


@dataclass(frozen=True)
class Element:
    """The address of an element, at a computed index, of the array at ``target``."""

    target: str
    stride: int


@dataclass(frozen=True)
class Address:
    """An address that no name stands for: a stripped image."""

    value: int


Target = str | int
Argument = str | int | Param | Element | Address | None


@dataclass
class Body:
    """What one function does, in order of address; each statement is one instruction of four bytes."""

    name: str
    address: int
    flags: int
    calls: list[tuple[int, str | None, tuple[Argument, ...], int, int, int, tuple[int, int]]] = field(
        default_factory=list
    )
    sites: list[tuple[int, Target, AccessKind, int, int, int, int, int, int]] = field(default_factory=list)
    params: list[tuple[int, int, int, AccessKind, int, int, int, int]] = field(default_factory=list)
    kept: list[tuple[int, str | Param, SlotKind, int]] = field(default_factory=list)
    statements: int = 0

    @property
    def size(self) -> int:
        return STATEMENT_BYTES * max(self.statements, 1)

    def _ip(self) -> int:
        self.statements += 1
        return self.address + STATEMENT_BYTES * (self.statements - 1)

    def call(
        self,
        callee: str | None,
        *args: Argument,
        loop: int = 0,
        rarity: int = 0,
        order: int = 0,
        slot: tuple[SlotKind, int] = (SlotKind.UNKNOWN, 0),
    ) -> Body:
        """Call by name (None: through a pointer from ``slot``) with what is known of its arguments."""
        self.calls.append((self._ip(), callee, args, loop, rarity, order, slot))
        return self

    def keep(self, what: str | Param, slot: SlotKind, where: int) -> Body:
        """Store a function's address, or an own argument, where calls may take it from."""
        self.kept.append((self._ip(), what, slot, where))
        return self

    def access(
        self,
        kind: AccessKind,
        target: Target,
        size: int = 8,
        *,
        loop: int = 0,
        rarity: int = 0,
        order: int = 0,
        stride: int = 0,
        flags: int = 0,
    ) -> Body:
        """Touch ``size`` bytes at a name, a name plus an offset (``"table+0x10"``) or an address."""
        if stride:
            flags |= SiteFlag.INDEXED
        self.sites.append((self._ip(), target, kind, size, loop, rarity, order, stride, flags))
        return self

    def load(self, target: Target, size: int = 8, *, loop: int = 0, rarity: int = 0, order: int = 0) -> Body:
        return self.access(AccessKind.LOAD, target, size, loop=loop, rarity=rarity, order=order)

    def store(self, target: Target, size: int = 8, *, loop: int = 0, rarity: int = 0, order: int = 0) -> Body:
        return self.access(AccessKind.STORE, target, size, loop=loop, rarity=rarity, order=order)

    def rmw(self, target: Target, size: int = 8, *, loop: int = 0, flags: int = 0) -> Body:
        return self.access(AccessKind.RMW, target, size, loop=loop, flags=flags)

    def through(
        self, arg: int, offset: int, kind: AccessKind, size: int = 8, *, loop: int = 0, stride: int = 0, rarity: int = 0
    ) -> Body:
        """Touch [argument + offset]."""
        self.params.append((self._ip(), arg, offset, kind, size, loop, stride, rarity))
        return self

    def kept_rows(self, row: int, address: Callable[[Target], int]) -> list[tuple[int, ...]]:
        """KEPT_DTYPE rows of this function, which is so many."""
        return [
            (ip, 0, row, where, slot, what.number, 0)
            if isinstance(what, Param)
            else (ip, address(what), row, where, slot, 0, 0)
            for ip, what, slot, where in self.kept
        ]


class Builder:
    """Collects an image; ``image()`` lays it out."""

    def __init__(
        self,
        kind: ImageKind = ImageKind.EXECUTABLE,
        arch: Architecture = X86_64,
        needed: tuple[str, ...] = (),
        path: str = "program",
    ) -> None:
        self.kind, self.arch, self.needed, self.path = kind, arch, needed, path
        self.functions: dict[str, Body] = {}
        self.variables: dict[str, dict[str, int]] = {}
        self.aliases: dict[str, str] = {}
        self.types: list[TypeRecord] = []
        self.units: list[Unit] = []
        self.files: list[str] = []
        self.entry_points: tuple[str, ...] = ()
        self.arms: dict[str, tuple[int, ...]] = {}  # by function orders of blocks, each an arm of one branch
        self.loops: dict[str, tuple[int, ...]] = {}  # of these, where an outermost loop begins
        self.sections = [
            Section(1, ".text", SectionKind.CODE, CODE, SECTION_BYTES, 16, 0),
            Section(2, ".data", SectionKind.WRITABLE, DATA, SECTION_BYTES, 64, 0),
            Section(3, ".bss", SectionKind.WRITABLE, BSS, SECTION_BYTES, 64, None),
        ]
        self._next = BSS

    def function(self, name: str, flags: int = 0) -> Body:
        body = Body(name, CODE + 0x100 * len(self.functions), flags)
        self.functions[name] = body
        return body

    def section(self, name: str, kind: SectionKind, address: int, size: int) -> None:
        self.sections.append(Section(len(self.sections) + 1, name, kind, address, size, 8, None))

    def variable(
        self,
        name: str,
        size: int,
        at: int | None = None,
        *,
        type: int = -1,
        unit: int = -1,
        line: int = 0,
        flags: int = 0,
        alias: str = "",
    ) -> int:
        """Place a variable at an address, or on the next free line of .bss; returns its address.

        ``"hits#2"`` is another variable called ``hits``: statics of two units.  ``alias`` is another name of it.
        """
        address = self._next if at is None else at
        if at is None:
            self._next += -(-max(size, 1) // 64) * 64
        self.variables[name] = {
            "address": address,
            "size": size,
            "type": type,
            "unit": unit,
            "file": 0 if line else -1,
            "line": line,
            "flags": flags,
        }
        if alias:
            self.aliases[name] = alias
        return address

    # Types: each returns its row.

    def _type(
        self,
        kind: TypeKind,
        name: str,
        size: int = -1,
        target: int = -1,
        count: int = -1,
        members: Sequence[TypeMember] = (),
        align: int = 0,
    ) -> int:
        self.types.append(TypeRecord(kind, name, size, align, target, count, tuple(members), -1, 0))
        return len(self.types) - 1

    def base(self, name: str, size: int) -> int:
        return self._type(TypeKind.BASE, name, size)

    def pointer(self, target: int) -> int:
        return self._type(TypeKind.POINTER, "", 8, target)

    def typedef(self, name: str, target: int) -> int:
        return self._type(TypeKind.TYPEDEF, name, -1, target)

    def volatile(self, target: int) -> int:
        return self._type(TypeKind.VOLATILE, "", -1, target)

    def array(self, target: int, count: int) -> int:
        return self._type(TypeKind.ARRAY, "", -1, target, count)

    def struct(
        self, name: str, size: int, *members: tuple[str, int, int], kind: TypeKind = TypeKind.STRUCT, align: int = 0
    ) -> int:
        """``members`` are (name, byte offset, type row)."""
        return self._type(
            kind,
            name,
            size,
            members=[TypeMember(m, offset * 8, row, 0, False) for m, offset, row in members],
            align=align,
        )

    def unit(self, language: str, name: str = "program.c") -> int:
        self.units.append(Unit(name, "/src", "", language))
        return len(self.units) - 1

    def _variable_table(self) -> Table:
        variables = np.zeros(len(self.variables), VARIABLE_DTYPE)
        variables["scope"] = -1
        for i, fields in enumerate(self.variables.values()):
            for key, number in fields.items():
                variables[key][i] = number
            variables["name"][i] = len(self.functions) + i
            inside = [s.index for s in self.sections if s.address <= fields["address"] < s.end]
            variables["section"][i] = inside[0] if inside else -1
        return np.sort(variables, order=["address", "size"])

    def _block_table(self) -> Table:
        rows = list(self.functions)
        blocks = [
            (rows.index(name), order, mirror, 0, order in self.loops.get(name, ()), 0, 0)
            for name, arms in self.arms.items()
            for order, mirror in zip(arms, reversed(arms), strict=True)
        ]
        return np.array(sorted(blocks), BLOCK_DTYPE)

    def image(self) -> Image:
        names = [*self.functions, *(key.partition("#")[0] for key in self.variables)]
        variables = self._variable_table()
        keys, imports = list(self.variables), dict[str, int]()
        row_of = {keys[n - len(self.functions)]: row for row, n in enumerate(variables["name"].tolist())}

        def address(target: Target) -> int:
            if isinstance(target, int):
                return target
            name, _, offset = target.partition("+")
            if name in self.functions:
                start = self.functions[name].address
            elif name in self.variables:
                start = self.variables[name]["address"]
            else:
                start = imports.setdefault(name, IMPORTS + 0x10 * len(imports))
            return start + (int(offset, 0) if offset else 0)

        sites, calls, args, params, kept, indexed = [], [], [], [], [], SiteFlag.INDEXED
        for row, body in enumerate(self.functions.values()):
            for ip, callee, given, loop, rarity, order, slot in body.calls:
                called = address(callee) if callee is not None else 0
                place, where = KNOWN_CALLEE if called else slot
                calls.append((ip, called, row, loop, 0, rarity, order, place, 0, where))
                for number, value in enumerate(given):
                    if value is not None:
                        what, kind, more = _known(value, address)
                        args.append((ip, called, what, row, number, kind, more, loop))
            for ip, target, kind, size, loop, rarity, order, stride, flags in body.sites:
                sites.append((ip, address(target), row, size, stride, order, kind, flags, loop, rarity))
            for ip, arg, offset, kind, size, loop, stride, rarity in body.params:
                flags = indexed * bool(stride)
                params.append((ip, offset, row, size, stride, 0, arg, kind, flags, loop, rarity, (0,) * 7))
            kept += body.kept_rows(row, address)
        functions = [(body.address, body.size, i, 1, body.flags, 0) for i, body in enumerate(self.functions.values())]
        return Image(
            path=self.path,
            member=None,
            arch=self.arch,
            kind=self.kind,
            build_id=None,
            synthetic=False,
            sections=tuple(self.sections),
            names=names,
            variables=variables,
            functions=np.array(functions, FUNCTION_DTYPE),
            sites=np.array(sites, SITE_DTYPE),
            calls=np.array(calls, CALL_DTYPE),
            args=np.array(args, ARG_DTYPE),
            params=np.array(params, PARAM_DTYPE),
            kept=np.array(kept, KEPT_DTYPE),
            blocks=self._block_table(),
            types=TypeTable(self.types),
            units=tuple(self.units),
            files=tuple(self.files) or ("program.c",),
            aliases={row_of[name]: (alias,) for name, alias in self.aliases.items()},
            callee_names={at: name for name, at in imports.items()},
            entry_points=tuple(address(e) for e in self.entry_points),
            needed=self.needed,
            imports=frozenset(imports),
        )


def _known(value: str | int | Param | Element | Address, address: Callable[[Target], int]) -> tuple[int, ArgKind, int]:
    """What a call is known to pass: value, kind, and the parameter's number or the stride."""
    match value:
        case Param():
            return value.offset, ArgKind.PARAM, value.number
        case Element():
            return address(value.target), ArgKind.ADDRESS, value.stride
        case Address():
            return value.value, ArgKind.ADDRESS, 0
        case str():
            return address(value), ArgKind.ADDRESS, 0
        case int():
            return value, ArgKind.CONSTANT, 0


def threads(b: Builder, *entries: str) -> Body:
    """``main`` that starts one thread at each entry and waits; the usual opening of an example."""
    main = b.function("main")
    for entry in entries:
        main.call("pthread_create", None, None, entry)
    return main
