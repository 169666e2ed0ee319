"""Function facts as the tables of an image: access sites, calls, arguments, parameter accesses, and their origins.

Owns the addresses of functions and of what they import, and what becomes of each kind of fact.  Which address an event
has within its function is ``events``'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.knowledge import Knowledge, read_table
from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    BLOCK_COLUMNS,
    CALL_COLUMNS,
    LOCK_OP_COLUMNS,
    ZERO_TEST_COLUMNS,
    AccessFlag,
    Base,
    FunctionBits,
    FunctionFacts,
    Passed,
    RecordBits,
)
from sharing.model.image import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    ZERO_RANGE_DTYPE,
    AccessKind,
    ArgKind,
    FunctionFlag,
    SiteFlag,
    Table,
)
from sharing.model.origins import ORIGIN_DTYPE, Origins
from sharing.source.addressing import AddressSpace
from sharing.source.calledslots import CalledSlots, say_arguments
from sharing.source.events import EVENT_BYTES, BlockStarts, FactRows, Ints, in_loops, ranked
from sharing.source.locksets import Calls, Locksets
from sharing.source.newobjects import new_objects
from sharing.source.program import Defined, Program
from sharing.source.startcalls import start_tables, started
from sharing.source.takenonce import taken_once
from sharing.source.threadnumbers import Numbered, numbered_functions

CODE_BASE = 0x10_0000
IMPORT_BASE = 0x7000_0000_0000
MAX_STRIDE = 65535
MAX_ARG_STRIDE = 255
EFFECTS = {1: "lock", 2: "unlock", 3: "init", 4: "lock", 5: "wait", 6: "timedwait"}


class _Streams(msgspec.Struct, frozen=True):
    """``error_streams`` are objects of libraries that messages are written to."""

    error_streams: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of a unit that none of the program's functions comes from."""

    symbols: tuple[str, ...] = ()
    records: tuple[tuple[str, object], ...] = ()
    files: tuple[str, ...] = ()


_NO_UNIT = _Tables()


@dataclass(frozen=True, slots=True)
class Code:
    """The tables of ``Image`` that come from functions; ``symbols`` are function names, row by row."""

    functions: Table
    symbols: tuple[str, ...]
    sites: Table
    calls: Table
    args: Table
    params: Table
    kept: Table
    zero_ranges: Table
    blocks: Table
    origins: Origins
    callee_names: dict[int, str]
    init_functions: tuple[int, ...]


class _AddressTable:
    """Unit-local indexes as addresses, looked up for whole columns at once."""

    def __init__(self, lists: list[list[int]]) -> None:
        lengths = [len(x) for x in lists]
        self._start: Ints = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        self._flat = np.array([a for x in lists for a in x] or [0], np.uint64)

    def find(self, unit: Ints, index: Ints) -> npt.NDArray[np.uint64]:
        """Addresses, 0 where the index is out of range or leads to nothing known."""
        at = self._start[unit] + index
        good = (index >= 0) & (at < self._start[unit + 1])
        return np.where(good, self._flat[np.where(good, at, 0)], np.uint64(0))


@dataclass(frozen=True, slots=True)
class _Lookup:
    """Where what a function's unit knows by index lies; ``unit`` is the unit of each function.

    ``elements`` is not 0 for records that stand for plain elements (``RecordBits.ELEMENTS``).
    """

    unit: Ints
    variables: _AddressTable
    records: _AddressTable
    functions: _AddressTable
    elements: _AddressTable
    slots: CalledSlots

    def units(self, rows: FactRows) -> Ints:
        """The unit of each row."""
        return self.unit[rows.function] if len(rows) else rows.function

    def lock(self, lock: Any, function: int) -> int:
        """The address of a single lock expression, 0 where it is not known."""
        unit = self.unit[function : function + 1]
        if lock.base == Base.VARIABLE:
            start = int(self.variables.find(unit, np.array([lock.id]))[0])
        else:
            start = int(self.records.find(unit, np.array([lock.record]))[0])
        return start + lock.offset if start else 0


