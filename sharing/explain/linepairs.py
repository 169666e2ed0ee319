"""What the change of layout means for lines: pairs that meet or part, with who touches them and what a rule says.

Owns the join of geometry (``mates``) with activity, seen from one side; the other side is the same with the images
swapped.  Which symbol is to blame is ``blame``'s, which cause comes first ``causes``'.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain import mates
from sharing.explain.activity import Activity
from sharing.explain.identity import Objects, Words
from sharing.explain.match import Matching
from sharing.explain.members import Members
from sharing.model.comparison import LineMates, Straddle
from sharing.model.finding import Confidence, Severity, Verdict
from sharing.model.image import SectionKind
from sharing.model.profile import Access, Actor, Heat, Role
from sharing.rules.line.base import Draft
from sharing.static import numbers as static_numbers

MAX_EXAMINED = 120  # pairs of variables whose actors are looked at, busiest first
MAX_SHOWN = 20
MASK = (1 << 64) - 1
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Relaid:
    """A member that is at byte ``here`` of its variable ``owner``, and at ``there`` of it in the other build."""

    name: str
    owner: str
    here: int
    there: int


@dataclass(frozen=True, slots=True)
class SampledSharing:
    """That threads were seen to take the line from each other: by which addresses, in words, in timed samples."""

    confidence: Confidence
    text: str
    cost: float


@dataclass(frozen=True, slots=True)
class Begun:
    """That a function, by its linkage name, uses or ``writes`` what is called so, and does not in the other build."""

    function: str
    name: str
    writes: bool


@dataclass(frozen=True, slots=True)
class LinePair:
    """A pair that meets on one side only, with the rows of its variables there.  ``severity`` is a rule's, or None."""

    mates: LineMates
    rows: tuple[int, int]
    severity: Severity | None
    matched: bool  # both variables are in both builds
    together: bool  # the same functions use both, so that a common line saves them one
    users: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())  # all functions that touch each
    relaid: tuple[Relaid, ...] = ()
    seen: SampledSharing | None = None
    idle: str = ""  # why the load of a profile excludes it, in words
    threads: tuple[str, ...] = ()  # where the threads begin that touch it
    alone: tuple[int, ...] = ()  # which of the two, by their place, are members that the other build's variable has not
    added: tuple[str, ...] = ()  # those of the two that the other build has not
    busy_users: tuple[tuple[str, ...], ...] = ((), ())  # functions that touch each while threads run, the busiest first
    used: bool = False  # on one line in both builds, and reported in this one alone
    begun: tuple[Begun, ...] = ()  # then, what this build alone does with them
    counted: bool = False  # threads count in the one and use the other, both often by an estimate


@dataclass(frozen=True, slots=True)
class LinePairs:
    """All that meets on one side and not on the other.  ``total`` counts pairs of variables, examined or not."""

    pairs: tuple[LinePair, ...]
    straddles: tuple[Straddle, ...]
    total: int


@dataclass(frozen=True, slots=True)
class BuildView:
    """The build that is looked at, and of each of its rows the row of the other side (``partner``, -1 none)."""

    activity: Activity
    here: Objects
    there: Objects
    partner: npt.NDArray[np.int64]
    line_size: int
    members: Members
    told: npt.NDArray[np.bool_]  # rows whose absence on the other side would show
    new: bool  # the new build is looked at


def view_of(matching: Matching, activity: Activity, line_size: int, *, new_side: bool) -> BuildView:
    """The new build (``new_side``), or the old one, beside the other."""
    here, there = (matching.new, matching.old) if new_side else (matching.old, matching.new)
    told = matching.absence_shows_new if new_side else matching.absence_shows_old
    partner = partners(matching, new_side=new_side)
    return BuildView(activity, here, there, partner, line_size, Members(here.image, there.image), told, new_side)


