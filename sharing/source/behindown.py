"""Records that only objects of one thread each lead to, as the table of counters that each worker has of its own.

Owns how that is known: no variable and no other record speaks of the type, and what makes the elements does so once
for each of these objects, or the member that leads there owns them (``std::vector``, ``std::unique_ptr``).  Which
objects are one thread's each is ``threadrecords``'.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from sharing.model.facts import (
    ACCESS_COLUMNS,
    CALL_COLUMNS,
    AccessFlag,
    Base,
    FunctionFacts,
    RecordBits,
    TypeTree,
    VariableBits,
    rows_of,
)
from sharing.model.image import AccessKind
from sharing.model.types import MAX_DEPTH
from sharing.source.loops import allocated, loop_heads
from sharing.source.program import Defined, Program
from sharing.source.threadrecords import element_of, makers_by_identity, reached

_BASE, _RECORD, _OFFSET, _KIND, _FLAGS, _STRIDE, _DEPTH, _ORDER = (
    ACCESS_COLUMNS.index(name)
    for name in ("base", "record", "offset", "kind", "flags", "stride", "loop_depth", "order")
)
_NAME = re.compile(r"\w+(?:::\w+)*")
_OWNING = re.compile(r"std::(?:vector|unique_ptr|deque|array)<")
_ROUNDS = 4  # objects of a thread that lead to others, and these to more


def behind_own(program: Program, own: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Their keys.  ``own``: by the key of a record that is one thread's each the symbols of what these threads run."""
    if not own:
        return frozenset()
    holders, kept = _holders(program)
    by_name: dict[str, list[str]] = defaultdict(list)
    for key, record in program.records.items():
        if record.facts.size > 0 and not record.facts.bits & (RecordBits.SYSTEM | RecordBits.ANONYMOUS):
            by_name[record.facts.name].append(key)
    made = _Made(program, reached(program, (entry for entries in own.values() for entry in entries)))
    found: set[str] = set()
    for _ in range(_ROUNDS):
        mine = own.keys() | found
        new = {
            key
            for name, keys in by_name.items()
            if len(keys) == 1 and name not in kept and (held := holders.get(name)) and set(held) <= mine
            for key in keys
            if key not in mine and (all(held.values()) or made.for_each(key, mine))
        }
        if not new:
            break
        found |= new
    return frozenset(found)


def _holders(program: Program) -> tuple[dict[str, dict[str, bool]], set[str]]:
    """By name of a record the keys of others whose members speak of it, and whether these own it; names in variables.

    A record whose own members speak of it is a node of a list or a tree, which may be anybody's.
    """
    holders: dict[str, dict[str, bool]] = defaultdict(dict)
    for key, record in program.records.items():
        if record.facts.bits & RecordBits.SYSTEM or _OWNING.match(record.facts.name):
            continue  # what a container of the library is made of
        for member in record.facts.members:
            texts = tuple(_texts(member.type))
            owns = any(_OWNING.match(text) for text in texts)
            for name in {name for text in texts for name in _NAME.findall(text)}:
                holders[name][key] = holders[name].get(key, True) and owns
    kept = {
        name
        for defined in program.variables.values()
        if not defined.facts.bits & VariableBits.THREAD
        for text in _texts(defined.facts.type)
        for name in _NAME.findall(text)
    }
    return holders, kept


def _texts(tree: TypeTree | None) -> Iterator[str]:
    """Names of a type, of what it is an array or a qualified form of, and as it is written of a pointer."""
    for _ in range(MAX_DEPTH):
        if tree is None:
            return
        if tree.name:
            yield tree.name
        tree = tree.inner


class _Made:
    """What functions allocate.  ``running`` are the identities of those that threads run."""

    def __init__(self, program: Program, running: set[str]) -> None:
        self._program, self._running = program, running
        self._makers = makers_by_identity(program)

    @cached_property
    def _callers(self) -> dict[str, set[str]]:
        """By identity of a function that allocates the identities of those that call it."""
        making = {identity for made in self._makers.values() for identity in made}
        found: dict[str, set[str]] = defaultdict(set)
        for identity, defined in self._program.functions.items():
            for callee in {*defined.facts.calls[:: len(CALL_COLUMNS)]}:
                called = self._program.symbol(defined.unit, callee) if callee >= 0 else ""
                if called in making:
                    found[called].add(identity)
        return found

    def for_each(self, key: str, own: set[str]) -> bool:
        """Is each allocated for one such object: by its class, by a thread, or where the member is set?"""
        program = self._program
        classes = tuple(f"{program.records[one].facts.name}::" for one in own)
        made = self._makers.get(key, set())
        apart = made - self._running
        left = {one for one in apart if not program.functions[one].facts.name.startswith(classes)}
        if not left:
            return bool(made)
        name = program.records[key].facts.name
        leading = {
            (one, member.offset_bits // 8)
            for one in own
            for member in program.records[one].facts.members
            if any(name in _NAME.findall(text) for text in _texts(member.type))
        }
        for identity in left.union(*(self._callers.get(one, ()) for one in left)):
            defined = program.functions[identity]
            loops = _setting(program, defined, leading)
            for loop, _, maker, fact in allocated(program, defined) if loops else ():
                if loop in loops and fact.record >= 0 and program.record_key(maker.unit, fact.record) == key:
                    left.discard(maker.facts.identity)
        return not left


def _setting(program: Program, defined: Defined[FunctionFacts], leading: set[tuple[str, int]]) -> set[int]:
    """Loops in which a function sets one of these members of an object after another.

    0 is outside of loops, of an object that the function is handed or makes: of another one at each call.
    """
    found: set[int] = set()
    heads: list[int] | None = None
    for row in rows_of(defined.facts.accesses, len(ACCESS_COLUMNS)):
        if row[_KIND] != AccessKind.STORE:
            continue
        key = program.record_key(defined.unit, row[_RECORD]) if row[_RECORD] >= 0 else element_of(program, defined, row)
        at = row[_OFFSET] % row[_STRIDE] if row[_BASE] == Base.VARIABLE and row[_STRIDE] else row[_OFFSET]
        if (key, at) not in leading:
            continue
        heads = loop_heads(defined.facts) if heads is None else heads
        if row[_DEPTH]:
            found.add(bisect_right(heads, row[_ORDER]))
        elif row[_BASE] == Base.PARAMETER or row[_FLAGS] & AccessFlag.NEW:
            found.add(0)
    return found
