"""How many objects of a record lie side by side, where all that the program allocates says one number.

Owns the join of what calls allocate room for (``AllocationFact.count``).  What a vector holds, or a call makes room for
that no constant tells, may be the array that code means as well.
"""

from __future__ import annotations

from collections import defaultdict

from sharing.source.program import Program

_VECTOR = "std::vector<"


def in_vectors(program: Program) -> set[str]:
    """Names of what vectors hold."""
    names = (defined.facts.name for defined in program.records.values())
    return {name[len(_VECTOR) : -1] for name in names if name.startswith(_VECTOR)}


def rooms(program: Program) -> dict[str, int]:
    """By the key of a record."""
    found: dict[str, set[int]] = defaultdict(set)
    for defined in program.functions.values():
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is not None:
                found[record.facts.key].add(fact.count)
    held = in_vectors(program)
    one = {key: counts.pop() for key, counts in found.items() if len(counts) == 1}
    return {key: count for key, count in one.items() if count and program.records[key].facts.name not in held}
