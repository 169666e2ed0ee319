"""Edits of record definitions: the whole type on lines of its own.

Owns alignment on types, which rounds their size up, so that the tail is protected too, and padding behind elements
where alignment cannot hold.  Members are ``sharing.fix.members``'s.
"""

from __future__ import annotations

from sharing.fix.abi import outside, record_is_seen
from sharing.fix.hazards import refuse_larger
from sharing.fix.padding import check_standard, closing_brace, pad_tail, shown, size_with_tail
from sharing.fix.plan import Changes, Plan, Planner
from sharing.fix.style import Spelling
from sharing.fix.tokens import Refused, Source
from sharing.model.facts import RecordBits, RecordFacts, TypeTree
from sharing.model.types import TypeKind
from sharing.source.declarations import stripped
from sharing.source.program import Defined

_KEYWORDS = frozenset((b"struct", b"class", b"union"))


def align_record(planner: Planner, record: Defined[RecordFacts]) -> Plan:
    """Alignment on the type itself."""
    facts = record.facts
    if facts.declared_align >= planner.line_size:
        raise Refused(f"{facts.name} is aligned to {facts.declared_align} bytes already")
    refuse_larger(planner, facts)
    source, style = file_of(planner, record)
    changes = Changes()
    _align(source, facts, style, changes)
    return Plan(
        changes.edits(),
        f"align {shown(facts)} to {planner.line_size} bytes, which rounds its size up from {facts.size}",
        breaks_abi=record_is_seen(planner, facts, source.path),
        notes=outside(source.path),
    )


def separate_record(planner: Planner, record: Defined[RecordFacts]) -> Plan:
    """Every object of the type on lines of its own, wherever it is allocated."""
    loose = loose_place(planner, record.facts)
    if loose:
        raise Refused(f"{loose} allocates it without alignment: use aligned_alloc there first")
    if not planner.is_placed(record.facts.key):
        raise Refused("it was not seen where its objects come from: they have to be aligned there first")
    return align_record(planner, record)


def separate_element(planner: Planner, record: Defined[RecordFacts]) -> Plan:
    """As ``separate_record`` for objects one after another: padding behind each where alignment cannot hold."""
    facts = record.facts
    loose = loose_place(planner, facts)
    if not loose and not planner.is_placed(facts.key):
        loose = "code that was not seen"
    if not loose or facts.align >= planner.line_size:
        return separate_record(planner, record)
    if facts.name.endswith("[]"):
        raise Refused("its elements have no type of their own: give them one that fills whole lines")
    if facts.bits & RecordBits.PACKED:
        raise Refused(f"{shown(facts)} is packed: its layout is fixed on purpose")
    check_standard(planner.program.units[record.unit].standard, loose)
    refuse_unbounded(facts)
    refuse_larger(planner, facts)
    source, _ = file_of(planner, record)
    changes = Changes()
    pad_tail(source, facts, planner.line_size, changes)
    return Plan(
        changes.edits(),
        f"put a line of unnamed bits at the end of {shown(facts)}",
        breaks_abi=record_is_seen(planner, facts, source.path),
        notes=(
            f"{loose} allocates it without alignment: padding holds wherever it starts, and parts its objects from "
            f"each other, not the first from what is before it",
            *outside(source.path),
        ),
        rounds=False,
        tail=True,
        grows=size_with_tail(facts, planner.line_size) - facts.size,
    )


def elements_of(planner: Planner, tree: TypeTree, unit: int) -> tuple[TypeTree, int, str] | None:
    """The type of an array's elements, the unit that knows it, and the key of the class that holds the array.

    That is ``std::array`` or another one of a library with no other member, "" for a plain array; None for no array.
    """
    core = stripped(tree)
    if core.kind == TypeKind.ARRAY and core.inner is not None:
        return core.inner, unit, ""
    holder = planner.record_of(core, unit)
    if holder is None or not holder.facts.bits & RecordBits.SYSTEM or len(holder.facts.members) != 1:
        return None
    inner = stripped(holder.facts.members[0].type)
    if inner.kind != TypeKind.ARRAY or inner.inner is None:
        return None
    return inner.inner, holder.unit, holder.facts.key


def is_only_in(planner: Planner, element: Defined[RecordFacts], holder: str, user: str) -> bool:
    """Is a record the type of the elements of one array alone, that of ``user``, or in its ``holder``?"""
    if not holder:
        return planner.users(element.facts.key) <= {user}
    return planner.users(element.facts.key) <= {f"record {holder}"} and planner.users(holder) <= {user}


def refuse_unbounded(facts: RecordFacts) -> None:
    """Raise ``Refused`` for a record that goes on behind its end."""
    last = max(facts.members, key=lambda each: each.offset_bits, default=None)
    kind = stripped(last.type) if last is not None else None
    if last is not None and kind is not None and kind.kind == TypeKind.ARRAY and kind.count <= 0:
        raise Refused(
            f"{shown(facts)} ends in an array without bounds, {last.name}: what allocates it counts its bytes"
        )


def use_destructive_size(planner: Planner, identity: str) -> Plan:
    """The constant for separating in place of the one for keeping together, in one declaration."""
    program = planner.program
    found = program.variables.get(identity) or program.records.get(identity)
    if found is None:
        raise Refused("its declaration is not known from source")
    source = planner.source(program.path(found.unit, found.facts.file))
    changes = Changes()
    for token in source.code[source.at(found.facts.begin) : source.at(found.facts.end)]:
        if token.text == b"hardware_constructive_interference_size":
            changes.replace(source, token.begin, token.end, "hardware_destructive_interference_size")
    if not changes.edits():
        raise Refused("the constant is not written in its declaration")
    return Plan(changes.edits(), "use the constant that is meant for separating", breaks_abi=True, rounds=False)


def loose_place(planner: Planner, facts: RecordFacts) -> str:
    """A place that allocates the record with less alignment than a line, "" none."""
    places = planner.allocations(facts.key)
    return next((place for place, promise in places if promise < planner.line_size), "")


def file_of(planner: Planner, record: Defined[RecordFacts]) -> tuple[Source, Spelling]:
    path = planner.program.path(record.unit, record.facts.file)
    return planner.source(path), planner.spelling(path)


def _align(source: Source, facts: RecordFacts, style: Spelling, changes: Changes) -> None:
    code = source.code
    at = source.at(facts.begin)
    while at < len(code) and code[at].begin < facts.end and code[at].text not in _KEYWORDS:
        at += 1
    if at >= len(code) or code[at].begin >= facts.end:
        raise Refused(f"a macro defines {shown(facts)}")
    closing_brace(source, facts)
    if style.record_behind:
        changes.insert(source, facts.end, f" {style.record}")
    else:
        changes.insert(source, code[at].end, f" {style.record}")
