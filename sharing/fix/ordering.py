"""The remedy that leaves the source alone: an order of symbols for the linker in which no conflicting pair meets.

Owns the choice of the order.  With -fdata-sections every variable is an input section of its own, and the linker
places those of an order file first, in that order:

    cold … cold │ group 1 │ cold … cold │ group 2 │ cold … cold │ everything else

A group is a colour of the conflict graph: nothing in it conflicts.  The cold symbols between two groups weigh at
least a line less one byte, so that no line holds bytes of both, wherever the section starts and whatever alignment
adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sharing.fix.plan import last_name
from sharing.judge.conflicts import groups_apart
from sharing.model.facts import ACCESS_COLUMNS, Base, FunctionBits, Init, VariableBits, VariableFacts
from sharing.model.finding import Finding
from sharing.source.program import Program

_BITS_OUT = VariableBits.CONSTANT | VariableBits.THREAD | VariableBits.DECLARED_ONLY
_LINKER_FLAGS = {"lld": "-Wl,--symbol-ordering-file", "gold": "-Wl,--section-ordering-file"}
_LOOP = ACCESS_COLUMNS.index("loop_depth")


@dataclass(frozen=True, slots=True)
class Ordered:
    """One symbol in its place: ``section`` is .data or .bss, ``group`` 0 for a cold one that keeps groups apart."""

    symbol: str
    section: str
    size: int
    group: int


@dataclass(frozen=True, slots=True)
class Order:
    """``symbols`` in the order of memory, section by section; ``left_together`` are what could not be separated."""

    symbols: tuple[Ordered, ...]
    left_together: tuple[str, ...]
    notes: tuple[str, ...]


def order_symbols(program: Program, findings: Sequence[Finding], line_size: int) -> Order:
    """An order that separates what the findings separate.

    Participants of different findings are kept apart too: nobody judged how they get on.
    """
    sides: dict[str, list[tuple[int, bool]]] = {}
    for number, finding in enumerate(findings):
        moved = _moved(finding)
        for participant in finding.participants:
            if participant.identity in program.variables:
                sides.setdefault(participant.identity, []).append((number, participant.identity in moved))
    notes: list[str] = []
    names: dict[str, VariableFacts] = {}
    for identity in sides:
        facts = program.variables[identity].facts
        reason = _cannot(facts)
        if reason:
            notes.append(f"{facts.name}: {reason}")
        else:
            names[identity] = facts
    symbols: list[Ordered] = []
    left: list[str] = []
    cold = _cold(program, sides.keys())
    for section in (".data", ".bss"):
        own = [identity for identity, facts in names.items() if _section(facts) == section]
        if not own:
            continue
        conflicts = [(a, b) for i, a in enumerate(own) for b in own[i + 1 :] if _conflict(sides[a], sides[b])]
        groups = groups_apart(own, conflicts)
        placed, missing = _place(groups, names, [f for f in cold if _section(f) == section], section, line_size - 1)
        symbols += placed
        if missing:
            left += [names[identity].name for group in groups[missing - 1 :] for identity in group]
            notes.append(f"{section} has too little cold data to keep {len(groups)} groups apart")
    left += [program.variables[i].facts.name for i in sides if i not in names]
    return Order(tuple(symbols), tuple(left), tuple(notes))


def _moved(finding: Finding) -> frozenset[str]:
    """Identities of those that the remedies move; the first participant where no remedy says."""
    found = [p.identity for r in finding.remedies for p in finding.participants if p.name and p.name in r.text]
    return frozenset(found[: len(finding.remedies)] or [p.identity for p in finding.participants[:1]])


def _conflict(a: list[tuple[int, bool]], b: list[tuple[int, bool]]) -> bool:
    """Good company only where some finding has both on the side that stays."""
    return not any(x == y and not moved and not other for x, moved in a for y, other in b)


def _cannot(facts: VariableFacts) -> str:
    if facts.section:
        return f"it is in section {facts.section}, which no order reaches"
    if facts.bits & _BITS_OUT:
        return "it is not in writable storage of this program"
    return ""


def _section(facts: VariableFacts) -> str:
    return ".bss" if facts.init in (Init.ZERO, Init.DYNAMIC) else ".data"


def _cold(program: Program, taken: Collection[str]) -> list[VariableFacts]:
    """Variables that little code touches, none in a loop, largest first: the fewest of them fill a line."""
    touched: Counter[str] = Counter()
    width = len(ACCESS_COLUMNS)
    for function in program.functions.values():
        if function.facts.bits & (FunctionBits.INIT | FunctionBits.COLD):
            continue
        rows = function.facts.accesses
        symbols = program.units[function.unit].symbols
        for at in range(0, len(rows), width):
            if rows[at] == Base.VARIABLE:
                touched[symbols[rows[at + 1]]] += 1 + 10 * rows[at + _LOOP]
    names = Counter(v.facts.symbol for v in program.variables.values())
    found = [
        v.facts
        for identity, v in program.variables.items()
        if identity not in taken
        and not _cannot(v.facts)
        and not v.facts.bits & (VariableBits.INLINE | VariableBits.WEAK)
        and names[v.facts.symbol] == 1
        and v.facts.size > 0
    ]
    return sorted(found, key=lambda f: (touched[f.identity], -f.size, f.symbol))


def _place(
    groups: Sequence[Sequence[str]],
    names: dict[str, VariableFacts],
    cold: list[VariableFacts],
    section: str,
    gap: int,
) -> tuple[list[Ordered], int]:
    """Groups with cold symbols before, between and behind; and the number of the first group without enough, 0 none."""
    placed: list[Ordered] = []
    supply = iter(cold)
    missing = 0

    def fill(number: int) -> None:
        nonlocal missing
        weight = 0
        while weight < gap:
            facts = next(supply, None)
            if facts is None:
                missing = missing or max(number, 1)
                return
            placed.append(Ordered(facts.symbol, section, facts.size, 0))
            weight += facts.size

    for number, group in enumerate(groups, 1):
        fill(number)
        for identity in group:
            facts = names[identity]
            placed.append(Ordered(facts.symbol or last_name(facts.name), section, facts.size, number))
    fill(len(groups))
    return placed, missing


def ordering_text(order: Order, linker: str) -> str:
    """The order file of a linker: symbols for lld, input sections for gold."""
    head = f"# Compile with -fdata-sections, link with {_LINKER_FLAGS[linker]}=THIS_FILE\n"
    if linker == "lld":
        return head + "".join(f"{row.symbol}\n" for row in order.symbols)
    return "".join(f"{row.section}.{row.symbol}\n" for row in order.symbols)