def line_pairs(view: BuildView) -> LinePairs:
    """What meets in the build that is looked at, and not in the other."""
    activity, here, there, partner, line_size = view.activity, view.here, view.there, view.partner, view.line_size
    if not activity.known:
        return _by_layout(view)
    told = view.told
    # Of an object that the other side may merely not name, nobody can say where it would be.
    known = ((partner >= 0) | told)[activity.slots["row"]]
    slots = activity.slots[known]
    spans = np.zeros(len(slots), mates.SPAN_DTYPE)
    row, within = slots["row"], slots["offset"]
    spans["row"] = row
    spans["here"] = here.address[row].view(np.int64) + within
    other = partner[row]
    offset = view.members.offsets(row, other, within)
    found_there = (other >= 0) & (offset != mates.MISSING)
    spans["there"] = np.where(found_there, _addresses(there.address, other) + offset, mates.MISSING)
    spans["extent"] = slots["extent"]
    found = mates.gained(spans, line_size)
    total = slots["write"] + slots["read"]
    first, second = found.first, found.second
    weight = np.maximum(
        np.minimum(slots["write"][first], total[second]), np.minimum(slots["write"][second], total[first])
    )
    busy = np.flatnonzero(weight >= static_numbers.LINE_WEIGHT)
    busy = busy[np.lexsort((found.line[busy], -weight[busy]))]
    seen: set[tuple[str, str]] = set()
    out: list[LinePair] = []
    pairs = np.unique(np.stack([slots["row"][first], slots["row"][second]]), axis=1).shape[1] if len(first) else 0
    for at in busy[: MAX_EXAMINED * 4].tolist():
        a, b = slots[int(first[at])], slots[int(second[at])]
        one = activity.actor_at(int(a["row"]), int(a["offset"]))
        two = activity.actor_at(int(b["row"]), int(b["offset"]))
        if one is None or two is None or one is two or (one.name, two.name) in seen:
            continue
        seen.add((one.name, two.name))
        rows = (int(a["row"]), int(b["row"]))
        made = meeting(view, rows, (one, two), float(weight[at]))
        if made is not None:
            out.append(made)
        if len(seen) >= MAX_EXAMINED:
            break
    out.sort(key=_rank)
    return LinePairs(tuple(out), _straddles(view, slots, spans), pairs)


def with_more(met: LinePairs, more: Sequence[LinePair]) -> LinePairs:
    """The pairs with these, as of elements of one array, the worst first."""
    if not more:
        return met
    return replace(met, pairs=tuple(sorted((*met.pairs, *more), key=_rank)), total=met.total + len(more))


def _rank(pair: LinePair) -> tuple[int, bool, float, str, str]:
    severity = pair.severity.rank if pair.severity is not None else -1
    mates = pair.mates
    return (-severity, not mates.hot, -mates.weight, mates.first, mates.second)


def partners(matching: Matching, *, new_side: bool) -> npt.NDArray[np.int64]:
    """For each row of a side the row of the other view, -1 none."""
    of, column = (matching.of_new, "old") if new_side else (matching.of_old, "new")
    rows = np.append(matching.pairs[column].astype(np.int64), -1)
    return rows[of]


