"""Records behind pointers, as on the heap, that were laid out anew: members and elements of them that meet on a line.

Owns the comparison of what threads' code reaches through pointers in two builds, and the cause that is made of it.
Such memory has no address in a file: two members meet at some of the places where an object may begin, and what no
debug information says of a record is not shown, never excluded.  Reading accesses is the reader's; what profiles see of
such memory is ``seenmemory``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from sharing.basics.naming import without_internals
from sharing.explain import numbers
from sharing.explain.causes.base import Builds, Verdicts, first_of, quoted
from sharing.explain.records import Record, laid_out_anew
from sharing.model.comparison import Cause, CauseKind, RuledOut
from sharing.model.finding import Confidence

MAX_CAUSES = 3
MAX_PATHS = 64  # members of one record that are paired


@dataclass(frozen=True, slots=True)
class Touch:
    """What one function does to the bytes [offset, offset + extent) of what a pointer leads to.

    ``row`` is the function's, ``mask`` are the threads that run it; ``record`` and ``path`` are "" where no debug
    information says what is there.
    """

    row: int
    function: str
    mask: int
    record: str
    path: str
    offset: int
    extent: int
    writes: bool
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """All of one build, as far as code that threads run often does it, and the records that it reaches, by name."""

    touches: tuple[Touch, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behind:
    """The causes, and why the layout of such memory is not excluded, "" where nothing says that it changed."""

    causes: tuple[Cause, ...] = ()
    unshown: str = ""


@dataclass(frozen=True, slots=True)
class _Met:
    names: tuple[str, str]
    record: str
    functions: tuple[str, ...]
    now: float  # share of the places where an object may begin
    before: float


def nothing_behind(builds: Builds) -> Behind:
    """Where nobody reads what is behind pointers."""
    return Behind()


def with_behind(verdicts: Sequence[Verdicts], found: Behind) -> list[Verdicts]:
    """What the suspects say, with these causes; the layout is not ruled out where that of such memory is not shown."""
    worse = any(not cause.improves for cause in found.causes)
    out = [Verdicts(found.causes)] if found.causes else []
    for one in verdicts:
        layout = [r for r in one.ruled_out if r.kind is CauseKind.LAYOUT]
        if not layout or not (worse or found.unshown):
            out.append(one)
            continue
        rest = tuple(r for r in one.ruled_out if r.kind is not CauseKind.LAYOUT)
        open_ = () if worse else (RuledOut(CauseKind.LAYOUT, f"{found.unshown}; else {layout[0].why}"),)
        out.append(replace(one, ruled_out=rest, not_ruled_out=(*one.not_ruled_out, *open_)))
    return out


Bytes = tuple[int, int]
Sides = tuple[Record, Record]  # a record here and there
Used = tuple[str, list[Touch]]  # the path of a member, and what is done to it
Concurrent = Callable[[int, int], bool]


def behind(builds: Builds, old: Reach, new: Reach) -> Behind:
    """What of the records that both builds reach became worse, and what better."""
    causes = []
    for here, there, improves in ((new, old, False), (old, new, True)):
        activity = builds.old if improves else builds.new
        if activity.context is None:
            continue
        found = _met(here, there, activity.context.concurrent, builds.line_size)
        causes += [_cause(one, old, new, builds, improves=improves) for one in found[:MAX_CAUSES]]
    return Behind(tuple(causes), "" if any(not c.improves for c in causes) else _unshown(builds, old, new))


def _met(here: Reach, there: Reach, concurrent: Concurrent, line_size: int) -> list[_Met]:
    """Members, and neighbouring records, that share a line at more places here than there; the most certain first."""
    out = []
    for name in here.records.keys() & there.records.keys():
        used = _by_path(here, name)
        records = here.records[name], there.records[name]
        pairs = [_pair(records, *two, concurrent, line_size) for two in combinations(used.items(), 2)]
        found = [pair for pair in pairs if pair is not None]
        if not found and (neighbours := _neighbours(records, used, concurrent, line_size)) is not None:
            found = [neighbours]
        out += sorted(found, key=_certainty)[:1]
    return sorted(out, key=_certainty)


def _certainty(met: _Met) -> tuple[float, str, tuple[str, str]]:
    return met.before - met.now, met.record, met.names


def _by_path(reach: Reach, record: str) -> dict[str, list[Touch]]:
    out: dict[str, list[Touch]] = {}
    for touch in reach.touches:
        if touch.record == record and touch.path and (touch.path in out or len(out) < MAX_PATHS):
            out.setdefault(touch.path, []).append(touch)
    return out


def _pair(records: Sides, one: Used, other: Used, concurrent: Concurrent, line_size: int) -> _Met | None:
    """Two members that threads use apart from each other, one of them to write it."""
    (path, a), (path_other, b) = one, other
    functions = {t.function for t in a}, {t.function for t in b}
    if functions[0] == functions[1]:
        return None  # what is used together is fetched together, and is as likely each thread's own
    if not (_disturbs(a, b, concurrent) or _disturbs(b, a, concurrent)):
        return None
    if not all(path in side.members and path_other in side.members for side in records):
        return None
    now, before = (_share(_stretch(side, path, a), _stretch(side, path_other, b), line_size) for side in records)
    if now <= before:
        return None
    name = records[0].name
    names = f"{name}.{path}", f"{name}.{path_other}"
    return _Met(names, name, tuple(sorted(functions[0] | functions[1])), now, before)


def _stretch(record: Record, path: str, touches: Iterable[Touch]) -> Bytes:
    """The bytes of a member that these touch at most."""
    at = record.members[path]
    return at, at + max(touch.extent for touch in touches)


def _disturbs(writers: Iterable[Touch], users: Iterable[Touch], concurrent: Concurrent) -> bool:
    """Whether one thread writes where another function of another thread comes."""
    return any(w.writes and w.function != u.function and concurrent(w.mask, u.mask) for w in writers for u in users)


def _neighbours(records: Sides, used: Mapping[str, list[Touch]], concurrent: Concurrent, line_size: int) -> _Met | None:
    """Two records one behind the other, which several threads write."""
    touches = [t for some in used.values() for t in some]
    writers = sorted({t.function for t in touches if t.writes and concurrent(t.mask, t.mask)})
    name, sizes = records[0].name, [record.size for record in records]
    if not writers or sizes[0] == sizes[1] or min(sizes) <= 0:
        return None
    places = []
    for side, size in zip(records, sizes, strict=True):
        spans = [(side.members[t.path], side.members[t.path] + t.extent) for t in touches if t.path in side.members]
        if not spans:
            return None
        low, high = min(s for s, _ in spans), max(e for _, e in spans)
        places.append(_share((low, high), (low + size, high + size), line_size))
    if places[0] - places[1] < numbers.HEAP_LIKELY:
        return None
    return _Met((name, name), name, tuple(writers), places[0], places[1])


def _share(one: Bytes, other: Bytes, line_size: int) -> float:
    """At how many of the places where an allocator may begin an object two stretches of it have a line in common."""
    starts = range(0, line_size, numbers.HEAP_STEP)
    met = sum(bool(_lines(one, start, line_size) & _lines(other, start, line_size)) for start in starts)
    return met / len(starts)


def _lines(stretch: Bytes, start: int, line_size: int) -> set[int]:
    return set(range((start + stretch[0]) // line_size, (start + stretch[1] - 1) // line_size + 1))


def _cause(met: _Met, old: Reach, new: Reach, builds: Builds, *, improves: bool) -> Cause:
    first, second = (quoted(without_internals(name)) for name in met.names)
    elements = first == second
    whom = f"two {first} one behind the other" if elements else f"{first} and {second}"
    paths = [name.removeprefix(f"{met.record}.") for name in met.names] if not elements else []
    relaid = laid_out_anew(old.records[met.record], new.records[met.record], paths)
    now, before = (f"{100 * share:.0f} %" for share in (met.now, met.before))
    share = f"{now} of the places where one may begin, {'now' if improves else 'before'} at {before}"
    verb = "shared" if improves else "may now share"
    strength = numbers.MET_LOW
    if not elements and met.now - met.before >= numbers.HEAP_LIKELY:
        strength = numbers.MET_MEDIUM
    slower = builds.runs[0] if improves else builds.runs[1]
    return Cause(
        kind=CauseKind.LAYOUT,
        confidence=Confidence.STATIC,
        strength=strength,
        summary=f"{relaid}; {whom} {verb} a line at {share}; used by {first_of(met.functions)}",
        symbols=tuple(dict.fromkeys(met.names)),
        evidence=(
            f"used by the functions {', '.join(met.functions)}",
            "which objects threads share is not known of the heap",
        ),
        improves=improves,
        confirm=(*slower.shared_lines(f"HITM in {met.functions[0]}"), slower.without_memory_events),
        refute=(f"rebuild with {met.names[0]} alone on its line", f"{slower.timed}: still slow"),
    )


def _unshown(builds: Builds, old: Reach, new: Reach) -> str:
    """Records in use whose members moved, or functions that reach through pointers to other offsets."""
    moved = []
    for name in sorted(old.records.keys() & new.records.keys()):
        used = {t.path for t in new.touches if t.record == name and t.path}
        one, other = old.records[name].members, new.records[name].members
        if any(path in one and path in other and one[path] != other[path] for path in used):
            moved.append(name)
    if moved:
        return f"{first_of(moved)}, which threads use behind pointers, {_was(moved)} laid out anew"
    functions = _elsewhere(builds, old, new)
    if added := _added(old, new, functions):
        whose, which, users = added
        return (
            f"{first_of(which)} of {quoted(whose)}, which {first_of(users)} {'uses' if len(users) == 1 else 'use'} "
            f"behind pointers, {_was(which)} added where nothing else moved"
        )
    if not functions:
        return ""
    return (
        f"{first_of(functions)}, which threads run, {'uses' if len(functions) == 1 else 'use'} memory behind pointers "
        "at other offsets than before: how records there are laid out takes debug information to tell"
    )


def _added(old: Reach, new: Reach, elsewhere: Sequence[str]) -> tuple[str, list[str], list[str]] | None:
    """A record with members that the old build's had no bytes for, these, and the functions that use them.

    An instruction of which no record is known counts where its function uses other offsets than before, and no member
    of the old record begins at this one.
    """
    for name in sorted(old.records.keys() & new.records.keys()):
        one, other = old.records[name].members, new.records[name].members
        fresh = {path: at for path, at in other.items() if path not in one and at not in one.values()}
        users: dict[str, None] = {}
        used: dict[str, None] = {}
        for touch in new.touches:
            for path, at in fresh.items():
                direct = touch.record == name and touch.path == path
                if direct or (not touch.record and touch.offset == at and touch.function in elsewhere):
                    used[path] = users[touch.function] = None
        if used:
            return name, [without_internals(path) for path in used], list(users)
    return None


def _was(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _elsewhere(builds: Builds, old: Reach, new: Reach) -> list[str]:
    """Functions of both builds that use other offsets of what no debug information describes."""
    sides: list[dict[int, set[int]]] = []
    names: dict[int, str] = {}
    for reach, of in ((old, builds.functions.of_old), (new, builds.functions.of_new)):
        offsets: dict[int, set[int]] = {}
        for touch in reach.touches:
            if not touch.record:
                pair = int(of[touch.row])  # all that have no partner are compared together
                offsets.setdefault(pair, set()).add(touch.offset)
                names[pair] = touch.function
        sides.append(offsets)
    return [names[pair] for pair in sides[1] if pair in sides[0] and sides[0][pair] != sides[1][pair]]
