"""A draft as a finding: participants, evidence, places in source, pictures and remedies.

Owns what a finding of the code says.  Which drafts become findings is ``merging``'s, the edits are ``remedy``'s.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from sharing.basics import geometry
from sharing.basics.naming import by_any_compiler
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedies.rejudge import Newcomers, edits_for
from sharing.judge.remedy import Style, remedy
from sharing.judge.standing import standing_of
from sharing.model.finding import (
    ALSO,
    MAX_PARTICIPANTS,
    Confidence,
    Evidence,
    Finding,
    LinePicture,
    LineRef,
    Participant,
    Related,
    Remedy,
)
from sharing.model.image import ALLOCATED, Image, VariableFlag
from sharing.model.plural import count, named
from sharing.model.profile import Actor, Heat, LineProfile
from sharing.rules.line.base import MAX_OTHERS, Context, Draft, describe, who
from sharing.static.holes import holes
from sharing.static.profiles import Profiler

MAX_RELATED = 3  # places in source a participant
MAX_HINTS = 2  # names of one without a symbol


@dataclass(frozen=True, slots=True)
class Wanted:
    """Whether edits are looked for, and whose come first: see ``JudgeOptions``."""

    edits: bool = True
    newcomers: Newcomers = frozenset()


def finding_of(
    draft: Draft,
    profiler: Profiler,
    context: Context,
    style: Style,
    image: Image,
    wanted: Wanted | None = None,
) -> Finding:
    wanted = wanted or Wanted()
    actors = draft.actors[:MAX_PARTICIPANTS]
    others, whole = _of_others(draft, actors), len({a.owner for a in actors}) == len(actors)
    ref = _line_ref(draft, style.line_size)
    shown = LineProfile(int(ref.address, 16), ref.size, ())
    # By name, so that it survives moves; statics of one name in two units are told apart by their source.
    identity = "|".join([draft.rule, *sorted(f"{by_any_compiler(a.name)}@{a.file}" for a in actors[:2])])
    return Finding(
        id=f"{draft.rule}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}",
        rule=draft.rule,
        severity=draft.severity,
        confidence=Confidence.COUNTED if draft.counted else Confidence.STATIC,
        verdict=draft.verdict,
        line=ref,
        participants=tuple(_participant(a, shown, whole=whole) for a in (*actors, *others)),
        message=draft.message,
        evidence=(
            *(Evidence(Confidence.COUNTED, text) for text in draft.counted),
            _layout_evidence(draft, image),
            *(
                Evidence(Confidence.STATIC, text)
                for text in (*_hints(actors, image), *draft.evidence, *map(_also, draft.also), *guard_evidence(actors))
            ),
        ),
        related=tuple(place for a in actors for place in related(a)),
        remedies=_remedies(draft, profiler, context, style, image, wanted.newcomers) if wanted.edits else (),
        picture=_pictures(draft, profiler, style.line_size, image),
        # A rate that was counted needs no estimate beside it.
        score=round(draft.score, 3) if draft.counted else standing_of(draft, context).score,
    )


def _of_others(draft: Draft, actors: tuple[Actor, ...]) -> tuple[Actor, ...]:
    """Who else is of a pair that the finding tells of."""
    others = {actor.span: actor for other in draft.also for actor in other.actors}
    here = {actor.span for actor in actors}
    return tuple(actor for span, actor in others.items() if span not in here)[:MAX_PARTICIPANTS]


def _also(other: Draft) -> str:
    """In a line: who meets there, by which functions; what else is said of such pairs the rule's page says."""
    first, second, *more = other.actors
    rest = f", and {named([actor.name for actor in more], MAX_OTHERS)}" if more else ""
    pair = f"{describe(first, *other.actors[1:])}, {_use(first)}, meets {describe(second, first)}, {_use(second)}"
    return f"{ALSO}{other.severity.value}: {pair}{rest}"


def _use(actor: Actor) -> str:
    if actor.is_lock:
        return f"taken by {who(actor.lockers)}"
    hot = actor.writers if actor.write_heat is not Heat.COLD else ()
    return f"written by {who(hot)}" if hot else f"read by {who(actor.readers)}"


def _remedies(
    draft: Draft, profiler: Profiler, context: Context, style: Style, image: Image, newcomers: Newcomers
) -> tuple[Remedy, ...]:
    """The edits after which the line, judged again, has nothing of the finding left; none where none are known."""
    paths = Paths(image)
    if draft.line.size == context.pair_size > context.line_size:
        style = replace(style, line_size=context.pair_size)  # a line of its own may be the other half of the pair
    edits = edits_for(draft, profiler, context, paths, style.line_size, kernel=style.kernel, newcomers=newcomers)
    return tuple(dict.fromkeys(remedy(edit, style, paths) for edit in edits))


def _line_ref(draft: Draft, line_size: int) -> LineRef:
    """The span that was judged; of a window, the line of the first actor."""
    if draft.line.size <= 2 * line_size:
        return LineRef(f"{draft.line.address:#x}", draft.line.size, draft.line.place)
    start = draft.actors[0].hot[0][0]
    return LineRef(f"{start - start % line_size:#x}", line_size)