def build(program: Program, space: AddressSpace, knowledge: Knowledge, files: dict[str, int]) -> Code:
    """1. an address for each function and import; 2. rows as arrays; 3. rank events; 4. fill the tables."""
    defined = list(program.functions.values())
    facts = [d.facts for d in defined]
    unit: Ints = np.array([d.unit for d in defined], np.int64)
    accesses = FactRows(ACCESS_COLUMNS, [f.accesses for f in facts])
    calls = FactRows(CALL_COLUMNS, [f.calls for f in facts])
    args = FactRows(ARG_COLUMNS, [f.args for f in facts])
    ops = FactRows(LOCK_OP_COLUMNS, [f.lock_ops for f in facts])
    starts, entries = started(program, defined)
    events = [np.bincount(r.function, minlength=len(facts)) for r in (accesses, calls, ops)]
    events.append(np.bincount(np.array([row for row, _ in starts], np.int64), minlength=len(facts)))
    length = EVENT_BYTES * (sum(events) + 2)
    address = (CODE_BASE + np.concatenate(([0], np.cumsum((length + 15) // 16 * 16)))).astype(np.uint64)[:-1]
    address = address[: len(facts)]
    imports: dict[str, int] = {}

    def imported(name: str) -> int:
        return imports.setdefault(name, IMPORT_BASE + 16 * len(imports))

    at = {d.facts.identity: int(a) for d, a in zip(defined, address.tolist(), strict=True)}
    tables = _tables(program, set(unit.tolist()))
    others = {name: imported(name) for name in _streams(program)}
    variables = _AddressTable([[space.variables.get(s) or others.get(s, 0) for s in u.symbols] for u in tables])
    objects = {*program.variables, *program.declared}

    def callee(symbol: str) -> int:
        return at.get(symbol) or (0 if symbol in objects else imported(symbol.partition("@")[0]))

    functions = _AddressTable([[callee(s) for s in u.symbols] for u in tables])
    records = _AddressTable([[space.records.get(k, 0) for k, _ in u.records] for u in tables])
    paths = _AddressTable([[files.setdefault(p, len(files)) + 1 for p in u.files] for u in tables])
    by_symbol = {f.symbol: int(a) for f, a in zip(facts, address.tolist(), strict=True)}
    ips, place_of = ranked([accesses, calls, ops], starts, address)
    taken = _taken(facts, unit, args, functions)
    lookup = _Lookup(unit, variables, records, functions, _elements(program, tables), CalledSlots(program))
    sites, params = _sites(accesses, ips[0], lookup, _own(accesses, defined, numbered_functions(program, knowledge)))
    locking = _locking({**by_symbol, **imports}, knowledge)
    call_table, arg_table = _calls(calls, args, ips[1], lookup, locking, _changing_atomics(params, address))
    locksets = Locksets(program, defined, Calls(calls, ips[1], call_table, arg_table), space, address, taken)
    once = taken_once(program, defined, [*zip((accesses, calls, ops), ips, strict=False)], space, locksets.for_good)
    tests = FactRows(ZERO_TEST_COLUMNS, [f.zero_tests for f in facts])
    lock_calls, lock_args = _lock_calls(ops, facts, ips[2], lookup, knowledge, imported)
    start_calls, start_args = start_tables(starts, entries, ips[3], knowledge, callee, imported)
    every_call, begun = np.concatenate([call_table, lock_calls, start_calls]), start_args["value"].tolist()
    every_arg = np.concatenate([arg_table, lock_args, start_args])
    origins = _origins([accesses, calls, ops], ips[:3], unit, paths, locksets, new_objects(calls, args, ips[1]))
    return Code(
        functions=_functions(facts, address, length, taken, {*every_call["callee"].tolist(), *begun}),
        symbols=tuple(f.symbol or f.identity for f in facts),
        sites=_by_ip(sites),
        calls=_by_ip(every_call),
        args=_by_ip(every_arg),
        params=_by_ip(params),
        kept=lookup.slots.kept(callee, {d.facts.identity: row for row, d in enumerate(defined)}),
        zero_ranges=np.concatenate([_zero_ranges(tests, place_of, lookup), once]),
        blocks=_blocks(facts),
        origins=msgspec.structs.replace(origins, required=locksets.required(defined), loops=in_loops(facts)),
        callee_names={a: n for n, a in imports.items()},
        init_functions=_initialisers(facts, address),
    )


def _initialisers(facts: list[Any], address: npt.NDArray[np.uint64]) -> tuple[int, ...]:
    return tuple(a for a, f in zip(address.tolist(), facts, strict=True) if f.bits & FunctionBits.INIT)


def _streams(program: Program) -> list[str]:
    """What messages of errors are written to: code that names another file's stream is known by that."""
    return sorted(read_table("rare.json", _Streams).error_streams & program.declared.keys())


def _tables(program: Program, used: set[int]) -> list[Any]:
    """The units with those left empty that no function comes from."""
    return [u if i in used else _NO_UNIT for i, u in enumerate(program.units)]


def _locking(functions: dict[str, int], knowledge: Knowledge) -> list[int]:
    """Functions whose calls lock operations stand for; those of barriers and their makers stand for themselves."""
    return [a for name, a in functions.items() if knowledge.lock_calls(name) and not knowledge.meets(name)]


def _own(rows: FactRows, defined: Sequence[Defined[FunctionFacts]], numbers: Numbered) -> npt.NDArray[np.bool_]:
    """Which accesses are at an index that is the number of the running thread."""
    once = np.array([numbers.own(d.facts.identity, 1) for d in defined], bool)
    always = np.array([numbers.own(d.facts.identity, 0) for d in defined], bool)
    given = rows["flags"] & AccessFlag.GIVEN != 0
    of = rows.function
    mine = given & np.where(rows["loop_depth"] > 0, once[of], always[of]) if len(rows) else given
    taken = np.array([numbers.counted(d.facts.identity, 1) for d in defined], bool)
    if len(rows):
        mine = mine | ((rows["flags"] & AccessFlag.COUNTED != 0) & (rows["loop_depth"] > 0) & taken[of])
    own: npt.NDArray[np.bool_] = mine | (rows["flags"] & AccessFlag.OWN != 0)
    return own


def _elements(program: Program, tables: Sequence[Any]) -> _AddressTable:
    """Which records stand for plain elements: 1, else 0."""
    plain = {k for k, d in program.records.items() if d.facts.bits & RecordBits.ELEMENTS}
    return _AddressTable([[int(k in plain) for k, _ in u.records] for u in tables])


def _by_ip(table: Table) -> Table:
    """In order of instruction addresses; rows of one instruction stay in theirs."""
    return table[np.argsort(table["ip"], kind="stable")]


def _taken(facts: list[Any], unit: Ints, args: FactRows, functions: _AddressTable) -> set[int]:
    rows = [(u, t) for f, u in zip(facts, unit.tolist(), strict=True) for t in f.taken]
    pairs = np.array(rows, np.int64).reshape(-1, 2)
    addresses = functions.find(pairs[:, 0], pairs[:, 1]).tolist()
    passed = args["kind"] == 4
    if passed.any():
        addresses += functions.find(unit[args.function[passed]], args["value"][passed]).tolist()
    return set(addresses)


def _functions(
    facts: list[Any], address: npt.NDArray[np.uint64], length: Any, taken: set[int], called: set[int]
) -> Table:
    """Who may enter a function from outside: of private methods nobody does where a call from within is seen."""
    table = np.zeros(len(facts), FUNCTION_DTYPE)
    table["address"], table["size"] = address, length
    table["name"], table["section"] = np.arange(len(facts)), -1
    flags = []
    for f, a in zip(facts, address.tolist(), strict=True):
        value = FunctionFlag(0)
        inside = f.bits & FunctionBits.PRIVATE and a in called
        if not f.bits & (FunctionBits.INTERNAL | FunctionBits.REGION) and not inside:
            value |= FunctionFlag.EXPORTED
        if f.bits & FunctionBits.INIT:
            value |= FunctionFlag.INIT
        if f.bits & FunctionBits.COLD:
            value |= FunctionFlag.COLD
        if a in taken or f.bits & FunctionBits.VIRTUAL:  # its address is in a table that source does not show
            value |= FunctionFlag.ADDRESS_TAKEN
        if f.bits & FunctionBits.VIRTUAL and a not in taken:
            value |= FunctionFlag.VIRTUAL
        flags.append(int(value))
    table["flags"] = flags
    return table


def _common(table: Table, rows: FactRows, ip: Any, keep: Any) -> None:
    """The columns that every kind of event has."""
    table["ip"] = ip[keep]
    table["function"] = rows.function[keep]
    table["loop_depth"] = np.clip(rows["loop_depth"][keep], 0, 255)
    for name, top in (("rarity", 255), ("order", 65535)):
        if name in (table.dtype.names or ()):
            table[name] = np.clip(rows[name][keep], 0, top)


def _sites(rows: FactRows, ip: Any, lookup: _Lookup, own: Any) -> tuple[Table, Table]:
    """Accesses to variables and to record instances as sites, those through parameters (also) as such.

    ``own``: is an index the number of the running thread?  Of plain elements at other indexes nothing is known that a
    line could be judged by.
    """
    base, of = rows["base"], lookup.units(rows)
    of_variable, of_record = lookup.variables.find(of, rows["id"]), lookup.records.find(of, rows["record"])
    start = np.where(base == Base.VARIABLE, of_variable, of_record)
    known = (start != 0) & (rows["offset"] >= 0)
    keep = np.flatnonzero(known & (own | (base != Base.RECORD) | (lookup.elements.find(of, rows["record"]) == 0)))
    sites = np.zeros(len(keep), SITE_DTYPE)
    _common(sites, rows, ip, keep)
    sites["target"] = start[keep] + rows["offset"][keep].astype(np.uint64)
    sites["size"] = np.clip(rows["size"][keep], 0, 2**32 - 1)
    sites["stride"] = np.clip(rows["stride"][keep], 0, MAX_STRIDE)
    sites["kind"] = rows["kind"][keep]
    sites["flags"] = _flags(rows, keep, own)
    # What sets up a new object takes no line from anyone, as if it ran next to never.
    new = rows["flags"] & AccessFlag.NEW != 0
    rarity, made = sites["rarity"], new[keep]
    rarity[made] = np.maximum(rarity[made], shared.SELDOM)
    chosen = np.flatnonzero((base == Base.PARAMETER) & (rows["id"] >= 0) & (rows["id"] < 8) & ~new)
    params = np.zeros(len(chosen), PARAM_DTYPE)
    _common(params, rows, ip, chosen)
    params["offset"] = rows["offset"][chosen]
    params["size"] = np.clip(rows["size"][chosen], 0, 2**32 - 1)
    params["stride"] = np.clip(rows["stride"][chosen], 0, MAX_STRIDE)
    params["arg"] = rows["id"][chosen]
    params["kind"] = rows["kind"][chosen]
    params["flags"] = _flags(rows, chosen, own)
    return sites, params


def _zero_ranges(tests: FactRows, blocks: BlockStarts, lookup: _Lookup) -> Table:
    """Instructions behind a test of a variable for zero."""
    variable = lookup.variables.find(lookup.units(tests), tests["variable"])
    begin, end = blocks.find(tests.function, tests["first"]), blocks.find(tests.function, tests["last"] + 1)
    keep = np.flatnonzero((variable != 0) & (begin < end) & (tests["offset"] >= 0))
    table = np.zeros(len(keep), ZERO_RANGE_DTYPE)
    table["variable"] = variable[keep] + tests["offset"][keep].astype(np.uint64)
    told = (np.minimum(tests[name][keep], 2**16 - 1) for name in ("size", "what", "value"))
    table["begin"], table["end"], table["function"] = begin[keep], end[keep], tests.function[keep]
    table["size"], table["what"], table["value"] = told
    return table


def _blocks(facts: list[Any]) -> Table:
    rows = FactRows(BLOCK_COLUMNS, [f.blocks for f in facts])
    table = np.zeros(len(rows), BLOCK_DTYPE)
    table["function"] = rows.function
    for name in BLOCK_COLUMNS:
        table[name] = rows[name]
    return np.sort(table, order=("function", "order"))


_SITE_FLAGS = {
    AccessFlag.INDEXED: SiteFlag.INDEXED,
    AccessFlag.WALKS: SiteFlag.WALKS,
    AccessFlag.OWN: SiteFlag.OWN,
    AccessFlag.CLEARS: SiteFlag.CLEARS,
}


def _flags(rows: FactRows, keep: Any, own: Any) -> Any:
    stated = np.where(own[keep], rows["flags"][keep] | AccessFlag.OWN, rows["flags"][keep])
    flags = np.where(rows["memory_order"][keep] > 0, int(SiteFlag.ATOMIC), 0)
    for fact, flag in _SITE_FLAGS.items():
        flags |= np.where(stated & fact, int(flag), 0)
    given = own[keep] & (rows["flags"][keep] & (AccessFlag.OWN | AccessFlag.GIVEN) == AccessFlag.GIVEN)
    flags |= np.where(given, int(SiteFlag.GIVEN), 0)
    return flags.astype(np.uint8)


def _changing_atomics(params: Table, address: Any) -> Ints:
    """Keys (``_given``) of functions and arguments behind which they change an atomic."""
    changes = (params["flags"] & int(SiteFlag.ATOMIC) != 0) & (params["kind"] != AccessKind.LOAD)
    return np.unique(_given(address[params["function"][changes]], params["arg"][changes]))


def _given(callee: Any, arg: Any) -> Ints:
    keys: Ints = callee.astype(np.int64) * 256 + arg.astype(np.int64)
    return keys


def _calls(
    calls: FactRows, args: FactRows, ip: Any, lookup: _Lookup, locking: list[int], atomics: Ints
) -> tuple[Table, Table]:
    """Calls and their arguments; those of ``locking`` functions are left to the lock operations, which say the same.

    Of what is done to a member of what the caller was given the object is told where that changes ``atomics``.
    """
    table = np.zeros(len(calls), CALL_DTYPE)
    _common(table, calls, ip, slice(None))
    table["callee"] = lookup.functions.find(lookup.units(calls), calls["callee"])
    if len(calls):
        lookup.slots.say(table, lookup.units(calls), calls["callee"])
    row = calls.first[args.function] + args["call"] if len(args) else args.function
    good = (args["call"] >= 0) & (row < calls.first[args.function + 1]) if len(args) else row.astype(bool)
    row = np.where(good, row, 0)
    if not len(calls):
        return table, np.empty(0, ARG_DTYPE)
    kind = args["kind"]
    say_arguments(table, row, args["value"], good & (kind == Passed.CALLED))
    value, known = _passed(args, lookup)
    plain = (kind == Passed.MEMBER) & ~np.isin(_given(table["callee"][row], args["arg"]), atomics)
    # What locks are handed is told as locks, but for what is called there: pthread_once.
    other = ~np.isin(table["callee"][row], locking) | (kind == Passed.FUNCTION)
    keep = np.flatnonzero(good & known & ~plain & other & (args["arg"] < 256))
    out = np.zeros(len(keep), ARG_DTYPE)
    out["ip"], out["callee"] = table["ip"][row[keep]], table["callee"][row[keep]]
    out["function"], out["arg"] = args.function[keep], args["arg"][keep]
    out["loop_depth"] = table["loop_depth"][row[keep]]
    out["value"] = value[keep]
    same = {Passed.PARAMETER: ArgKind.PARAM, Passed.CONSTANT: ArgKind.CONSTANT, Passed.SLOT: ArgKind.LOADED}
    mapped = np.array([0, *(same.get(passed, ArgKind.ADDRESS) for passed in Passed)], np.uint8)
    out["kind"] = mapped[kind[keep]]
    stride = np.clip(args["stride"][keep], 0, MAX_ARG_STRIDE)
    out["source"] = np.where(kind[keep] == Passed.PARAMETER, np.clip(args["value"][keep], 0, 255), stride)
    return table, out


def _passed(args: FactRows, lookup: _Lookup) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """What each argument is (an address, a number, an offset in a parameter), and whether that is known."""
    owner, kind, which = lookup.units(args), args["kind"], args["value"]
    variable, record = lookup.variables.find(owner, which), lookup.records.find(owner, which)
    slot = lookup.slots.number(owner, np.where(kind == Passed.SLOT, which, -1))
    value = np.select(
        [kind == passed for passed in Passed],
        [
            variable.astype(np.int64) + args["offset"],
            args["offset"],
            which,
            lookup.functions.find(owner, which).astype(np.int64),
            record.astype(np.int64) + args["offset"],
            *(0, 0),
            record.astype(np.int64) + args["offset"],
            *(0, slot, 0, 0),
        ],
        0,
    )
    known = np.select(
        [kind == Passed.VARIABLE, np.isin(kind, (Passed.RECORD, Passed.MEMBER)), kind == Passed.SLOT],
        [variable != 0, record != 0, slot > 0],
        np.isin(kind, (Passed.PARAMETER, Passed.CONSTANT, Passed.FUNCTION)),
    )
    return value, known


def _lock_calls(
    ops: FactRows, facts: list[Any], ip: Any, lookup: _Lookup, knowledge: Knowledge, imported: Any
) -> tuple[Table, Table]:
    """Lock operations as calls of the row's own pseudo function (``Knowledge.operation``) with the lock's address."""
    table, args = np.zeros(len(ops), CALL_DTYPE), np.zeros(2 * len(ops), ARG_DTYPE)
    _common(table, ops, ip, slice(None))
    count = 0
    lock_of, effects = ops["lock"].tolist(), ops["effect"].tolist()
    for at, function in enumerate(ops.function.tolist()):
        locks = facts[function].locks
        if not 0 <= lock_of[at] < len(locks) or effects[at] not in EFFECTS:
            continue
        lock = locks[lock_of[at]]
        name = knowledge.operation(lock.row, EFFECTS[effects[at]])
        if not name:
            continue
        callee = imported(name)
        table["callee"][at] = callee
        address = lookup.lock(lock, int(function))
        depth = int(table["loop_depth"][at])
        if address:
            stride = min(max(lock.stride, 0), MAX_ARG_STRIDE)
            args[count] = (ip[at], callee, address, function, 0, ArgKind.ADDRESS, stride, depth)
            count += 1
        if lock.base == Base.PARAMETER and 0 <= lock.id < 256:
            args[count] = (ip[at], callee, lock.offset, function, 0, ArgKind.PARAM, lock.id, depth)
            count += 1
    return table, args[:count]


def _origins(
    rows: list[FactRows],
    ips: list[Any],
    unit: Ints,
    paths: _AddressTable,
    locksets: Locksets,
    new: npt.NDArray[np.uint64],
) -> Origins:
    tables = []
    for r, ip in zip(rows, ips, strict=True):
        table = np.zeros(len(r), ORIGIN_DTYPE)
        if len(r):
            table["ip"] = ip
            table["file"] = paths.find(unit[r.function], r["file"]).astype(np.int64) - 1
            table["line"] = np.clip(r["line"], 0, 2**32 - 1)
            table["column"] = np.clip(r["column"], 0, 2**32 - 1)
            table["lockset"] = locksets.rows(r.function, r["lockset"], ip)
        tables.append(table)
    return Origins(_by_ip(np.concatenate(tables)), locksets.sets(), new=new)
