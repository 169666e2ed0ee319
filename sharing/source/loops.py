"""In which loop of a function something is done: outermost loops by the block that they begin with.

Owns the numbers of these loops, 1 the first one, 0 none, and what is allocated in which.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from sharing.model.facts import BLOCK_COLUMNS, CALL_COLUMNS, AllocationFact, FunctionFacts, rows_of
from sharing.source.program import Defined, Program


def loop_heads(function: FunctionFacts) -> list[int]:
    """Orders of the blocks with which outermost loops begin, ascending."""
    return sorted(row[0] for row in rows_of(function.blocks, len(BLOCK_COLUMNS)) if row[2])


def calls_of(program: Program, defined: Defined[FunctionFacts]) -> Iterator[tuple[int, int, str, int]]:
    """(row of the call, number of the loop, symbol or "", order of the block)."""
    heads = loop_heads(defined.facts)
    for at, row in enumerate(rows_of(defined.facts.calls, len(CALL_COLUMNS))):
        callee, _, _, _, depth, _, order, _ = row
        name = program.symbol(defined.unit, callee) if callee >= 0 else ""
        yield at, bisect_right(heads, order) if depth else 0, name, order


def allocated(
    program: Program, defined: Defined[FunctionFacts]
) -> Iterator[tuple[int, int, Defined[FunctionFacts], AllocationFact]]:
    """(number of the loop, order, function, allocation) of what it allocates, or functions that it calls."""
    heads = loop_heads(defined.facts)
    for each in defined.facts.allocations:
        yield bisect_right(heads, each.order) if each.loop_depth else 0, each.order, defined, each
    for _, loop, name, order in calls_of(program, defined):
        callee = program.function(defined.unit, name) if name else None
        if callee is not None:
            yield from ((loop, order, callee, each) for each in callee.facts.allocations)
