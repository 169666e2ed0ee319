"""One record under two names: used as a member of another, and through a pointer (``this``) to its own type.

Owns which drafts on records of source are about the same bytes of the same type.  Methods of a class reach its members
through the class, its owner reaches them through the owner: both drafts are about one array or pair, and one edit, in
the inner record, mends both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from sharing.model.image import ALLOCATED, Image
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeTable
from sharing.rules.line.base import Draft


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """Where a draft is: a record's type, and the bytes of the actors within it."""

    type: int
    name: str
    spans: frozenset[tuple[int, int]]


def once_a_record(drafts: list[Draft], image: Image) -> list[Draft]:
    """Drafts without those of a holder that say of a member's record what is said of that record by itself.

    The one of the inner record stays, as severe as the worst, and says under which other name it was found.
    """
    places = [_place(draft, image) for draft in drafts]
    inner = {(d.rule, p.type, p.spans): i for i, (d, p) in enumerate(zip(drafts, places, strict=True)) if p is not None}
    kept = list(drafts)
    gone: set[int] = set()
    for at, (draft, place) in enumerate(zip(drafts, places, strict=True)):
        if place is None:
            continue
        start = min(begin for begin, _ in place.spans)
        for kind, offset, path in reversed([*_records_at(image.types, place.type, start)]):
            spans = frozenset((begin - offset, end - offset) for begin, end in place.spans)
            to = inner.get((draft.rule, kind, spans))
            if to is not None:
                kept[to] = _joined(kept[to], draft, f"{place.name}.{path}" if path else place.name)
                gone.add(at)
                break
    return [draft for at, draft in enumerate(kept) if at not in gone]


def _joined(inner: Draft, outer: Draft, name: str) -> Draft:
    severity = max(inner.severity, outer.severity, key=lambda s: s.rank)
    evidence = (*inner.evidence, f"the same record is used as {name}")
    return dataclasses.replace(inner, severity=severity, score=max(inner.score, outer.score), evidence=evidence)


def _place(draft: Draft, image: Image) -> _Place | None:
    """None where several variables take part, or one that is no record behind pointers."""
    first = draft.actors[0]
    if first.section != ALLOCATED or any(a.owner_span != first.owner_span for a in draft.actors):
        return None
    row = int(np.searchsorted(image.variables["address"], np.uint64(first.owner_span[0])))
    if row == len(image.variables) or int(image.variables["address"][row]) != first.owner_span[0]:
        return None
    kind = image.types.strip(int(image.variables["type"][row]))[0]
    spans = frozenset((a.span[0] - first.owner_span[0], a.span[1] - first.owner_span[0]) for a in draft.actors)
    return None if kind < 0 else _Place(kind, first.owner, spans)


def _records_at(types: TypeTable, row: int, offset: int) -> Iterator[tuple[int, int, str]]:
    """The records within a record that hold a byte of it, outermost first: type, offset of its first byte, and name."""
    path, at = "", 0
    for _ in range(MAX_DEPTH):
        if row < 0 or types[row].kind not in RECORD_KINDS:
            return
        for member in types[row].members:
            begin = at + member.offset_bits // 8
            core = types.strip(member.type)[0]
            if core >= 0 and not member.bit_size and begin <= offset < begin + max(types.size(member.type), 0):
                break
        else:
            return
        name = "" if member.is_base else member.name
        path = f"{path}.{name}" if path and name else path or name
        row, at = core, begin
        if types[row].kind in RECORD_KINDS:
            yield row, at, path