def _addresses(address: Words, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    padded = np.append(address, np.uint64(0))
    picked: npt.NDArray[np.int64] = padded[rows].view(np.int64)
    return picked


def meeting(
    view: BuildView, rows: tuple[int, int], actors: tuple[Actor, Actor], weight: float, *, used: bool = False
) -> LinePair | None:
    """The pair, where the bytes in use of its actors share a line here and not there, or there as well (``used``)."""
    activity, here, line_size = view.activity, view.here, view.line_size
    delta = [_delta(here, row) for row in rows]
    touched = [
        tuple((start - shift, end - shift) for start, end in sorted((*actor.hot, *actor.read_hot)))
        for actor, shift in zip(actors, delta, strict=True)
    ]
    place = _common(touched[0], touched[1], line_size)
    if place is None:
        return None
    places = [offset_there(view, row, actor) for row, actor in zip(rows, actors, strict=True)]
    stayed = _share_there(view, rows, actors, places, touched)
    if stayed and not used:
        return None
    missing = [at for at, there in enumerate(places) if there == mates.MISSING]
    line, first, second = place
    draft = _draft_of(activity, line, line_size, actors)
    by_threads = _by_threads(actors, activity.context.thread_mask if activity.context is not None else 0)
    shared = sorted({a.function for a in by_threads[0]} & {a.function for a in by_threads[1]})
    pair = LineMates(
        first=actors[0].name,
        second=actors[1].name,
        line=f"{line & MASK:#x}",
        line_size=line_size,
        first_bytes=first,
        second_bytes=second,
        weight=round(weight, 3),
        hot=all(a.heat is Heat.HOT for a in actors),
        certain=True,
        first_role=actors[0].kind or actors[0].role.value,
        second_role=actors[1].kind or actors[1].role.value,
        functions=tuple(_accessors(by_threads, shared)),
        finding=draft.rule if draft is not None else "",
        severity=draft.severity.value if draft is not None else "",
        users=len({access.function for some in by_threads for access in some}),
        stayed=stayed,
    )
    relaid = tuple(
        Relaid(actor.name, here.label(row), offset, place)
        for actor, row, place in zip(actors, rows, places, strict=True)
        if place not in (offset := _offset_of(view, row, actor), mates.MISSING)
    )
    users = (actors[0].functions, actors[1].functions)
    severity = draft.severity if draft is not None else None
    return LinePair(
        pair,
        rows,
        severity,
        not missing,
        bool(shared),
        users,
        relaid,
        threads=thread_names(activity, (a for some in by_threads for a in some)),
        alone=tuple(at for at in missing if int(view.partner[rows[at]]) >= 0),
        added=tuple(actors[at].name for at in missing if view.told[rows[at]]),
        busy_users=tuple(busiest(some) for some in by_threads),
        used=stayed,
        begun=tuple(one for at in (0, 1) for one in _begun(view, rows[at], actors[at], places[at])) if stayed else (),
        counted=_may_be_counted(activity, line, line_size, actors),
    )


def _may_be_counted(activity: Activity, line: int, line_size: int, actors: tuple[Actor, Actor]) -> bool:
    """Do threads count in one of these and others use its neighbour, both often, though an estimate alone says so?

    An audit says no more than a note of such a pair, which a rule would object to: that does not exclude it.
    """
    context = activity.context
    if context is None or actors[0].guards & actors[1].guards:
        return False
    threads = context.thread_mask
    for counter, other in (actors, actors[::-1]):
        counts = counter.often.writes & threads if counter.often is not None else 0
        uses = other.often.uses & threads if other.often is not None else 0
        if counter.role in (Role.COUNTER, Role.ATOMIC) and context.concurrent(counts, uses):
            draft = _draft_of(activity, line, line_size, actors, bounded=False)
            return draft is not None and draft.severity.rank >= Severity.MEDIUM.rank
    return False


def _begun(view: BuildView, row: int, actor: Actor, place: int) -> Iterator[Begun]:
    """What functions do with it that do not, or do nothing, with it in the other build, where it is at ``place``."""
    size, offset = actor.span[1] - actor.span[0], _offset_of(view, row, actor)
    users, others = view.members.users
    before = others.at(int(view.partner[row]), place, place + size)
    for name, writes in users.at(row, offset, offset + size).items():
        if name not in before or (writes and not before[name]):
            yield Begun(name, actor.name, writes)


def _draft_of(
    activity: Activity, line: int, line_size: int, actors: tuple[Actor, Actor], *, bounded: bool = True
) -> Draft | None:
    """What the rules say of both; those of single lines have nothing to say of a wider view."""
    names = {a.name for a in actors}
    drafts = activity.drafts(line, bounded=bounded) if line_size == activity.line_size else []
    return next((d for d in drafts if names <= {x.name for x in d.actors}), None)


def _offset_of(view: BuildView, row: int, actor: Actor) -> int:
    """Where an actor is in its variable."""
    return actor.span[0] - int(view.here.image.variables["address"][row])


def offset_there(view: BuildView, row: int, actor: Actor) -> int:
    """Where an actor is in its variable in the other build, MISSING where that is not or has no such member."""
    other = int(view.partner[row])
    return view.members.offset(row, other, _offset_of(view, row, actor)) if other >= 0 else mates.MISSING


def _share_there(
    view: BuildView, rows: tuple[int, int], actors: tuple[Actor, Actor], places: list[int], touched: list[Ranges]
) -> bool:
    """Whether the bytes that are ``touched`` here share a line there as well."""
    if min(places) == mates.MISSING:
        return False
    before = []
    for row, actor, place, ranges in zip(rows, actors, places, touched, strict=True):
        address = int(view.here.address[row])
        moved = int(view.there.address[int(view.partner[row])]) + place - address - _offset_of(view, row, actor)
        before.append(tuple((start + moved, end + moved) for start, end in ranges))
    return _common(before[0], before[1], view.line_size) is not None


def _delta(objects: Objects, row: int) -> int:
    """Address in the image less the address used for comparing (relative to the section, in relocatable files)."""
    return int(objects.image.variables["address"][row]) - int(objects.address[row])


def _by_threads(actors: tuple[Actor, Actor], threads: int) -> tuple[tuple[Access, ...], ...]:
    """Who touches each while threads run: what only ``main`` comes to, to set up and sum up, takes no line from them.

    Of what no thread touches, all count.
    """
    out = []
    for actor in actors:
        all_ = tuple(a for a in actor.accesses if a.weight > 0)
        out.append(tuple(a for a in all_ if a.mask & threads and not a.cold) or all_)
    return tuple(out)


def busiest(accesses: Iterable[Access]) -> tuple[str, ...]:
    """The functions that make these accesses, the most frequent first."""
    ordered = sorted(accesses, key=lambda access: (-access.weight, access.function))
    return tuple(dict.fromkeys(access.function for access in ordered))


def thread_names(activity: Activity, accesses: Iterable[Access]) -> tuple[str, ...]:
    """Where the threads begin that make these accesses; of what only others come to, where these begin."""
    if activity.context is None:
        return ()
    mask = functools.reduce(operator.or_, (a.mask for a in accesses if a.weight > 0 and not a.cold), 0)
    return activity.context.root_names(mask & activity.context.thread_mask or mask)


def _accessors(accesses: tuple[tuple[Access, ...], ...], shared: list[str]) -> list[str]:
    """Functions that touch both first, then the busiest of each."""
    each = [access.function for some in accesses for access in some[:2]]
    return list(dict.fromkeys([*shared[:4], *each]))[:6]


def _common(one: Ranges, two: Ranges, line_size: int) -> tuple[int, tuple[int, int], tuple[int, int]] | None:
    """(line, bytes of the first, bytes of the second on it) of the first line with bytes of both."""
    lines = sorted(_lines(one, line_size) & _lines(two, line_size))
    if not lines:
        return None
    line = lines[0]
    return line, _on(one, line, line_size), _on(two, line, line_size)


def _lines(ranges: Ranges, line_size: int) -> set[int]:
    """First and last line of each range: two ranges that meet do so at an end of one of them."""
    return {at - at % line_size for start, end in ranges for at in (start, end - 1)}


def _on(ranges: Ranges, line: int, line_size: int) -> tuple[int, int]:
    here = [
        (max(s, line) - line, min(e, line + line_size) - line) for s, e in ranges if s < line + line_size and e > line
    ]
    return (min(s for s, _ in here), max(e for _, e in here))


def _straddles(view: BuildView, slots: npt.NDArray[Any], spans: npt.NDArray[Any]) -> tuple[Straddle, ...]:
    activity, line_size = view.activity, view.line_size
    rows = mates.gained_straddles(spans, line_size)
    write, read, here = slots["write"], slots["read"], spans["here"]
    weight = write + read
    rows = rows[weight[rows] >= static_numbers.LINE_WEIGHT]
    atomic = slots["atomic"][rows]
    rows = rows[np.lexsort((here[rows], -weight[rows], ~atomic))]
    addresses = activity.image.variables["address"]
    out = []
    for at in rows[:MAX_SHOWN].tolist():
        row, offset, start = int(slots["row"][at]), int(slots["offset"][at]), int(here[at])
        actor = activity.actor_at(row, offset)
        if actor is None:
            continue
        moved = int(spans["there"][at]) - start
        delta = int(addresses[row]) + offset
        severity = _split(activity, actor, moved, delta - start, line_size)
        out.append(
            Straddle(
                name=actor.name,
                address=f"{int(spans['here'][at]) & MASK:#x}",
                size=int(spans["extent"][at]),
                gained=view.new,
                weight=round(float(slots["write"][at] + slots["read"][at]), 3),
                atomic=bool(slots["atomic"][at]),
                severity=severity.value if severity is not None else "",
            )
        )
    return tuple(out)


def _split(activity: Activity, actor: Actor, moved: int, delta: int, line_size: int) -> Severity | None:
    """What the rules say of an actor whose bytes in use cross the end of a line here and not there, None nothing.

    ``moved`` is how far it is there from here; ``delta`` the address in the image less that used for comparing.
    """

    def crosses(start: int, end: int) -> bool:
        return start // line_size != (end - 1) // line_size

    compared = [(start - delta, end - delta) for start, end in actor.hot]
    if any(crosses(start + moved, end + moved) for start, end in compared):
        return None
    begins = [start - start % line_size for start, end in compared if crosses(start, end)]
    if not begins or line_size != activity.line_size:
        return None
    told = (d for d in activity.drafts(begins[0]) if d.verdict is Verdict.SPLIT_ACCESS and actor.name in _named(d))
    return next((draft.severity for draft in told), None)


def _named(draft: Draft) -> set[str]:
    return {actor.name for actor in draft.actors}


def _by_layout(view: BuildView) -> LinePairs:
    """Without accesses: pairs of whole variables of which more bytes share a line here than there."""
    here, there, partner, line_size = view.here, view.there, view.partner, view.line_size
    kinds = {s.index: s.kind for s in here.image.sections}
    sections = here.image.variables["section"]
    writable = np.isin(sections, [i for i, kind in kinds.items() if kind is SectionKind.WRITABLE])
    # Of what has no name, nothing says which part is a variable.
    rows = np.flatnonzero(writable & (here.size > 0) & here.named)
    spans = np.zeros(len(rows), mates.SPAN_DTYPE)
    spans["row"] = rows
    spans["here"] = here.address[rows].view(np.int64)
    other = partner[rows]
    spans["there"] = np.where(other >= 0, _addresses(there.address, other), mates.MISSING)
    # By first bytes: of large objects nothing says which part is in use, and what begins an object mostly is.
    size = here.size[rows].view(np.int64)
    spans["extent"] = np.minimum(size, HEAD_BYTES)
    found = mates.gained(spans, line_size)
    a, b = spans[found.first], spans[found.second]
    likely = _lock_like(here, a["row"]) | _lock_like(here, b["row"])
    order = np.lexsort((found.line, ~likely))
    out = []
    for at in order[:MAX_SHOWN].tolist():
        pair = (int(a["row"][at]), int(b["row"][at]))
        line = int(found.line[at])
        ends = [
            (max(int(s["here"]) - line, 0), min(int(s["here"]) + int(s["extent"]) - line, line_size))
            for s in (a[at], b[at])
        ]
        shown = LineMates(
            here.label(pair[0]), here.label(pair[1]), f"{line & MASK:#x}", line_size, ends[0], ends[1], certain=False
        )
        out.append(LinePair(shown, pair, None, bool(partner[pair[0]] >= 0 and partner[pair[1]] >= 0), False))
    return LinePairs(tuple(out), (), len(found.first))


HEAD_BYTES = 20  # what glibc's mutex has in use; see knowledge/locks.json


def _lock_like(objects: Objects, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """By name alone, for ranking only."""
    words = ("lock", "mutex", "spin", "latch", "sem")
    return np.array([any(w in objects.label(row).lower() for w in words) for row in rows.tolist()], bool)
