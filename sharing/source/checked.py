"""Facts held to their own tables: every index leads somewhere, every number is one that later code can take.

Owns the table of which number is an index into what, and the ranges of numbers in flat lists.  ``merge`` asks it before
anything else sees a unit, so that later code may trust facts, wherever they come from.  Types and ranges of fields are
msgspec's (``sharing.model.facts``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharing.model.errors import Malformed
from sharing.model.facts import (
    ACCESS_COLUMNS,
    ARG_COLUMNS,
    BLOCK_COLUMNS,
    CALL_COLUMNS,
    KEPT_COLUMNS,
    LOCK_OP_COLUMNS,
    LOOP_COLUMNS,
    MOST,
    MOST_EVENT,
    THROUGH_SLOT,
    ZERO_TEST_COLUMNS,
    AccessFlag,
    Base,
    FunctionFacts,
    MemoryOrder,
    Passed,
    RecordFacts,
    TypeTree,
    UnitFacts,
    VariableFacts,
)
from sharing.model.image import AccessKind, ZeroRange
from sharing.model.types import RECORD_KINDS

MOST_PARAMETERS = 1 << 15
MOST_ORDER = (1 << 16) - 1  # of blocks of a function
MOST_STAGES = (1 << 8) - 1  # of a round of all threads
MOST_VALUE = (1 << 8) - 1  # that a word is found to be
MOST_TREE = 64  # types within each other; compilers refuse far fewer

# Ranges of columns that are no indexes, by the table that has them.
RANGES: dict[str, dict[str, tuple[int, int]]] = {
    "accesses": {
        "base": (min(Base), max(Base)),
        "kind": (0, max(AccessKind)),
        "memory_order": (0, max(MemoryOrder)),
        "flags": (0, sum(AccessFlag)),
        "size": (0, MOST),
    },
    "calls": {},
    "args": {"kind": (min(Passed), max(Passed)), "arg": (0, MOST_PARAMETERS)},
    "lock_ops": {"effect": (1, 6)},
    "zero_tests": {
        "what": (0, max(ZeroRange)),
        "value": (0, MOST_VALUE),
        "size": (1, MOST),
        "first": (0, MOST_ORDER),
        "last": (0, MOST_ORDER),
    },
    "blocks": {
        "order": (0, MOST_ORDER),
        "mirror": (0, MOST_ORDER),
        "head": (0, 1),
        "stages": (0, MOST_STAGES),
        "stage": (0, MOST_STAGES),
    },
    "loops": {"loop_depth": (0, MOST_EVENT), "rarity": (0, MOST_EVENT), "operations": (0, MOST)},
}
# Columns that are indexes: into which table, and whether -1 (none, unknown) is one.
INDEXES: dict[str, dict[str, str]] = {
    "accesses": {"record": "records", "file": "files", "lockset": "locksets"},
    "calls": {"file": "files", "lockset": "locksets"},
    "args": {"call": "calls"},
    "lock_ops": {"lock": "locks", "file": "files", "lockset": "locksets"},
    "zero_tests": {"variable": "symbols"},
    "blocks": {},
    "loops": {},
}
# Lists of a function that are indexes into one table each.
_LISTS = {"requires": "locks", "acquires": "locks", "releases": "locks", "taken": "symbols", "names": "symbols"}
_TABLES = {
    "accesses": ACCESS_COLUMNS,
    "calls": CALL_COLUMNS,
    "args": ARG_COLUMNS,
    "lock_ops": LOCK_OP_COLUMNS,
    "zero_tests": ZERO_TEST_COLUMNS,
    "blocks": BLOCK_COLUMNS,
    "loops": LOOP_COLUMNS,
}
# The same by position, made once.
_CHECKS = {
    table: tuple((columns.index(name), name, *bounds) for name, bounds in RANGES[table].items())
    for table, columns in _TABLES.items()
}
_LEADS = {
    table: tuple((columns.index(name), name, into) for name, into in INDEXES[table].items())
    for table, columns in _TABLES.items()
}


class _Wrong(Exception):
    """What is wrong, in words; becomes Malformed with the name of the unit."""


def check_unit(unit: UnitFacts) -> None:
    """Its own tables and its variables.  Raises Malformed."""
    with_name = "variables"
    try:
        for name, wanted in (("file_hashes", len(unit.files)),):
            if len(getattr(unit, name)) not in (0, wanted):
                raise _Wrong(f"{len(getattr(unit, name))} {name} of {wanted} files")
        _kept(unit)
        for name, indexes in (("derived", unit.derived), ("made", unit.made)):
            for at in indexes:
                if not 0 <= at < len(unit.records):
                    raise _Wrong(f"{name} record {at} of {len(unit.records)}")
        for variable in unit.variables:
            with_name = f"variable {variable.identity!r:.80}"
            _variable(variable, unit)
    except _Wrong as wrong:
        raise Malformed(unit.path, None, f"facts: {with_name}: {wrong}") from None


def check_function(function: FunctionFacts, identity: str, unit: UnitFacts) -> None:
    """A function that the unit lists under ``identity``.  Raises Malformed."""
    try:
        if function.identity != identity:
            raise _Wrong(f"is listed as {identity!r:.80}")
        _function(function, unit)
    except _Wrong as wrong:
        raise Malformed(unit.path, None, f"facts: function {function.identity!r:.80}: {wrong}") from None


def check_record(record: RecordFacts, key: str, unit: UnitFacts) -> None:
    """A record that the unit lists under ``key``.  Raises Malformed."""
    try:
        if record.key != key:
            raise _Wrong(f"is listed as {key!r:.80}")
        _index(record.file, len(unit.files), "file")
        for member in record.members:
            _index(member.file, len(unit.files), "file of a member")
            _tree(member.type, unit)
    except _Wrong as wrong:
        raise Malformed(unit.path, None, f"facts: record {record.name!r:.80}: {wrong}") from None


def _function(function: FunctionFacts, unit: UnitFacts) -> None:
    sizes = {
        "symbols": len(unit.symbols),
        "records": len(unit.records),
        "files": len(unit.files),
        "slots": len(unit.slots),
        "locks": len(function.locks),
        "locksets": len(function.locksets),
        "calls": len(function.calls) // len(CALL_COLUMNS),
    }
    _index(function.file, sizes["files"], "file")
    for table, columns in _TABLES.items():
        flat: tuple[int, ...] = getattr(function, table)
        if not flat:
            continue
        width = len(columns)
        if len(flat) % width:
            raise _Wrong(f"{table} end within a row")
        if max(flat) >= MOST or min(flat) <= -MOST:
            _constants(function, table, flat)
        for at, name, low, high in _CHECKS[table]:
            column = flat[at::width]
            if min(column) < low or max(column) > high:
                _tell(column, low, high, f"{table}: {name}")
        for at, name, into in _LEADS[table]:
            column = flat[at::width]
            if min(column) < -1 or max(column) >= sizes[into]:
                _tell(column, -1, sizes[into] - 1, f"{table}: {name}")
    _bases(function.accesses[0 :: len(ACCESS_COLUMNS)], function.accesses[1 :: len(ACCESS_COLUMNS)], sizes, "accesses")
    _passed(function, sizes)
    callees = function.calls[:: len(CALL_COLUMNS)]
    if callees and (min(callees) < THROUGH_SLOT - (len(unit.slots) - 1) or max(callees) >= sizes["symbols"]):
        _tell(callees, THROUGH_SLOT - (len(unit.slots) - 1), sizes["symbols"] - 1, "calls: callee")
    for lock in function.locks:
        _index(lock.record, sizes["records"], "record of a lock")
        _bases((lock.base,), (lock.id,), sizes, "locks")
    if not function.locksets:
        raise _Wrong("locksets: the empty one is missing")
    for lockset in function.locksets:
        _all(lockset, sizes["locks"], "locksets")
    for name, into in _LISTS.items():
        _all(getattr(function, name), sizes[into], name)
    for start in function.starts:
        _index(start.entry, sizes["symbols"], "entry of a thread")
        _index(start.element, sizes["records"], "element that a thread is handed")
        _index(start.local, sizes["records"], "what a local hands to a thread")
        _index(start.file, sizes["files"], "file of a thread's start")
    for allocation in function.allocations:
        _index(allocation.record, sizes["records"], "record of an allocation")
        _index(allocation.file, sizes["files"], "file of an allocation")


def _constants(function: FunctionFacts, table: str, flat: tuple[int, ...]) -> None:
    """Only a constant argument may have all 64 bits."""
    width = len(_TABLES[table])
    free = ARG_COLUMNS.index("value") if table == "args" else -1
    for at, value in enumerate(flat):
        limit = 1 << 63 if at % width == free else MOST
        if not -limit <= value < limit:
            raise _Wrong(f"{table}: row {at // width}: {_TABLES[table][at % width]} {value:.6g} is out of range")


def _bases(bases: Sequence[int], ids: Sequence[int], sizes: dict[str, int], what: str) -> None:
    if not ids:
        return
    if min(ids) < -1 or max(ids) >= max(sizes["symbols"], MOST_PARAMETERS):
        _tell(ids, -1, max(sizes["symbols"], MOST_PARAMETERS) - 1, f"{what}: id")
    if max(ids) < sizes["symbols"]:
        return
    for row, (base, number) in enumerate(zip(bases, ids, strict=True)):
        if base == Base.VARIABLE and number >= sizes["symbols"]:
            raise _Wrong(f"{what}: row {row}: symbol {number} of {sizes['symbols']}")


def _passed(function: FunctionFacts, sizes: dict[str, int]) -> None:
    width = len(ARG_COLUMNS)
    limits = {
        Passed.VARIABLE: sizes["symbols"],
        Passed.FUNCTION: sizes["symbols"],
        Passed.RECORD: sizes["records"],
        Passed.OWN: sizes["records"],
        Passed.MEMBER: sizes["records"],
        Passed.EACH: sizes["records"],
        Passed.PARAMETER: MOST_PARAMETERS,
        Passed.SLOT: sizes["slots"],
    }
    kinds, values = (
        function.args[ARG_COLUMNS.index("kind") :: width],
        function.args[ARG_COLUMNS.index("value") :: width],
    )
    for row, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        limit = limits.get(kind)  # type: ignore[call-overload]
        if limit is not None and not -1 <= value < limit:
            raise _Wrong(f"args: row {row}: value {value} of {limit}")


def _kept(unit: UnitFacts) -> None:
    width = len(KEPT_COLUMNS)
    if len(unit.kept) % width:
        raise _Wrong("kept ends within a row")
    _all(unit.kept[::width], len(unit.slots), "kept: slot")
    for at, most in ((1, len(unit.symbols)), (2, MOST_PARAMETERS)):
        column = unit.kept[at::width]
        if column and (min(column) < -1 or max(column) >= most):
            _tell(column, -1, most - 1, f"kept: {KEPT_COLUMNS[at]}")


def _variable(variable: VariableFacts, unit: UnitFacts) -> None:
    _index(variable.file, len(unit.files), "file")
    _tree(variable.type, unit)
    _all(variable.refers, len(unit.symbols), "refers")
    for file, *_ in variable.declarations:
        _index(file, len(unit.files), "file of a declaration")


def _tree(tree: TypeTree | None, unit: UnitFacts) -> None:
    depth = 0
    while tree is not None:
        if tree.kind in RECORD_KINDS and tree.count >= len(unit.records):
            raise _Wrong(f"type {tree.name!r:.80}: record {tree.count} of {len(unit.records)}")
        tree = tree.inner
        depth += 1
        if depth > MOST_TREE:
            raise _Wrong(f"a type of more than {MOST_TREE} levels")


def _index(number: int, size: int, what: str) -> None:
    if not -1 <= number < size:
        raise _Wrong(f"{what}: {number:.6g} of {size}")


def _all(numbers: Sequence[int], size: int, what: str) -> None:
    if numbers and (min(numbers) < 0 or max(numbers) >= size):
        _tell(numbers, 0, size - 1, what)


def _tell(numbers: Iterable[int], low: int, high: int, what: str) -> None:
    row, number = next((row, number) for row, number in enumerate(numbers) if not low <= number <= high)
    raise _Wrong(f"{what}: row {row}: {number:.6g} is not in {low}..{high}")