def _layout_evidence(draft: Draft, image: Image) -> Evidence:
    """Where the actors are: by address, or (predicted) by offset in the section contribution or the record."""
    parts = []
    for a in draft.actors[:MAX_PARTICIPANTS]:
        where = f"{a.span[0]:#x}"
        if image.phases:
            home = next((s for s in image.sections if s.address <= a.span[0] < s.end and s.index in image.phases), None)
            if home is not None:
                where = f"offset {a.span[0] - home.address} of {_contribution(a, image)}"
        parts.append(f"{a.name} at {where}, {count(a.span[1] - a.span[0], 'byte')}")
    return Evidence(Confidence.LAYOUT, "; ".join(parts))


def _contribution(actor: Actor, image: Image) -> str:
    section = actor.section
    if section == ALLOCATED:
        return f"the {count(actor.owner_span[1] - actor.owner_span[0], 'byte')} of {actor.owner}"
    return f"{section} of {image.units[actor.unit].name.rpartition('/')[2]}" if actor.unit >= 0 else section


def _hints(actors: tuple[Actor, ...], image: Image) -> list[str]:
    """What tables of the program call those that have no symbol."""
    out = []
    for actor in actors if image.table_names else ():
        row = image.variable_at(actor.span[0])
        if row < 0 or not image.variables["flags"][row] & VariableFlag.RECOVERED:
            continue
        names = [name for at, name in image.table_names.items() if actor.span[0] <= at < actor.span[1]]
        out += [f'{actor.name}: a table of the program calls it "{name}"' for name in sorted(names)[:MAX_HINTS]]
    return out


def guard_evidence(actors: tuple[Actor, ...]) -> list[str]:
    """Which locks the accesses to an actor are under, with the support for it."""
    return [
        f"{a.name}: {k} of {n} accesses under {lock}" for a in actors if not a.is_lock for lock, k, n in a.support[:2]
    ]


def related(actor: Actor) -> list[Related]:
    """The busiest places in source that touch an actor."""
    out = []
    for access in [a for a in actor.accesses if a.source and a.weight > 0][:MAX_RELATED]:
        verb = "locks" if access.locks else "updates" if access.reads and access.writes else "reads"
        if access.writes and not access.reads:
            verb = "writes"
        out.append(Related(actor.name, access.function, verb, access.source, access.under))
    return out


def _participant(actor: Actor, line: LineProfile, *, whole: bool) -> Participant:
    """The variable, or (``whole`` False: several members of one variable take part) the member, on the line."""
    span, name, kind = actor.span, actor.name, actor.type_name
    if whole:
        span, name, kind = actor.owner_span, actor.owner, actor.owner_type or actor.type_name
    start, end = max(span[0], line.address), min(span[1], line.end)
    hot = tuple((a - line.address, b - line.address) for a, b in actor.touched_on(line.address, line.end))
    return Participant(
        name=name,
        member=actor.name[len(actor.owner) :].lstrip(".") if whole else "",
        address=f"{span[0]:#x}",
        size=span[1] - span[0],
        bytes=((start - line.address, max(end, start) - line.address),),
        role=actor.kind or actor.role.value,
        source=actor.source,
        hot=hot,
        type=kind,
        readers=tuple(dict.fromkeys(a.function for a in actor.readers)),
        writers=tuple(dict.fromkeys(a.function for a in actor.accesses if a.writes)),
        lockers=tuple(dict.fromkeys(a.function for a in actor.lockers)),
        identity=actor.identity,
    )


def _pictures(draft: Draft, profiler: Profiler, line_size: int, image: Image) -> tuple[LinePicture, ...]:
    """The lines that hold the actors' hot bytes, each byte owned once."""
    wanted: dict[int, None] = {}
    for actor in draft.actors[:2]:
        for start, _ in actor.touched_on(draft.line.address, draft.line.end):
            wanted[start - (start - draft.line.address) % line_size] = None
    pictures = []
    for address in sorted(wanted)[:3]:
        extents = [geometry.Extent(a.name, a.span[0], a.span[1], _painted(a)) for a in draft.line.actors]
        covered = {(a.span[0], a.span[1]) for a in draft.line.actors}
        extents += [
            geometry.Extent(n.name, n.span[0], n.span[1])
            for n in profiler.profile(address, line_size).neighbours
            if n.span not in covered
        ]
        extents += _holes(image, address, line_size)
        known = _known_ranges(image)
        pictures.append(LinePicture(f"{address:#x}", line_size, geometry.own_bytes(address, line_size, extents, known)))
    return tuple(pictures)


def _holes(image: Image, address: int, line_size: int) -> list[geometry.Extent]:
    """Padding within the variables of a line: smaller than what is around it, so that it is drawn as what it is."""
    end = address + line_size
    first, stop = np.searchsorted(image.variables["address"], np.array([address, end], np.uint64)).tolist()
    around = image.variable_at(address)
    rows = range(first if around < 0 else min(around, first), stop)
    found = [span for row in rows for span in holes(image, row, address, end)]
    return [geometry.Extent(geometry.HOLE, first, last, mark=geometry.HOLE) for first, last in found]


def _painted(actor: Actor) -> tuple[tuple[int, int], ...]:
    """Hot bytes as offsets in the object; none of an object that nothing busy touches."""
    if actor.heat is Heat.COLD:
        return ()
    return tuple((x - actor.span[0], y - actor.span[0]) for x, y in sorted(actor.hot + actor.read_hot))


def _known_ranges(image: Image) -> list[tuple[int, int]]:
    """Sections whose objects are all named: those of images with a symbol table or debug information."""
    if not image.counts.get("symtab_symbols", 0) and not image.debug_source:
        return []
    return [(s.address, s.end) for s in image.sections if s.size]
