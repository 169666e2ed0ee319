"""Threads that source starts through objects and directives, as calls of what starts them.

Owns which functions these run.  A pointer to a virtual function (``std::thread(&Worker::run, worker)``) runs that of
the object's class: the function itself, if it has a body, and all that override it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.facts import KEPT_COLUMNS, FunctionFacts, StartFact, rows_of
from sharing.model.image import ARG_DTYPE, CALL_DTYPE, ArgKind, Table
from sharing.source.program import Defined, Program

_VIRTUAL = "virtual "  # what the place of a virtual function is called, in front of the one that others override


def started(
    program: Program, defined: Sequence[Defined[FunctionFacts]]
) -> tuple[list[tuple[int, StartFact]], list[str]]:
    """Each start with the row of its function, and beside it the symbol of what it runs; "" where that is not seen."""
    starts = [(row, d.unit, start) for row, d in enumerate(defined) for start in d.facts.starts]
    overriding = _overriding(program) if starts else {}
    found: list[tuple[int, StartFact]] = []
    symbols: list[str] = []
    for row, unit, start in starts:
        named = program.units[unit].symbols
        symbol = named[start.entry] if 0 <= start.entry < len(named) else ""
        own = [symbol] if symbol not in overriding or program.function(unit, symbol) is not None else []
        entries = [*own, *(one for one in overriding.get(symbol, ()) if one != symbol)]
        found += [(row, start)] * len(entries)
        symbols += entries
    return found, symbols


def _overriding(program: Program) -> dict[str, dict[str, None]]:
    """By virtual functions that others override: these, where all are seen that may be there."""
    found: dict[str, dict[str, None]] = {}
    unseen: set[str] = set()
    for unit in program.members:
        facts = program.units[unit]
        for slot, function, argument in rows_of(facts.kept, len(KEPT_COLUMNS)):
            first = facts.slots[slot].removeprefix(_VIRTUAL)
            if first == facts.slots[slot] or argument >= 0:
                continue
            if function < 0:
                unseen.add(first)
            else:
                found.setdefault(first, {})[facts.symbols[function]] = None
    return {first: functions for first, functions in found.items() if first not in unseen}


def start_tables(
    starts: Sequence[tuple[int, StartFact]],
    entries: Sequence[str],
    ip: Any,
    knowledge: Knowledge,
    address: Callable[[str], int],
    imported: Callable[[str], int],
) -> tuple[Table, Table]:
    """Thread starts as calls of what starts them, the entry as argument 0."""
    table, args = np.zeros(len(starts), CALL_DTYPE), np.zeros(len(starts), ARG_DTYPE)
    for at, ((function, start), entry) in enumerate(zip(starts, entries, strict=True)):
        callee = imported("omp parallel" if start.many else knowledge.source_start(start.api))
        depth = min(max(start.loop_depth, 0), 255)
        table[at]["ip"], table[at]["callee"], table[at]["function"] = ip[at], callee, function
        table[at]["loop_depth"] = depth
        table[at]["rarity"], table[at]["order"] = min(max(start.rarity, 0), 255), min(max(start.order, 0), 65535)
        args[at] = (ip[at], callee, address(entry) if entry else 0, function, 0, ArgKind.ADDRESS, 0, depth)
    return table, args
