"""Which object of which type the bytes of a line without a declaration are: what its instructions reached, joined.

Owns the vote of several instructions, the object's first byte, and the member at a byte.  What one instruction reached
is ``sharing.sampled.reached``'s, how an object is called in a report ``sharing.judge.sampled``'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sharing.model.locals import Locals
from sharing.model.types import Member
from sharing.sampled.lineuse.use import LineUse
from sharing.sampled.reached import Reached

Code = tuple[str, int]  # file, and link-time address of an instruction in it


@dataclass(frozen=True, slots=True)
class SeenObject:
    """The record, or the local variable, around some bytes.

    ``align`` is what its type asks for itself, 0 nothing.  ``address`` is that of its first byte, -1 where only the
    member is known, or not even that; ``member`` None where the type has none there, or which one is not known;
    ``offset`` is that of the bytes in the record.  ``by`` is the variable that leads to it, ``function`` that in which
    it does.
    """

    type_name: str
    size: int
    address: int
    offset: int
    member: Member | None
    source: str
    by: str
    function: str
    local: bool
    language: str = ""  # of the code that uses it, as debug information calls it
    align: int = 0

    @property
    def text(self) -> str:
        """The object in a sentence of evidence: ``Session (net.h:7), 40 bytes, which s in hit leads to``."""
        what = f"{self.type_name} ({self.source})" if self.source else self.type_name
        where = f" in {self.function}" if self.function else ""
        how = f"the local variable {self.by}{where}" if self.local else f"which {self.by}{where} leads to"
        return f"{what}, {self.size} bytes, {how}"


@dataclass(frozen=True, slots=True)
class _Sampled:
    start: int
    samples: int
    reached: Reached
    locals_: Locals


def object_at(use: LineUse, start: int, end: int, known: Mapping[Code, tuple[Reached, Locals]]) -> SeenObject | None:
    """What the bytes [start, end) of a line belong to."""
    every = [
        _Sampled(site.start, site.samples, *known[site.module, site.ip])
        for site in use.sites
        if (site.module, site.ip) in known
    ]
    aligned = _aligned(every)
    votes: Counter[tuple[bool, bool, int, int, str]] = Counter()
    by_key: dict[tuple[bool, bool, int, int, str], tuple[_Sampled, int]] = {}
    for one in every:
        base, size = _base(use, one, aligned), one.locals_.types.size(one.reached.type)
        inside = use.address + start - base if base >= 0 else one.reached.offset
        if base < 0 and not start <= one.start < end:
            continue  # some element: it says nothing of other bytes
        if inside >= 0 and inside + end - start <= size:
            # The object around others says most; of elements of unknown number the nearest type does.
            key = base >= 0, one.reached.exact, size if base >= 0 else 0, base, _kind(one)[0]
            votes[key] += one.samples
            # Others lead to a local variable by its type, its own function knows its name.
            if key not in by_key or (one.reached.local and not by_key[key][0].reached.local):
                by_key[key] = one, inside
    if not votes:
        return None
    one, inside = by_key[max(votes, key=lambda key: (*key[:3], votes[key], key))]
    return _object(use, one, inside, aligned)


_Kind = tuple[str, int]  # of a record: its name and size
_Aligned = dict[_Kind, bool]  # whether all that chosen elements showed of the line fits one row of such records


def _kind(one: _Sampled) -> _Kind:
    return one.locals_.types.name(one.reached.type), one.locals_.types.size(one.reached.type)


def _aligned(every: Sequence[_Sampled]) -> _Aligned:
    """Of records that an index chooses and that hold no array: do their bytes on the line lie whole records apart?

    If so the index counts such records, and each one's first byte follows from any place of it.  Where not, it may
    have chosen among the members.  One place alone shows neither.
    """
    places: dict[_Kind, set[int]] = {}
    for one in every:
        leaf = one.locals_.types.leaf(one.reached.type, one.reached.offset)
        if not one.reached.exact and leaf is not None and leaf.count == 1 and not leaf.stride:
            places.setdefault(_kind(one), set()).add(one.start - one.reached.offset)
    apart = {kind: {place % kind[1] for place in found} for kind, found in places.items()}
    starts = {kind: {one.start for one in every if _kind(one) == kind} for kind in places}
    return {kind: len(apart[kind]) == 1 for kind in places if len(starts[kind]) > 1}


def _base(use: LineUse, one: _Sampled, aligned: _Aligned) -> int:
    if not one.reached.exact and not aligned.get(_kind(one), False):
        return -1
    return use.address + one.start - one.reached.offset


def _object(use: LineUse, one: _Sampled, offset: int, aligned: _Aligned) -> SeenObject:
    types, kind = one.locals_.types, one.reached.type
    core = types.strip(kind)[0]
    record = types[core if core >= 0 else kind]
    member_known = one.reached.exact or aligned.get(_kind(one), True)
    known = 0 <= record.file < len(one.locals_.files) and record.line > 0
    variable = one.reached.variable
    return SeenObject(
        # By its own name rather than an alias, which may be another type's member (std::shared_ptr<T>::element_type).
        type_name=record.name or types.name(kind),
        size=types.size(kind),
        address=_base(use, one, aligned),
        offset=offset,
        member=types.leaf(kind, offset) if member_known else None,
        source=f"{one.locals_.files[record.file]}:{record.line}" if known else "",
        by=variable.name,
        function=getattr(variable, "function", ""),
        local=one.reached.local,
        language=one.locals_.language,
        align=max(record.align, 0),
    )
